"""TL508, TL509, TL511: copies that need not be made."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports
from torchlint.findings import Applicability

STEP = """
import numpy as np
import torch
from torch import nn

def learn(net, opt, *parts):
    net(*parts).sum().backward()
    opt.step()
"""


@pytest.mark.parametrize(
    "made",
    [
        "torch.zeros(8, n).to(place)",
        "torch.ones(n, dtype=torch.bool).cuda()",
        "(torch.arange(n) / n).to(place)",
        "torch.ones(n, n).triu(1).to(x.device)",
        "torch.exp(-0.5 * torch.arange(n).float()).to(x)",
        "torch.randn(n).to(device=place, non_blocking=True)",
        "[torch.full((n,), k).to(place) for k in range(3)]",
    ],
)
def test_factories_that_could_have_made_it_there(made: str) -> None:
    check(f"{STEP}\ndef part(x, place):\n    n = x.shape[0]\n    return {made}  # TL508\n", "TL508")


def test_across_statements_and_in_methods() -> None:
    check(
        f"""{STEP}
class Block(nn.Module):
    def forward(self, x):
        mask = torch.ones(x.shape[1], x.shape[1])
        mask = torch.tril(mask)
        mask = mask.to(x.device)  # TL508
        rows, columns = torch.meshgrid(torch.arange(x.shape[0]), torch.arange(x.shape[1]), indexing="ij")
        rows, columns = (
            rows.to(x.device),  # TL508
            columns.to(x.device),  # TL508
        )
        first, last = torch.meshgrid(torch.arange(x.shape[0]), torch.arange(x.shape[1]), indexing="ij")
        first, last = first.float().to(x.device), last.float().to(x.device)  # TL508
        return x * mask + rows - columns + first / last
""",
        "TL508",
    )


@pytest.mark.parametrize(
    "made",
    [
        "torch.zeros(8, device=place).to(torch.float16)",
        "torch.zeros(8).to(torch.float16)",
        "torch.empty(8, pin_memory=True).to(place)",
        "torch.randn(8, generator=draw).to(place)",
        "torch.tensor(rows).to(place)",
        "torch.zeros(8).to('cpu')",
        "torch.stack([torch.zeros(8), torch.tensor(rows)]).to(place)",
        "nn.Linear(8, 8).to(place)",
    ],
)
def test_what_needs_the_host(made: str) -> None:
    check(f"{STEP}\ndef part(place, draw, rows):\n    return {made}\n", "TL508")


def test_the_host_reads_or_writes_it_as_well() -> None:
    check(
        f"""{STEP}
def part(rows, place):
    order = torch.randperm(len(rows))
    mask = torch.zeros(len(rows))
    for k in range(len(rows)):
        mask[k] = rows[k]
    return order.to(place), order.tolist(), mask.to(place)
""",
        "TL508",
    )


@pytest.mark.parametrize(
    ("made", "repaired", "safe"),
    [
        ("torch.zeros(3).to(device=place)", "torch.zeros(3, device=place)", True),
        ("(torch.zeros(3)).to('cuda')", "torch.zeros(3, device='cuda')", True),
        ("torch.zeros(3).to(place)", "torch.zeros(3, device=place)", False),  # it may be a dtype
        ("torch.randn(3).cuda()", 'torch.randn(3, device="cuda")', False),
    ],
)
def test_the_repair_of_one_expression(made: str, repaired: str, safe: bool) -> None:
    ((_, report),) = reports(f"import torch\ndef part(place):\n    return {made}\n", "TL508")
    assert report.fix is not None
    assert [edit.content for edit in report.fix.edits] == [repaired]
    assert (report.fix.applicability is Applicability.SAFE) is safe


@pytest.mark.parametrize(
    "move", ["learn(net, opt, x, fixed.to(place))", "twin.to(place)", "parts = [fixed.cuda() for _ in (1,)]"]
)
def test_the_same_thing_moved_on_every_step(move: str) -> None:
    check(
        f"""{STEP}
