"""Writing what a command was asked to write."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import click

__all__ = ["write_atomically"]

_SHOWN = 40  # characters of a name in that of the file written beside it: some are as long as names may be


def write_atomically(path: Path, text: str) -> None:
    """Replace the file `path` by `text` at once: at every moment it is whole, the old one or the new one.

    Raises ClickException, in one line, where it cannot be written.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays one
    try:
        if os.path.exists(target) and not os.path.isfile(target):  # a pipe, or a device such as /dev/stdout
            target.write_text(text, encoding="utf-8", errors="backslashreplace")
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:_SHOWN]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror or error}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
