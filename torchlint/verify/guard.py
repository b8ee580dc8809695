"""What holds measured code inside the worker, should the policy have let it through.

Here is the audit hook, which stops what reaches out of the process. Beside it, measured code finds of Python's names
only those that the policy knows (`namespace.py`); functions of torch and NumPy by which objects could be made out of
addresses take harmless arguments alone (`taming.py`); where the kernel offers it the process gives up for good what an
experiment has no use for (`confinement.py`); and what code changed of things that all share is seen (`landmarks.py`).
Standard library and torch alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import contextlib
import multiprocessing.context
import multiprocessing.process
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from torchlint.verify.standins import printable

MEASURED = frozenset(("<before>", "<after>", "<inputs>"))  # as the files of measured code are called
AF_UNIX = 1
MOST_CHILDREN = 128  # workers of loaders at a time, which cannot have workers themselves
MOST_THREADS = 1024
HERE = os.path.dirname((lambda: None).__code__.co_filename)  # how the folder of the worker's own files is called


class Guard:
    """An audit hook that stops what measured code must not do.

    Python offers no way to remove it. It is armed once the libraries are loaded; `open` for reading stays possible
    below the interpreter's own folders, since libraries load parts of themselves late.

    Who asks is told by the stack. What looks into frames, code and all objects, or makes code of text, is for libraries
    alone, by the innermost frame. Where torch.compile was granted, torch's compiler keeps files and starts programs
    while measured code waits for it: the compiler is at work where a frame of it stands between the event and the
    innermost frame of the measured code. Even then it writes inside the working folder alone, and starts the listed
    programs alone.
    """

    STOPPED = tuple(
        f"{module}."
        for module in "os subprocess pty socket shutil ctypes urllib ftplib smtplib webbrowser winreg fcntl glob "
        "tempfile sqlite3 code resource signal syslog mmap".split()
    )
    HARMLESS = frozenset(
        "os.putenv os.unsetenv os.listdir os.scandir os.walk os.fwalk os.getxattr ctypes.dlsym ctypes.seh_exception "
        "ctypes.cdata ctypes.addressof ctypes.call_function fcntl.fcntl glob.glob glob.glob/2".split()
    )
    # What libraries do for their own purposes, and nothing else has a use for.
    LIBRARIES = frozenset(
        "open import compile exec marshal.loads pickle.find_class gc.get_objects gc.get_referrers gc.get_referents "
        "sys._getframe sys._current_frames sys._current_exceptions sys.settrace sys.setprofile sys.addaudithook "
        "sys.unraisablehook object.__getattr__ object.__setattr__ object.__delattr__ mmap.__new__ ctypes.dlopen "
        "ctypes.dlsym ctypes.cdata ctypes.addressof ctypes.call_function".split()
    )
    SYSTEM = ("/usr/", "/lib/", "/lib64/", "/opt/")  # where the libraries lie that torch loads late
    TOOLS = re.compile(
        r"([\w]+-linux-gnu-)?(gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(-\d+)?|ptxas(-blackwell)?|nvcc|ld|ldconfig|uname|lscpu|"
        r"nvdisasm|cuobjdump|openssl"
    )
    # What torch's compiler and its loaders do with files, each inside its own folder.
    FILES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.chmod", "os.link", "os.symlink", "os.utime",
             "os.truncate", "shutil.", "tempfile.", "fcntl.")  # fmt: skip

    def __init__(self, granted: frozenset[str], folder: str) -> None:
        self.granted = granted
        self.folder = os.path.realpath(folder)
        own = {sys.prefix, sys.base_prefix, sys.exec_prefix, *_library_folders()}
        self.libraries = tuple(os.path.realpath(path) + os.sep for path in own)
        self.readable = (*self.libraries, "/proc/", "/sys/", "/dev/")
        self.compiler = tuple(_compiler_folders())
        self.armed = False
        self.blocked: list[str] = []
        self._looking = False  # at the stack, which is an event as well
        self._known: dict[str, bool] = {}

    def install(self) -> None:
        """Arm it. Events that nobody is stopped for, each `id()` is one, must cost the measured code little."""
        stopped = _Stopped()

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if stopped[event]:
                self._hook(event, arguments)

        self.armed = True
        sys.addaudithook(hook)

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Disarm it for work of the harness itself."""
        before, self.armed = self.armed, False
        try:
            yield
        finally:
            self.armed = before

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed or self._looking:
            return
        watched = event in self.LIBRARIES
        self._looking = True
        try:
            trusted = not watched or self._library_asks() or self._compiler_asks()
            if trusted and self._allowed(event, arguments):
                return
            if event == "open":
                event = f"open {printable(str(arguments[0]), 80)}" if type(arguments[0]) in (str, int) else "open"
            elif event in ("subprocess.Popen", "os.posix_spawn") and type(arguments[0]) is str:
                event = f"{event} {printable(os.path.basename(arguments[0]), 40)}"
            # What the compiler is refused it does without; measured code that asks has shown what it is.
            if len(self.blocked) < 10 and not (trusted and self._compiler_asks()):
                self.blocked.append(f"{event} by {asker()}")
        finally:
            self._looking = False
        raise PermissionError(f"{event} is not allowed in an experiment")

    def _allowed(self, event: str, arguments: tuple[Any, ...]) -> bool:
        """Whether a library may do that."""
        if event == "open":
            return self._may_open(*arguments)
        return not event.startswith(self.STOPPED) or event in self.HARMLESS or self._granted(event, arguments)

    def _may_open(self, path: Any, mode: Any, flags: Any) -> bool:
        if type(path) is int:
            return True  # a descriptor that is open already
        if type(path) is bytes:
            path = path.decode(errors="replace")
        if type(path) is not str:
            return False
        path = os.path.realpath(path)
        writes = type(flags) is int and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        if path == os.devnull:
            return True
        if "processes" in self.granted and (path + os.sep).startswith((self.folder + os.sep, "/dev/shm/")):
            return True
        if not writes and path.startswith(self.readable):
            return True
        return self._compiler_asks() and (not writes or self._inside(path))

    def _inside(self, path: Any) -> bool:
        """Whether a path lies in the working folder."""
        if type(path) is bytes:
            path = path.decode(errors="replace")
        return type(path) is str and (os.path.realpath(path) + os.sep).startswith(self.folder + os.sep)

    def _all_inside(self, arguments: tuple[Any, ...]) -> bool:
        return all(self._inside(one) for one in arguments if type(one) in (str, bytes) and os.sep in str(one))

    def _library_asks(self) -> bool:
        """Whether the innermost frame is that of a library, or of the worker itself."""
        frame: Any = sys._getframe(3)
        while frame is not None and frame.f_code.co_filename.startswith("<frozen "):
            frame = frame.f_back
        if frame is None:
            return True
        name = frame.f_code.co_filename
        if name not in self._known:
            inside = not name.startswith("<") and os.path.realpath(name).startswith(self.libraries)
            self._known[name] = inside or os.path.dirname(name) == HERE
        return self._known[name]

    def _compiler_asks(self) -> bool:
        """Whether torch's compiler stands nearer to the event than any measured code."""
        if "compile" not in self.granted:
            return False
        frame: Any = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if name in MEASURED:
                return False
            if name.startswith(self.compiler):
                return True
            frame = frame.f_back
        return False

    def _granted(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "ctypes.dlopen":
            name = arguments[0] if arguments else None
            bare = name is None or (type(name) is str and os.sep not in name)
            known = type(name) is str and os.path.realpath(name).startswith((*self.readable, *self.SYSTEM))
            return bare or known or (self._compiler_asks() and self._inside(name))
        if "compile" in self.granted and self._compiler_asks():
            if event in ("code.__new__", "mmap.__new__"):
                return True  # it writes bytecode
            if event in ("subprocess.Popen", "os.posix_spawn"):
                return type(arguments[0]) is str and bool(self.TOOLS.fullmatch(os.path.basename(arguments[0])))
            if event.startswith(self.FILES):
                return self._all_inside(arguments)
        if "processes" in self.granted:
            if event == "socket.__new__":
                return bool(arguments[1] == AF_UNIX)
            if event in ("socket.bind", "socket.connect", "socket.sendmsg"):
                return arguments[1] is None or self._inside(arguments[1])
            if event == "os.kill":
                return type(arguments[0]) is int and in_group(arguments[0])
            if event == "os.fork":
                return len(multiprocessing.process._children) < MOST_CHILDREN  # type: ignore[attr-defined]
            if event == "mmap.__new__":
                return True
            return event.startswith(self.FILES) and self._all_inside(arguments)
        return False


class _Stopped(dict):  # type: ignore[type-arg]
    """Whether an event is one that may be stopped, each thought about once."""

    def __missing__(self, event: str) -> bool:
        harmless = not event.startswith(Guard.STOPPED) or event in Guard.HARMLESS
        stopped = event in Guard.LIBRARIES or not harmless
        self[event] = stopped
        return stopped


def in_group(process: int) -> bool:
    """Whether a process is one of this one's group: a worker that a loader started."""
    with contextlib.suppress(OSError):
        return process > 1 and os.getpgid(process) == os.getpgrp()
    return False


def asker() -> str:
    """The innermost place, outside the import machinery and this file, that asked for what the guard stopped."""
    frame: Any = sys._getframe(3)
    while frame is not None and (frame.f_globals.get("__name__") or "").startswith(
        ("importlib", "ctypes", "_frozen", "os", __name__)
    ):
        frame = frame.f_back
    return printable(f"{frame.f_code.co_filename}:{frame.f_lineno}", 120) if frame is not None else "unknown"


def _library_folders() -> Iterator[str]:
    for name in ("torch", "numpy", "triton"):
        module = sys.modules.get(name)
        path = getattr(module, "__file__", None)
        if path:
            yield os.path.dirname(path)


def _compiler_folders() -> Iterator[str]:
    """Where the code of torch's compiler lies."""
    from importlib.util import find_spec

    for name in ("torch._dynamo", "torch._inductor", "torch._functorch", "triton"):
        spec = find_spec(name)
        if spec is not None and spec.origin:
            yield os.path.dirname(spec.origin) + os.sep
