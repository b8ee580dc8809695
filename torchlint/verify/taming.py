"""Taking out of torch, NumPy and Python what leads measured code out of an experiment.

Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import abc
import ctypes
import dataclasses
import functools
import gc
import multiprocessing.context
import multiprocessing.process
import re
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

from torchlint.verify.allowed import REFUSED_ATTRIBUTES
from torchlint.verify.guard import MEASURED, MOST_THREADS
from torchlint.verify.standins import MODULE, printable


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
    """Let nobody name the fields of a dataclass but in a class: their names become code, and are looked up.

    Libraries that are loaded late name theirs as they like.
    """
    own = dataclasses.field.__code__.co_filename

    def written(self: Any, name: str, value: Any) -> None:
        if sys._getframe(1).f_code.co_filename != own:
            raise PermissionError("the fields of a dataclass are not written in an experiment")
        object.__setattr__(self, name, value)

    dataclasses.Field.__setattr__ = written  # type: ignore[method-assign]
    original = dataclasses._get_field  # type: ignore[attr-defined]

    def named(kind: Any, name: Any, *rest: Any) -> Any:
        plain = type(name) is str and name.isidentifier() and not name.startswith("__")
        if not plain and not _is_library_loading():
            raise PermissionError("the name of a dataclass' field is none in an experiment")
        return original(kind, name, *rest)

    dataclasses._get_field = named  # type: ignore[attr-defined]


def _is_library_loading() -> bool:
    """Whether a library's module is being loaded, nearer to the call than any measured code."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename not in MEASURED:
        if frame.f_code.co_name == "<module>":
            return not frame.f_code.co_filename.startswith("<")
        frame = frame.f_back
    return False


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
