"""What is left out of measured code because it only shows, logs or saves, and what is not."""

from __future__ import annotations

import ast

from torchlint.verify.extract import Unit
from torchlint.verify.inert import Quiet, quiet, without
from torchlint.verify.policy import check


def quieted(source: str) -> Quiet:
    tree = ast.parse(source)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    return quiet(Unit(source, function.name, tree, function, None, ()), ())


LOUD = """\
import logging as log
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm, trange
import torch


def f(xs):
    for x in tqdm(xs):
        log.info("%s", x)
        torch.save(x, "x.pt"); torch.save(x, "y.pt")
    SummaryWriter().add_scalar("x", 1.0)
"""


def test_what_shows_logs_and_saves_becomes_stand_ins() -> None:
    made = quieted(LOUD)
    assert made.names == {
        "log": "logging",
        "SummaryWriter": "torch.utils.tensorboard.SummaryWriter",
        "tqdm": "tqdm.tqdm",
        "trange": "tqdm.trange",
        "torchlint_unsaved": "torch.save",
    }
    assert check(made.unit.source, (), ["add_scalar", "info"], made.names) == []


def test_rows_stay_what_they_were() -> None:
    lines = quieted(LOUD).unit.source.split("\n")
    assert lines[7] == "    for x in tqdm(xs):"
    assert len(lines) == len(LOUD.split("\n"))


def test_other_modules_stay_and_are_refused() -> None:
    source = "import os\nimport aux\nfrom .sibling import g\n\n\ndef f(x):\n    return g(aux.h(os.getcwd()))\n"
    made = quieted(source)
    assert made.names == {}
    assert {str(refusal) for refusal in check(made.unit.source)} >= {
        "line 1: the module os is not on the list",
        "line 2: the module aux is not on the list",
    }


def test_an_import_that_shares_its_row_is_left_alone() -> None:
    assert quieted("import tqdm; import torch\n\n\ndef f(x):\n    return tqdm.tqdm(x)\n").names == {}


FOREIGN = """\
import torch
from torch import nn
from aux.layers import Base, mask_of
from .registry import register
try:
    from fast import attend
except ImportError:
    attend = None


@register(name="x")
class Head(Base):
    def forward(self, x):
        return x * mask_of(x)


def f(x):
    return Head()(x) if attend is None else attend(x)
"""


def test_without_other_modules_their_names_are_left_to_stand_ins() -> None:
    made = without(quieted(FOREIGN), ())
    assert made.foreign == {"mask_of": "aux.layers.mask_of"}
    assert made.replaced == (
        "the decorator register of Head is left out",
        "Head derives from nn.Module alone, not from Base",
    )
    lines = made.unit.source.split("\n")
    assert (lines[5], lines[10:12]) == ("    raise ImportError", ["", "class Head(nn.Module):"])
    assert len(lines) == len(FOREIGN.split("\n"))
    assert check(made.unit.source, (), (), made.foreign) == []


def test_modules_of_python_are_never_stood_in_for() -> None:
    source = "import os\nimport aux\n\n\ndef f(x):\n    return aux.h(os.getcwd(), x)\n"
    made = without(quieted(source), ())
    assert made.foreign == {"aux": "aux"}
    refusals = check(made.unit.source, (), ["h", "getcwd"], made.foreign)
    assert "line 1: the module os is not on the list" in map(str, refusals)
