"""Reading files whose names come from elsewhere."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from torchlint.source.text import UnreadableError

__all__ = ["read_regular", "read_source"]

# Bytes of a file, and of a notebook with its outputs: not all that has a size fits in memory. Of what does, the limits
# of `torchlint.source.shape` decide.
_MOST = 100_000_000
_MOST_OF_NOTEBOOK = 1_000_000_000


def read_source(path: Path) -> bytes:
    """The bytes of a file that is to be linted.

    Raises OSError for what cannot be read, and UnreadableError for what is larger than any such file may be.
    """
    most = _MOST_OF_NOTEBOOK if path.suffix == ".ipynb" else _MOST
    if (size := path.stat().st_size) > most:
        raise UnreadableError(f"too large: {size:,} bytes, the limit is {most:,}")
    return read_regular(path)


def read_regular(path: Path) -> bytes:
    """The bytes of a regular file. Raises OSError for what is none: a pipe or a device may have no end."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    with os.fdopen(handle, "rb") as file:
        return file.read()
