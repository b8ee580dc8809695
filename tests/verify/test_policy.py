"""What measured code may do, and what it may not: each hostile snippet says at its top why it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.rules import pages
from torchlint.verify.policy import check, enters, grants

HOSTILE = sorted((Path(__file__).parent / "hostile" / "refused").glob("*.py"))
HARMLESS = sorted((Path(__file__).parent / "hostile" / "contained").glob("*.py"))


def reasons(source: str, **options: list[str]) -> list[str]:
    return [refusal.reason for refusal in check(source, **options)]


@pytest.mark.parametrize("file", HOSTILE, ids=lambda file: file.stem)
def test_hostile_code_is_refused_for_its_trick(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    wanted = source.splitlines()[0].removeprefix("# refused: ")
    assert any(wanted in reason for reason in reasons(source)), reasons(source)


@pytest.mark.parametrize("file", HARMLESS, ids=lambda file: file.stem)
def test_what_only_wastes_or_fails_is_left_to_the_supervisor(file: Path) -> None:
    assert reasons(file.read_text(encoding="utf-8")) == []


def test_a_refusal_names_its_row() -> None:
    (refusal,) = check("import torch\n\n\ndef f(x):\n    return torch.save(x, 'a')\n")
    assert str(refusal) == "line 5: torch.save is not on the list of allowed names"


@pytest.mark.parametrize("code", pages.codes())
def test_the_pages_own_pairs_are_allowed(code: str) -> None:
    for block in pages.load(code).pair or ():
        assert reasons(block.source) == []


ALLOWED = {
    "model": """
import math
from collections import deque, namedtuple
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

Pair = namedtuple("Pair", "left right")


@dataclass
class Options:
    width: int = 4
    names: list[str] = field(default_factory=list)


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.zeros(3)


class Net(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.layer = nn.Linear(options.width, 4)
        self.register_buffer("table", torch.zeros(4))
        self.history = deque(maxlen=3)

    def forward(self, x):
        for hidden in [F.relu(self.layer(x))]:
            self.history.append(hidden.detach())
        return hidden + self.table


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2


def train(net, loader, device=None):
    best, pair = math.inf, Pair(1, 2)
    for step, batch in enumerate(loader):
        loss = net(batch.to(device)).mean()
        if step % 10 == 0:
            print(f"{step}: {loss.item():.3f}", "at {}".format(step), "%d" % step)
        best = min(best, float(loss)) + pair.left
    assert isinstance(net, nn.Module), type(net)
    return best, np.asarray([best]).mean(), getattr(net, "layer")
""",
    "flags that hold in the experiment's process": """
import torch

torch.backends.cudnn.benchmark = True
torch.backends.cuda.matmul.allow_tf32 = True
""",
    "optional names": """
import torch

try:
    from torch.nn.functional import scaled_dot_product_attention as sdpa
except ImportError:
    sdpa = None


def f(q):
    return sdpa(q, q, q) if sdpa else q
""",
    "old-style super": """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        nn.Module.__init__(self)
""",
    "phases": """
import copy
import torch


def run(net, phases):
    best = copy.deepcopy(net.state_dict())
    for phase, batches in phases.items():
        net.train(phase == "train")
        with torch.set_grad_enabled(phase == "train"):
            total = sum(net(x).mean().item() for x in batches)
    return best, total
""",
    "kinds and their names": """
from typing import Optional, Union

import numpy as np
import torch


@torch.jit.ignore
def f(x: Union[np.ndarray, torch.Tensor], y: Optional[np.ndarray] = None) -> np.ndarray | None:
    if torch.jit.is_scripting() or not isinstance(x, (np.ndarray, torch.Tensor)):
        raise TypeError(f"{f.__name__} of {x.__class__.__name__} and {type(y).__name__}")
    return x[np.newaxis] if torch.__version__ >= "2.0" else x


class Layer(torch.nn.Module):
    __constants__ = ["width"]
""",
    "module alias": """
import torch

F = torch.nn.functional


def f(x):
    return F.relu(x)
""",
}


@pytest.mark.parametrize("name", ALLOWED)
def test_ordinary_code_is_allowed(name: str) -> None:
    assert reasons(ALLOWED[name]) == []


def test_a_local_name_hides_a_module() -> None:
    assert reasons("import torch\n\n\ndef f(torch):\n    return torch.shape\n") == []


def test_the_user_can_allow_a_module() -> None:
    source = "import einops\n\n\ndef f(x):\n    return einops.rearrange(x, 'a b -> b a')\n"
    assert "the module einops is not on the list" in reasons(source)
    assert reasons(source, allow=["einops"]) == []


def test_allowing_a_module_allows_nothing_else() -> None:
    source = "import einops\nimport os\n\n\ndef f(x):\n    os.system('true')\n    return x.__class__\n"
    assert {"the module os is not on the list", "the special attribute __class__ is read"} <= set(
        reasons(source, allow=["einops"])
    )


def test_attributes_of_stand_ins_are_allowed_by_name() -> None:
    source = "def f(policy):\n    return policy.act()\n"
    assert reasons(source) == ["the attribute act is neither known nor defined here"]
    assert reasons(source, attributes=["act"]) == []


def test_what_containment_must_leave_open_is_told() -> None:
    assert grants("import torch\n\nf = torch.compile(len)\n") == {"compile"}
    assert grants("from torch.utils.data import DataLoader\n") == {"processes"}
    assert grants("import torch\n\nx = torch.zeros(1)\n") == frozenset()


def test_a_name_of_pythons_own_that_is_surely_bound_is_the_files() -> None:
    source = "def input(x):\n    return x\n\n\nexit = 1\n\n\ndef f(x, vars):\n    return input(x), exit, vars\n"
    assert reasons(source) == []


@pytest.mark.parametrize(
    ("entry", "enters_"), [("f", True), ("Net.forward", True), ("Net.__call__", True), ("f.__globals__", False),
                           ("Net.mro", False), ("Net.__class__", False), ("torch.load", False), ("", False)]
)  # fmt: skip
def test_only_functions_and_methods_of_the_code_are_called(entry: str, enters_: bool) -> None:
    source = "import torch\n\n\ndef f(x):\n    return x\n\n\nclass Net:\n    def __call__(self, x):\n        return x\n"
    assert enters(source, entry) is enters_


def test_very_deep_code_is_refused_rather_than_followed() -> None:
    assert reasons("x = " + "-" * 50_000 + "1\n") in (["it is nested too deeply"], ["it does not parse"])
