"""Reading files whose names come from elsewhere."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

__all__ = ["read_regular"]


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