def run(net, twin, opt, feed, fixed, place):
    for x in feed:
        learn(net, opt, x)
        {move}  # TL509
""",
        "TL509",
    )


@pytest.mark.parametrize(
    "move",
    [
        "fixed = fixed.to(place)",
        "y = x.to(place)",
        "fixed[0] = 1.0; learn(net, opt, fixed.to(place))",
        "fixed.mul_(2); learn(net, opt, fixed.to(place))",
        "twin.to(place); twin.to('cpu')",
        "y = fixed.to(torch.float16)",
        "y = fixed.to(place) if n % 100 == 0 else None",
        "y = fixed.to(device=place, dtype=torch.float16)",  # it may be there already, of another type
    ],
)
def test_what_changes_in_the_loop(move: str) -> None:
    check(
        f"""{STEP}
def run(net, twin, opt, feed, fixed, place):
    for n, x in enumerate(feed):
        learn(net, opt, x)
        {move}
""",
        "TL509",
    )


def test_a_constant_of_the_code_around() -> None:
    check(
        f"""{STEP}
SHIFT = torch.tensor([0.1, 0.2])
GROWS = torch.zeros(2)

def make(net, opt, place, rows):
    weights = torch.tensor(rows)
    scale = torch.ones(2)
    scale = scale * 2
    def step(x):
        GROWS.add_(1)
        y = net(x) * weights.to(place) + SHIFT.to(place)  # TL509
        learn(net, opt, y * scale.to(place), GROWS.to(place))
    return step

def each(net, opt, place, feed):
    for x in feed:
        noise = torch.from_numpy(world.look())
        def closure():
            loss = (net(x.to(place)) + noise.to(place)).mean()
            loss.backward()
            return loss
        opt.step(closure)

def run(net, opt, place, rows, feed):
    step = make(net, opt, place, rows)
    for x in feed:
        step(x.to(place))
""",
        "TL509",
    )


def test_a_constant_of_a_module() -> None:
    check(
        f"""{STEP}
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.kept = torch.linspace(0, 1, n)
        self.cached = torch.linspace(0, 1, n)
        self.register_buffer("held", torch.ones(n))
    def forward(self, x):
        self.cached = self.cached.to(x.device)
        return x * self.kept.to(x.device) * self.held.to(x.dtype) * self.cached  # TL509
""",
        "TL509",
    )


@pytest.mark.parametrize(
    "trip",
    [
        "torch.from_numpy(np.sort(v.detach().cpu().numpy())).to(v.device)",
        "v.detach().cpu().argsort()[:3].cuda()",
        "torch.as_tensor(np.cumsum(v.cpu().numpy(), 0), device=v.device)",
        "(v.cpu() * 2).to(v.device)",
    ],
)
def test_there_and_back(trip: str) -> None:
    check(f"{STEP}\nclass Block(nn.Module):\n    def forward(self, v):\n        return {trip}  # TL511\n", "TL511")


def test_there_and_back_through_helpers() -> None:
    check(
        f"""{STEP}
def out(t):
    return t.detach().cpu().numpy()

def run(net, opt, feed, place):
    for x in feed:
        y = net(x.to(place))
        low = np.clip(out(y), 0, 1)
        learn(net, opt, torch.from_numpy(low).to(place))  # TL511
""",
        "TL511",
    )


def test_trips_that_are_needed_rare_or_one_way() -> None:
    check(
        f"""{STEP}
def run(net, opt, world, rows, place):
    for n in range(1000):
        act = net(torch.from_numpy(world.look()).to(place)).argmax(-1).cpu().numpy()
        seen = torch.from_numpy(world.step(act)).to(place)
        learn(net, opt, seen, torch.from_numpy(np.sort(rows)).to(place))
        if n % 500 == 0:
            net.table = torch.from_numpy(np.sort(net.weight.detach().cpu().numpy())).to(place)
""",
        "TL511",
    )
