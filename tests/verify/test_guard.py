"""What holds measured code beside the policy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFINED = """
import os, sys
from torchlint.verify.confinement import confine

inside, outside = sys.argv[1:]
print(confine(inside, programs=False))
for act in (
    lambda: open(os.path.join(inside, "made"), "w").close(),
    lambda: open(os.path.join(outside, "made"), "w").close(),
    lambda: os.remove(os.path.join(outside, "kept")),
    lambda: os.execv(sys.executable, [sys.executable, "-c", "print('started')"]),
):
    try:
        print(act())
    except PermissionError as error:
        print("denied")
"""


def test_the_kernel_denies_writing_elsewhere_and_starting_programs(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "kept").touch()
    command = [sys.executable, "-c", CONFINED, str(inside), str(outside)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    offered, *said = done.stdout.split()
    if offered == "False":
        pytest.skip("this kernel does not offer it")
    assert said == ["None", "denied", "denied", "denied"]
    assert [path.name for path in outside.iterdir()] == ["kept"]


TRICKS = """
import copy
import dataclasses
import functools
import types
import typing
import numpy as np
import torch
import torch.utils.data
from torchlint.verify.namespace import python
from torchlint.verify.taming import tame
from torchlint.verify.standins import Builder, Record, Unfit

tame(torch)
copied = python()["__import__"]("copy").deepcopy
PLACE = {"data": (id(tame), False), "shape": (1,), "typestr": "<i8", "version": 3}
ADDRESS = "__array_interface__"

@dataclasses.dataclass
class Kept:
    x: int = 1

def having(thing, **attributes):
    for name, value in attributes.items():
        setattr(thing, name, value)
    return thing

def named(thing, name):
    return having(thing, _get_abs_string_index=lambda _: name)

def hooked():
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(1, 1))
    return having(next(iter(layer._forward_pre_hooks.values())), name=ADDRESS, compute_weight=lambda _: PLACE)

class Text(str):
    def __eq__(self, other):
        return True
    __hash__ = str.__hash__
    def split(self, *_):
        return ["os", "getcwd"]

class Hook(torch.nn.Module):
    def forward(self, memo):
        memo[id("other")] = ADDRESS

def copied_by_hook():
    module = torch.nn.Module()
    module._modules["__deepcopy__"] = Hook()
    return getattr(copied([module, having(Kept(), other=PLACE)])[1], ADDRESS)

def overlaid():
    one, other = np.empty(1, object), np.empty(1, object)
    one.data[:] = other.data

def fielded(name):
    return dataclasses.dataclass(typing.TypedDict("Made", {name: int}))

def moved(made):
    kept = bytearray(8)
    tensor = made(kept, dtype=torch.int64)
    kept.extend(bytes(4000))
    return tensor

def beyond(generator, field):
    state = generator.state
    (state["state"] if field in state["state"] else state)[field] = 1 << 20
    generator.state = state

def planned():
    module = types.ModuleType("measured")
    module.update_wrapper = functools.update_wrapper
    thing = {"kind": "object", "moves": True, "attributes": {}}
    named = {"wrapper": thing, "wrapped": {"kind": "function", "gives": 1}, "assigned": ["__globals__"], "updated": []}
    made = Builder(torch, torch.device("cpu"), module, {}, {})
    return made.make({"kind": "own", "path": "update_wrapper", "kwargs": named})["__globals__"]

def wrapped(thing):
    return functools.update_wrapper(thing, fielded)

def scheduled(epoch_factor=None):
    optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    told = wrapped(torch.optim.lr_scheduler.LambdaLR(optimizer, epoch_factor or (lambda epoch: 1.0))).state_dict()
    return {**told, **(told["lr_lambdas"][0] or {})}["__annotations__"]

class Factor:
    def __call__(self, epoch):
        return 1.0

def evaluated():
    (reference,) = typing.get_args(typing.List["int"])
    return getattr(reference, "_evaluate", getattr(reference, "evaluate", None))({}, {}, frozenset())

tricks = [
    lambda: torch.nn.ParameterList.__getitem__(named(lambda: 0, "__globals__"), 0),
    lambda: torch.nn.ParameterList.__getitem__(named(torch.ones(1), "untyped_storage"), 0),
    lambda: torch.nn.ParameterList.__setitem__(named(torch.nn.ParameterList(), ADDRESS), 0, PLACE),
    lambda: having(torch.nn.GRU(1, 1), _all_weights=[["__setattr__"]]).all_weights,
    lambda: torch.distributions.Distribution.__init__(having(lambda: 0, arg_constraints={"__globals__": 0}), (), (), 1),
    lambda: np.asarray(having(torch.nn.Module(), _buffers={ADDRESS: PLACE})),
    lambda: hooked()(lambda: 0, 0),
    lambda: having(dataclasses.fields(Kept)[0], name="__setattr__"),
    copied_by_hook,
    overlaid,
    lambda: moved(torch.frombuffer),
    lambda: moved(torch.asarray),
    lambda: beyond(np.random.MT19937(0), "pos"),
    lambda: beyond(np.random.Philox(0), "buffer_pos"),
    lambda: np.random.set_state(("MT19937", np.random.get_state()[1], 625)),
    evaluated,
    lambda: torch.set_default_tensor_type("os.path"),
    lambda: torch.set_default_tensor_type(Text("torch.FloatTensor")),
    lambda: list(torch.utils.data.DataLoader([1.0], num_workers=1, multiprocessing_context=Text("spawn"))),
    lambda: np.r_["PLACE"],
    lambda: Record(**{ADDRESS: PLACE}),
    lambda: torch.set_num_threads(1 << 20),
    lambda: fielded("x=print()"),
    lambda: fielded(ADDRESS),
    lambda: np.asarray(bytearray(8)).base.release(),
    planned,
    scheduled,
    lambda: scheduled(wrapped(Factor())),
    lambda: wrapped(Record(a=1))["__annotations__"],
    lambda: np.zeros(2).resize(9, refcheck=False),
    lambda: torch.ones(2).apply_(abs),
    lambda: torch.ones(2).map_(torch.ones(2), max),
]
for trick in tricks:
    try:
        print("got", trick())
    except (PermissionError, ValueError, Unfit, BufferError, AttributeError, KeyError):
        print("stopped")

