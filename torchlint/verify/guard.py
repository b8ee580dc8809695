"""What holds measured code inside the worker, should the policy have let it through.

It finds of Python's own names only those that the policy knows; an audit hook stops what reaches out of the process;
functions of torch and NumPy by which objects could be made out of addresses take harmless arguments alone; and where
the kernel offers it (Landlock, Linux 5.13 and later) the process gives up for good what an experiment has no use for.
Standard library and torch alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import abc
import builtins
import contextlib
import copy
import ctypes
import dataclasses
import functools
import gc
import multiprocessing.context
import multiprocessing.process
import os
import re
import struct
import sys
import time
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torchlint.verify import policy
from torchlint.verify.allowed import NAMES, REFUSED_ATTRIBUTES
from torchlint.verify.standins import MODULE, printable

__all__ = ["MEASURED", "Guard", "changed", "confine", "landmarks", "python", "tame"]

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
        r"nvdisasm|cuobjdump"
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


# -- what measured code finds ------------------------------------------------------------------------------------------

# Classes whose objects are made of others' insides: code, memory, classes.
UNMADE = frozenset(
    (types.FunctionType, types.CodeType, types.ModuleType, types.CellType, types.FrameType, types.MappingProxyType,
     memoryview)
)  # fmt: skip


def python(allow: Sequence[str] = ()) -> dict[str, Any]:
    """Python's own names for measured code: those of the policy, with an import of listed modules alone.

    What is not among them does not exist for it, even where its text hides which name it means.

    Args:
        allow: modules that the user allowed.
    """
    known = set(NAMES)
    numpy = sys.modules.get("numpy")
    closed = (type,) if numpy is None else (type, numpy.ndarray)
    original = builtins.__import__
    lent = _lent_copy()

    def imported(name: str, around: Any = None, local: Any = None, wanted: Any = (), level: int = 0) -> Any:
        # Extensions written in C import parts of their own by this function: they alone want a list of names.
        if name not in known and type(wanted) is not list:
            if name != "__future__" and not policy.knows(name, None, allow):
                raise PermissionError(f"the module {printable(name, 60)} is not on the list")
            known.add(name)
        before = len(sys.modules)
        if name == "copy" and type(wanted) is not list:
            return lent
        module = original(name, around, local, wanted, level)
        if len(sys.modules) > before:
            tame_lookups()
        return module

    def kind_of(value: Any) -> Any:
        """`type` of one argument, apart from classes by which code, classes and views of memory are made."""
        kind = type(value)
        if kind in UNMADE or issubclass(kind, closed):
            raise PermissionError(f"type() of {printable(kind.__name__, 40)} is not allowed in an experiment")
        return kind

    found = {name: getattr(builtins, name) for name in policy.BUILTINS if hasattr(builtins, name)}
    return {**found, "type": kind_of, "__import__": imported, "__build_class__": builtins.__build_class__}


@functools.lru_cache(maxsize=1)
def _lent_copy() -> types.ModuleType:
    """The module `copy` without memos, by which copies get attributes of any name and become objects of any class."""

    def deepcopy(x: Any, *memo: Any, **more: Any) -> Any:
        if memo or more:
            raise PermissionError("deepcopy with a memo is not allowed in an experiment")
        return copy.deepcopy(x)

    lent = types.ModuleType("copy")
    vars(lent).update(copy=copy.copy, deepcopy=deepcopy, Error=copy.Error)
    return lent


def tame(torch: Any) -> None:
    """Let functions that measured code may call take what is harmless alone."""
    _tame_schedulers(torch)
    _tame_buffers(torch)
    _tame_tables(torch)
    _tame_fields()
    _tame_references()
    _tame_type_names(torch)
    _tame_threads(torch)
    _tame_walks(torch)
    _tame_registration()
    if "numpy" in sys.modules:
        _tame_numpy(sys.modules["numpy"])
    tame_lookups()
    # Other ways to start a loader's workers start a new interpreter, in which nothing of this file holds.
    torch.multiprocessing.set_start_method("fork", force=True)
    torch.multiprocessing.get_all_start_methods = lambda: ["fork"]
    contexts = multiprocessing.context._concrete_contexts  # type: ignore[attr-defined]
    for name in [name for name in contexts if name != "fork"]:  # lest a text that says it is equal to "fork" is taken
        del contexts[name]


def _tame_buffers(torch: Any) -> None:
    """Arrays of objects hold addresses; seen as numbers they could be written to.

    A tensor does not keep a bytearray from moving its memory elsewhere; a view of it, which the tensor holds, does.
    """
    numpy = sys.modules.get("numpy")

    def plain(value: Any) -> bool:
        if isinstance(value, memoryview):
            return False
        return numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)) or not value.dtype.hasobject

    def tamed(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def read(*given: Any, **named: Any) -> Any:
            if not all(map(plain, (*given, *named.values()))):
                raise PermissionError(f"{original.__name__} of a view of memory is not allowed in an experiment")
            return original(*map(held, given), **{name: held(value) for name, value in named.items()})

        return read

    def held(value: Any) -> Any:
        return memoryview(value) if isinstance(value, bytearray) else value

    for module, name in ((torch, "frombuffer"), (torch, "asarray"), (numpy, "frombuffer")):
        if module is not None:
            setattr(module, name, tamed(getattr(module, name)))


# Where torch reads and writes attributes whose names it is told by objects that measured code may hold and change.
FOLLOWING = ("torch.distributions.", "torch.nn.attention.", "torch.nn.modules.container", "torch.nn.modules.rnn",
             "torch.nn.parallel.", "torch.nn.utils.", "torch.sparse.")  # fmt: skip
NEVER_FOLLOWED = frozenset(REFUSED_ATTRIBUTES.split())
FOLLOWED = frozenset("__name__ __qualname__ __module__ __doc__".split())  # special names that lead nowhere


def tame_lookups() -> None:
    """Let those modules that are loaded find no attributes that lead out of what code computes with."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith(FOLLOWING) and type(module) is types.ModuleType:
            for function in LOOKUPS:
                vars(module).setdefault(function.__name__, function)


