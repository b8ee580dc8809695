"""TL502: a loader that feeds a device from memory that is not pinned."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports

HEAD = "import torch\nfrom torch.utils.data import DataLoader as Feed\n"


@pytest.mark.parametrize(
    "move",
    [
        "b = b.to(place)",
        "b = [part.cuda() for part in b]",
        "x, y = b\n        x = x.float().to(place, non_blocking=True)",
        "b = over(b, place)",
        "target = torch.empty(8, device='cuda')\n        target.copy_(b['x'])",
    ],
)
def test_batches_that_go_to_a_device(move: str) -> None:
    check(
        f"""{HEAD}
def over(thing, place):
    if torch.is_tensor(thing):
        return thing.to(place)
    return {{k: over(v, place) for k, v in thing.items()}}

def run(net, rows, place):
    feed = Feed(rows, 8, **{{"num_workers": 2}})  # TL502
    for b in feed:
        {move}
""",
        "TL502",
    )


def test_through_methods_and_accelerate() -> None:
    check(
        f"""{HEAD}
from accelerate import Accelerator

class Recipe:
    def __init__(self, rows):
        self.feed = self.make(rows)
    def make(self, rows):
        return Feed(rows, num_workers=2, pin_memory=False)  # TL502
    def run(self, net):
        for step, b in enumerate(self.feed):
            net(b.to("cuda")).sum().backward()

def other(net, opt, rows):
    speed = Accelerator()
    net, opt, feed = speed.prepare(net, opt, Feed(rows, num_workers=2))  # TL502
    for b in feed:
        speed.backward(net(b))
""",
        "TL502",
    )


@pytest.mark.parametrize(
    "options", ["pin_memory=True", "pin_memory=options.pin", "**options", "pin_memory=torch.cuda.is_available()"]
)
def test_pinned_or_decided_elsewhere(options: str) -> None:
    check(
        f"{HEAD}\ndef run(rows, options):\n    for b in Feed(rows, num_workers=2, {options}):\n        b.cuda()\n",
        "TL502",
    )


def test_batches_that_stay_on_the_host() -> None:
    check(
        f"""{HEAD}
def count(net, rows):
    net.cuda()
    total = torch.zeros(10)
    for _, y in Feed(rows, num_workers=2):
        total += torch.bincount(y.to(torch.int64), minlength=10)
    for x in Feed(rows, num_workers=2):
        total += x.to("cpu").sum()
    return total
""",
        "TL502",
    )


def test_a_loader_that_is_only_handed_out_is_possible() -> None:
    check(f"{HEAD}\ndef make(rows):\n    return Feed(rows, num_workers=2)  # TL502\n", "TL502", possible=True)


def test_the_repair_adds_the_option() -> None:
    ((_, report),) = reports(
        f"{HEAD}\ndef run(rows):\n    for b in Feed(rows, num_workers=2):\n        b.cuda()\n", "TL502"
    )
    assert report.fix is not None
    assert [edit.content for edit in report.fix.edits] == [", pin_memory=True"]
