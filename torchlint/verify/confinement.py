"""What the process of an experiment gives up for good, where the kernel has Landlock.

The standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

# Landlock's system calls, the same on all machines, and its rights by the version of the interface that brought them.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE, TRUNCATE = 1 << 0, 1 << 1, 1 << 14
CHANGES = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))  # write, remove, make: of version 1
REFER = 1 << 13  # version 2
CONNECT_TCP = 0b11  # bind and connect; version 4
SIGNALS, ABSTRACT_SOCKETS = 1 << 1, 1 << 0  # version 6
NO_NEW_PRIVILEGES = 38  # of prctl


def confine(folder: str, programs: bool) -> bool:
    """Give up, for this process and those it starts: writing outside the folder, TCP, signals to others, programs.

    Devices and shared memory stay writable. Threads that run already keep their rights.

    Args:
        programs: whether the compiler's programs may be started.

    Returns:
        Whether the kernel offers it.
    """
    system = ctypes.CDLL(None, use_errno=True)
    version = system.syscall(CREATE_RULESET, None, 0, 1) if sys.platform == "linux" else -1
    if version < 1:
        return False
    written = CHANGES | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    handled = [
        written | (0 if programs else EXECUTE),
        CONNECT_TCP if version >= 4 else 0,
        SIGNALS | ABSTRACT_SOCKETS if version >= 6 else 0,
    ]
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = system.syscall(CREATE_RULESET, struct.pack("QQQ", *handled), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    try:
        for path, rights in ((folder, written), ("/dev", written)):
            parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                system.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, parent), 0)
            finally:
                os.close(parent)
        system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return bool(system.syscall(RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)
