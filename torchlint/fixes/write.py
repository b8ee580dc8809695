"""Writing a file back: as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from torchlint.engine.errors import UserError
from torchlint.source.files import read_regular

__all__ = ["WriteError", "write"]


_SHOWN = 40  # characters of a name in that of the file written beside it: some are as long as names may be


class WriteError(UserError):
    """A file that was left as it is; the message says why, in one line."""


def write(path: Path, data: bytes, *, expected: bytes) -> None:
    """Replace the content of the file `path`, which must still be `expected`, by `data`.

    At every moment the file is whole, the old one or the new one, even when the machine stops. Its mode is kept, and a
    symbolic link stays one. Raises WriteError, with nothing changed, for what is not a regular file, is read-only, is
    gone, was changed meanwhile, or cannot be written.
    """
    target = os.path.realpath(path)
    temporary = None
    try:
        status = os.stat(target)
        if not stat.S_ISREG(status.st_mode):
            raise WriteError(f"{path}: is not a regular file; left as it is")
        if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
            raise WriteError(f"{path}: is read-only; left as it is")
        handle, temporary = tempfile.mkstemp(
            prefix=f".{os.path.basename(target)[:_SHOWN]}.", dir=os.path.dirname(target)
        )
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
        if read_regular(Path(target)) != expected:
            raise WriteError(f"{path}: was changed while it was being fixed; left as it is")
        os.replace(temporary, target)
        temporary = None
        _sync_folder(os.path.dirname(target))
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _sync_folder(folder: str) -> None:
    """Make a rename last; not every system lets a folder be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
