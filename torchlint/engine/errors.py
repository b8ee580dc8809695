"""What a user can put right."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["UserError", "short"]


class UserError(Exception):
    """Something that the user caused and can change; the message is one line: what, where, and what to do."""


def short(path: Path) -> str:
    """The name of a file as a user would write it: relative where it lies below the working folder."""
    absolute, here = os.path.abspath(path), os.getcwd()
    return os.path.relpath(absolute) if absolute.startswith(os.path.join(here, "")) else absolute