def _tame_lookup(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def followed(thing: Any, name: str, *rest: Any) -> Any:
        plain = name if type(name) is str else str.__str__(name)
        if plain in NEVER_FOLLOWED or (plain.startswith("__") and plain not in FOLLOWED):
            raise PermissionError(f"{original.__name__} of {printable(plain, 60)} is not allowed in an experiment")
        return original(thing, plain, *rest)

    return followed


LOOKUPS = (_tame_lookup(getattr), _tame_lookup(setattr), _tame_lookup(delattr))


def _tame_tables(torch: Any) -> None:
    """Let no module say where its memory lies, nor how it is copied: it answers to any name in its tables of parts."""
    for name in ("__array_interface__", "__array_struct__", "__cuda_array_interface__", "__deepcopy__"):
        setattr(torch.nn.Module, name, property(lambda self: None))  # as if it had none


def _tame_references() -> None:
    """Let nobody but `typing` itself evaluate the texts of annotations."""
    own = {typing.__file__, typing.ForwardRef.__init__.__code__.co_filename}  # a module of its own since Python 3.14

    def tamed(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def evaluated(*given: Any, **named: Any) -> Any:
            if sys._getframe(1).f_code.co_filename not in own:
                raise PermissionError("the text of an annotation is not evaluated in an experiment")
            return original(*given, **named)

        return evaluated

    for name in ("_evaluate", "evaluate"):
        if hasattr(typing.ForwardRef, name):
            setattr(typing.ForwardRef, name, tamed(getattr(typing.ForwardRef, name)))


def _tame_type_names(torch: Any) -> None:
    """Let a kind of tensor be named as torch names them: it imports whatever module the name begins with."""
    original = torch.set_default_tensor_type

    @functools.wraps(original)
    def chosen(t: Any) -> None:
        if isinstance(t, str) and not (type(t) is str and re.fullmatch(r"torch\.(cuda\.)?[A-Z]\w*Tensor", t)):
            raise PermissionError("only tensors of torch are a default in an experiment")
        original(t)

    torch.set_default_tensor_type = chosen


def _tame_threads(torch: Any) -> None:
    """Let nobody take all the threads that the machine has for everyone: torch starts what it is told to."""
    original = torch.set_num_threads

    @functools.wraps(original)
    def chosen(count: int) -> None:
        if type(count) is not int or count > MOST_THREADS:
            raise PermissionError(f"more than {MOST_THREADS} threads are not allowed in an experiment")
        original(count)

    torch.set_num_threads = chosen


def _tame_walks(torch: Any) -> None:
    """Let nothing be called for each number of a tensor: what is called could move its memory meanwhile."""

    def walked(self: Any, *_: Any) -> Any:
        raise PermissionError("calling a function for each number of a tensor is not allowed in an experiment")

    for name in ("apply_", "map_", "map2_"):
        setattr(torch.Tensor, name, walked)


def _tame_registration() -> None:
    """Let measured code say of its own classes alone that they are sequences and the like."""
    original = abc.ABCMeta.register

    def register(cls: Any, subclass: Any) -> Any:
        if sys._getframe(1).f_code.co_filename in MEASURED and getattr(subclass, "__module__", None) != MODULE:
            raise PermissionError("registering a class from elsewhere is not allowed in an experiment")
        return original(cls, subclass)

    abc.ABCMeta.register = register  # type: ignore[method-assign]


def _tame_numpy(numpy: Any) -> None:
    """Let arrays of objects give no view of the addresses they hold, others not that by which they hold their memory,
    which could be released before them, nor move it; and generators no numbers from beyond their state."""

    def viewed(original: Any) -> property:
        def data(self: Any) -> Any:
            if self.dtype.hasobject:
                raise PermissionError("a view of an array of objects is not allowed in an experiment")
            return original.__get__(self)

        return property(data)

    def based(original: Any) -> property:
        def base(self: Any) -> Any:
            found = original.__get__(self)
            return None if isinstance(found, memoryview) else found

        return property(base)

    def moved(original: Any) -> Any:
        def resize(self: Any, *_: Any, **__: Any) -> Any:
            raise PermissionError("an array that moves its memory is not allowed in an experiment")

        return resize

    def stated(original: Any) -> property:
        def state(self: Any, value: Any) -> None:
            fields = {**value, **value["state"]} if type(value) is dict and type(value.get("state")) is dict else {}
            for name, most in (("pos", 624), ("buffer_pos", 4)):
                place = fields.get(name, 0)
                whole = type(place) is int or isinstance(place, numpy.integer)
                if not fields or not whole or not 0 <= place <= most:
                    raise PermissionError("the state of a generator is none")
            original.__set__(self, value)

        return property(original.__get__, state)

    def named(*_: Any) -> Any:
        raise PermissionError("names that stand in text are not looked up in an experiment")

    for kind in (numpy.ndarray, numpy.generic):
        _replace(kind, "data", viewed)
    _replace(numpy.ndarray, "base", based)
    _replace(numpy.ndarray, "resize", moved)
    for kind in (numpy.random.MT19937, numpy.random.Philox):
        _replace(kind, "state", stated)
    numpy.matrixlib.bmat = named  # numpy.r_ calls it with the names that its caller's frame holds


def _replace(kind: type, name: str, made: Callable[[Any], Any]) -> None:
    """Replace an attribute of a class that is written in C, and says of itself that it cannot be changed."""
    (attributes,) = gc.get_referents(vars(kind))
    attributes[name] = made(attributes[name])
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _tame_fields() -> None:
    """Let nobody name the fields of a dataclass but in a class: their names become code, and are looked up."""
    own = dataclasses.field.__code__.co_filename

    def written(self: Any, name: str, value: Any) -> None:
        if sys._getframe(1).f_code.co_filename != own:
            raise PermissionError("the fields of a dataclass are not written in an experiment")
        object.__setattr__(self, name, value)

    dataclasses.Field.__setattr__ = written  # type: ignore[method-assign]
    original = dataclasses._get_field  # type: ignore[attr-defined]

    def named(kind: Any, name: Any, *rest: Any) -> Any:
        if type(name) is not str or not name.isidentifier() or name.startswith("__"):
            raise PermissionError("the name of a dataclass' field is none in an experiment")
        return original(kind, name, *rest)

    dataclasses._get_field = named  # type: ignore[attr-defined]


def _tame_schedulers(torch: Any) -> None:
    """Let learning rate schedulers load plain data alone, and tell of no special attributes.

    Theirs is an update of their attributes from whatever they are given, by which code could make objects that pretend
    to lie at any address; and they tell all that they have, which `functools.update_wrapper` adds to.
    """

    def plainly(value: Any, depth: int = 8) -> Any:
        kind = type(value)
        if kind in (int, float, str, bool, type(None)) or issubclass(kind, torch.Tensor):
            return value
        if depth and kind in (list, tuple):
            return kind(plainly(item, depth - 1) for item in value)
        if depth and kind is dict and all(type(key) in (str, int) for key in value):
            if any(type(key) is str and key.startswith("__") for key in value):
                raise PermissionError("a scheduler's state names a special attribute")
            return {key: plainly(item, depth - 1) for key, item in value.items()}
        if kind.__module__ == "collections" and kind.__name__ == "Counter":
            return kind(plainly(dict(value), depth - 1))
        raise PermissionError(f"a scheduler's state holds {printable(kind.__name__, 60)}")

    def tamed(original: Any) -> Any:
        def load_state_dict(self: Any, state_dict: Any) -> Any:
            return original(self, plainly(state_dict))

        return load_state_dict

    def bare(value: Any) -> Any:
        if type(value) is list:
            return [bare(item) for item in value]
        if type(value) is not dict:
            return value
        return {key: bare(item) for key, item in value.items() if not str(key).startswith("__")}

    def told(original: Any) -> Any:
        def state_dict(self: Any) -> Any:
            return bare(original(self))

        return state_dict

    from torch.optim import lr_scheduler, swa_utils

    for module in (lr_scheduler, swa_utils):
        for kind in vars(module).values():
            if isinstance(kind, type) and "load_state_dict" in vars(kind) and kind.__module__ == module.__name__:
                kind.load_state_dict = tamed(kind.load_state_dict)  # type: ignore[attr-defined]
            if isinstance(kind, type) and "state_dict" in vars(kind) and kind.__module__ == module.__name__:
                kind.state_dict = told(kind.state_dict)  # type: ignore[attr-defined]


# -- what figures rest on ----------------------------------------------------------------------------------------------

IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
Marks = dict[int, tuple[str, Any, dict[Any, Any]]]  # by identity: the name of a thing, itself, what it holds


def landmarks(torch: Any, compiled: bool, *more: type) -> Marks:
    """What classes, modules, functions and tables hold that measured code can reach, to see afterwards what it changed.

    What it left there would be found by the calls that follow, of the other variant as well. The compiler wraps methods
    of modules and optimizers itself: of compiled code the tensor's alone are looked at.

    Args:
        more: classes of the worker that stand for others.
    """
    named: list[tuple[str, Any]] = [("torch.Tensor", torch.Tensor), ("torch.cuda", torch.cuda), ("time", time)]
    named += ((kind.__name__, kind) for kind in more)
    if not compiled:
        named += _listed()
        named.append(("copy.deepcopy", _lent_copy().deepcopy))
    marks: Marks = {}
    for name, thing in named:
        if id(thing) not in marks:
            marks[id(thing)] = (name, thing, _held(thing))
    others: Iterable[type] = _classes() if not compiled else ()
    for kind in others:
        if id(kind) not in marks:  # torch counts in some of them, as the handles of hooks
            held = {key: 0 if type(value) is int else value for key, value in vars(kind).items()}
            marks[id(kind)] = (f"{kind.__module__}.{kind.__qualname__}", kind, held)
    return marks


def _held(thing: Any) -> dict[Any, Any]:
    """Attributes, or the items of a table; special ones of classes alone, where decorators of classes put them."""
    if isinstance(thing, type):
        return dict(vars(thing))
    held = thing if isinstance(thing, dict) else getattr(thing, "__dict__", {})
    return {key: value for key, value in held.items() if not str(key).startswith("__")}


def _classes() -> Iterator[type]:
    """All classes that can be changed."""
    found: set[Any] = set()
    todo: list[Any] = [object]
    while todo:
        below = set(type.__subclasses__(todo.pop())) - found
        found |= below
        todo += below
    return (kind for kind in found if not kind.__flags__ & IMMUTABLE)


def _listed() -> Iterator[tuple[str, Any]]:
    """What has the names of the list, bases of its classes, and the functions and tables that all these hold."""
    for module, names in NAMES.items():
        home = sys.modules.get(module)
        for name in names.split() if home is not None else ():
            thing = getattr(home, name, None)
            around = [(f"{module}.{name}", thing)]
            if isinstance(thing, type):
                kinds: tuple[type, ...] = thing.__mro__
                around = [(f"{k.__module__}.{k.__qualname__}", k) for k in kinds if not k.__flags__ & IMMUTABLE]
            for place, one in around if not isinstance(thing, types.ModuleType) else ():
                yield place, one
                for key, value in tuple(getattr(one, "__dict__", {}).items()):
                    if isinstance(value, (dict, types.FunctionType)) and not key.startswith("__"):
                        yield f"{place}.{key}", value


def changed(before: Marks, after: Marks, torch: Any) -> str | None:
    """The first landmark that is another now, or new; a step of optimizers that torch itself wraps at first is not.

    Of plain data, which torch keeps in places of its own, only what is public counts.
    """
    missing = object()
    for place, (home, thing, now) in after.items():
        then = before[place][2] if place in before else now  # what was loaded since then is nobody's landmark
        for key, value in now.items():
            old = then.get(key, missing)
            if value is old:
                continue
            name = f"{home}.{key}"
            plain = not callable(value) and not callable(old)
            if plain and (str(key).startswith("_") or home in ("torch.cuda", "time")):
                continue
            code = getattr(value, "__code__", None)
            file = code.co_filename if code is not None else ""
            if name.endswith("Event.elapsed_time") and os.path.dirname(file) == HERE:
                continue  # the worker counts readings of events that were not reached
            if name.endswith(".step") and file == torch.optim.Optimizer.__init__.__code__.co_filename:
                continue
            inherited = isinstance(thing, type) and any(key in vars(base) for base in thing.__mro__[1:])
            if (old is None or (old is missing and callable(value) and not inherited)) and _is_of_library(value):
                continue  # what a library sets up at its first use, as for a device
            return printable(name)
        gone = next((key for key, value in then.items() if callable(value) and key not in now), None)
        if gone is not None:
            return printable(f"{home}.{gone}")
    return None


def _is_of_library(value: Any) -> bool:
    """Whether nothing of measured code stands behind a value, by what it cannot forge: types, and files of code."""
    kind = type(value)
    if kind is types.FunctionType:
        held = [cell.cell_contents for cell in value.__closure__ or () if _is_full(cell)]
        return value.__code__.co_filename not in MEASURED and all(map(_is_of_library, held))
    if kind is types.BuiltinFunctionType:
        return True
    if kind is not type and callable(value):
        return False  # bound and partial ones, caches and the like may wrap what is measured
    bases = type.mro(value) if kind is type else type.mro(kind)
    methods = (method for base in bases for method in vars(base).values() if type(method) is types.FunctionType)
    return all(method.__code__.co_filename not in MEASURED for method in methods)


def _is_full(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


# -- what the process gives up -----------------------------------------------------------------------------------------

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
