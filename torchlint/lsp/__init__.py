"""The language server: findings, repairs and explanations in editors."""

from __future__ import annotations

from torchlint.lsp.command import server

__all__ = ["server"]
