"""TL401, TL405, TL406: switches that make the device compute slowly."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

TRAIN = """
import random
import torch
import torch.nn.functional as F
from torch import nn
from torch.backends import cudnn
{head}
def run(net, opt, feed, place, args):
    {first}
    for x, y in feed:
        {step}
        F.mse_loss(net(x), y).backward()
        opt.step()
"""


def train(head: str = "", first: str = "pass", step: str = "pass") -> str:
    return TRAIN.format(head=head, first=first, step=step)


@pytest.mark.parametrize("first", ["net.to(place)  # TL401", "net = net.train().cuda()  # TL401"])
def test_tf32_is_never_set(first: str) -> None:
    check(train(first=first), "TL401")


@pytest.mark.parametrize(
    "head",
    [
        'torch.set_float32_matmul_precision("high")',
        "torch.backends.cuda.matmul.allow_tf32 = True",
        "def lower(net):\n    return net.bfloat16()",
        'def lower(net, x):\n    with torch.autocast("cuda"):\n        return net(x)',
    ],
)
def test_tf32_is_set_or_not_needed(head: str) -> None:
    check(train(head=head, first="net.train().to(place)"), "TL401")


def test_tf32_of_a_network_of_convolutions_is_on_already() -> None:
    check(
        """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64)
    def forward(self, x):
        return self.b(self.a(x))

def run(opt, feed, place):
    net = Net().to(place)
    for x in feed:
        net(x).mean().backward()
        opt.step()
""",
        "TL401",
    )


@pytest.mark.parametrize(
    "line", ['torch.set_float32_matmul_precision("highest")', "torch.backends.cuda.matmul.allow_tf32 = False"]
)
def test_tf32_switched_off(line: str) -> None:
    check(f"import torch\n{line}  # TL401\n", "TL401")
    check(f"import torch\n# The reference of the solver needs all digits of its residuals.\n{line}\n", "TL401")


@pytest.mark.parametrize(
    "step",
    [
        "x = F.interpolate(x, size=(random.randrange(200, 400), 64))",
        "n = random.randint(10, 20) * 32; x = F.interpolate(x, size=n)",
        "n = int(torch.randint(200, 400, (1,))); x = F.interpolate(x, (n, n))",
    ],
)
def test_tuned_for_sizes_that_change(step: str) -> None:
    check(train(head="cudnn.benchmark = True  # TL405", step=step), "TL405")


@pytest.mark.parametrize(
    ("head", "step"),
    [
        ("cudnn.benchmark = True", "x = F.interpolate(x, size=(224, 224))"),
        ("cudnn.benchmark = True", "n = random.choice([224, 256]); x = F.interpolate(x, size=n)"),
        ("cudnn.benchmark = False", "x = F.interpolate(x, size=random.randrange(200, 400))"),
        ("", "cudnn.benchmark = args.tune; x = F.interpolate(x, size=random.randrange(200, 400))"),
    ],
)
def test_tuned_for_few_sizes_or_not_at_all(head: str, step: str) -> None:
    check(train(head=head, step=step), "TL405")


@pytest.mark.parametrize(
    "head",
    [
        "torch.use_deterministic_algorithms(True)  # TL406",
        "cudnn.deterministic = True  # TL406",
        "def seed():\n    torch.use_deterministic_algorithms(mode=True)  # TL406",
    ],
)
def test_determinism_forced(head: str) -> None:
    check(train(head=head), "TL406")


@pytest.mark.parametrize(
    "first",
    [
        "torch.use_deterministic_algorithms(args.exact)",
        "cudnn.deterministic = True if args.seed else False",
        "torch.use_deterministic_algorithms(False)",
    ],
)
def test_determinism_asked_for(first: str) -> None:
    check(train(first=first), "TL406")
    check(train(head="def seed(n):\n    if n is not None:\n        cudnn.deterministic = True"), "TL406")
