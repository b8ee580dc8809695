"""What holds measured code beside the policy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFINED = """
import os, sys
from torchlint.verify.guard import confine

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
import dataclasses
import numpy as np
import torch
from torchlint.verify.guard import tame

tame(torch)
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

tricks = [
    lambda: torch.nn.ParameterList.__getitem__(named(lambda: 0, "__globals__"), 0),
    lambda: torch.nn.ParameterList.__getitem__(named(torch.ones(1), "untyped_storage"), 0),
    lambda: torch.nn.ParameterList.__setitem__(named(torch.nn.ParameterList(), ADDRESS), 0, PLACE),
    lambda: having(torch.nn.GRU(1, 1), _all_weights=[["__setattr__"]]).all_weights,
    lambda: torch.distributions.Distribution.__init__(having(lambda: 0, arg_constraints={"__globals__": 0}), (), (), 1),
    lambda: np.asarray(having(torch.nn.Module(), _buffers={ADDRESS: PLACE})),
    lambda: hooked()(lambda: 0, 0),
    lambda: having(dataclasses.fields(Kept)[0], name="__setattr__"),
]
for trick in tricks:
    try:
        print("got", trick())
    except (PermissionError, ValueError) as error:
        print("stopped")

parts = torch.nn.ParameterList([torch.ones(1)])
parts[0] = torch.zeros(1)
torch.nn.GRU(1, 1)(parts[0][None])
print(torch.distributions.Normal(0.0, 1.0), dataclasses.replace(Kept(), x=2))
"""


def test_libraries_follow_no_names_that_lead_out() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", TRICKS], capture_output=True, text=True, check=True)
    *tried, last = done.stdout.splitlines()
    assert tried == ["stopped"] * 8
    assert last == "Normal(loc: 0.0, scale: 1.0) Kept(x=2)"
