"""Exit statuses."""

from __future__ import annotations

__all__ = ["EXIT_ERROR", "EXIT_FINDINGS", "EXIT_INTERRUPTED", "EXIT_OK"]

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_ERROR = 2  # misuse, an unreadable configuration, an internal error
EXIT_INTERRUPTED = 130  # Ctrl-C, with what was found until then