parts = torch.nn.ParameterList([torch.ones(1)])
parts[0] = torch.zeros(1)
torch.nn.GRU(1, 1)(parts[0][None])
torch.set_default_tensor_type("torch.FloatTensor")
generator = copied(np.random.RandomState(0))
generator.set_state(generator.get_state())
assert np.arange(2).data[1] == 1 and np.r_[1:3].sum() == 3 and copied(torch.nn.Linear(1, 1)).bias is not None
assert torch.frombuffer(bytearray(8), dtype=torch.int64).item() == 0
assert typing.get_type_hints(having(lambda: 0, __annotations__={"a": "int"})) == {"a": int}
import late
print(torch.distributions.Normal(0.0, 1.0), dataclasses.replace(Kept(), x=2), late.Bound(3))
"""
LOADED_LATE = """
import dataclasses
@dataclasses.dataclass
class Bound:
    __self__: int
"""


def test_libraries_follow_no_names_that_lead_out(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LOADED_LATE)
    command = [sys.executable, "-W", "ignore", "-c", TRICKS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    *tried, last = done.stdout.splitlines()
    assert tried == ["stopped"] * 32
    assert last == "Normal(loc: 0.0, scale: 1.0) Kept(x=2) Bound(__self__=3)"


LEFT = """
import collections.abc
import contextlib
import copy
import typing
import numpy as np
import torch
import torch._dynamo
import torch.distributions
from torch.utils import hooks
from torchlint.verify.landmarks import changed, landmarks
from torchlint.verify.namespace import python
from torchlint.verify.taming import tame

tame(torch)
lent = python()["__import__"]("copy").deepcopy
torch.nn.Linear(1, 1).register_forward_hook(print)
places = [
    torch.nn.Parameter, torch.autograd.Function, collections.abc.Sized, typing.SupportsInt, hooks.RemovableHandle,
    contextlib._GeneratorContextManager, torch.nn.functional.relu, torch.nn.Linear.forward, np.stack, np.add,
    torch.distributions.biject_to, torch.frombuffer, lent,
]
before = landmarks(torch, compiled=False)
torch.optim.Adam(torch.nn.Linear(1, 1).parameters()).step()
np.finfo(np.float16).max  # which NumPy keeps
torch.nn.Linear(1, 1).register_forward_hook(print)
next(iter(torch.utils.data.DataLoader([1.0])))
print(changed(before, landmarks(torch, compiled=False), torch))
for place in places:
    place.left = 1
    print(changed(before, landmarks(torch, compiled=False), torch))
    del place.left
torch.distributions.Normal.arg_constraints["left"] = 1
print(changed(before, landmarks(torch, compiled=False), torch))
"""


def test_what_a_call_leaves_for_the_next_is_seen_and_what_torch_keeps_is_not() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", LEFT], capture_output=True, text=True, check=True)
    ordinary, *left = done.stdout.splitlines()
    assert ordinary == "None"
    assert [name.rpartition(".")[2] for name in left] == ["left"] * 14


LATE = """
import functools
import torch
from torchlint.verify.landmarks import changed, landmarks

names = {"torch": torch}
exec(compile("def own(): pass\\nclass Own:\\n    def __call__(self): pass", "<before>", "exec"), names)
own = names["own"]
kind = torch.nn.Linear
for name, value in (
    ("late", lambda: None), ("late", own), ("late", names["Own"]()), ("late", names["Own"]),
    ("late", names["Own"]().__call__), ("late", torch.no_grad()(own)), ("late", functools.lru_cache(own)),
    ("late", functools.partial(own)), ("to", lambda: None), ("late", 1),
):
    before = landmarks(torch, compiled=False)
    setattr(kind, name, value)
    print(changed(before, landmarks(torch, compiled=False), torch))
    delattr(kind, name)
"""


def test_what_a_library_sets_up_at_its_first_use_is_no_change_and_what_measured_code_may_stand_behind_is() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", LATE], capture_output=True, text=True, check=True)
    library, *others = done.stdout.splitlines()
    assert library == "None"
    assert [name.rpartition(".")[2] for name in others] == ["late"] * 7 + ["to", "late"]
