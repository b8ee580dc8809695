"""What a user can put right."""

from __future__ import annotations

__all__ = ["UserError"]


class UserError(Exception):
    """Something that the user caused and can change; the message is one line: what, where, and what to do."""
