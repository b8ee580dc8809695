"""TL503: a copy of a pinned batch that blocks."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports

HEAD = """
import torch
from torch.utils.data import DataLoader as Feed

def step(net, opt, *parts):
    net(*parts).sum().backward()
    opt.step()
"""


@pytest.mark.parametrize(
    "move",
    [
        "a = b.to(place)",
        "a = b.cuda()",
        "a = b['x'].to(device=place, dtype=torch.float16)",
        "a = [part.to(place) for part in b]",
        "a = b.to(place, non_blocking=False)",
        "a, c = b[0].cuda(), 1",
    ],
)
def test_copies_that_block(move: str) -> None:
    check(
        f"""{HEAD}
def run(net, opt, rows, place):
    for n, b in enumerate(Feed(rows, num_workers=2, pin_memory=True)):
        {move}  # TL503
        step(net, opt, a)
""",
        "TL503",
    )


def test_in_helpers_methods_and_generators() -> None:
    check(
        f"""{HEAD}
def over(thing, place):
    if isinstance(thing, torch.Tensor):
        return thing.to(place)  # TL503
    if isinstance(thing, dict):
        return {{k: over(v, place) for k, v in thing.items()}}
    return [over(v, place) for v in thing]

class Ahead:
    def __init__(self, feed, place):
        self.feed, self.place = feed, place
    def __iter__(self):
        for b in self.feed:
            yield b.to(self.place)  # TL503

class Recipe:
    def __init__(self, rows):
        self.feed = Feed(rows, num_workers=2, pin_memory=True)
    def run(self, net, opt, place):
        draw = iter(self.feed)
        for _ in range(100):
            b = next(draw)
            step(net, opt, over(b, place))
        for b in Ahead(self.feed, place):
            step(net, opt, b)

def staged(net, opt, rows):
    buffer = torch.empty(64, 64, pin_memory=True)
    for row in rows:
        buffer.copy_(torch.from_numpy(row))
        step(net, opt, buffer[:8].to("cuda"))  # TL503
""",
        "TL503",
    )


def test_copies_that_do_not_block_are_rare_or_go_elsewhere() -> None:
    check(
        f"""{HEAD}
def run(net, opt, rows, place, later, table):
    net = net.to(place)
    table = table.pin_memory().to(place)
    feed = Feed(rows, num_workers=2, pin_memory=True)
    first = next(iter(feed)).to(place)
    for n, b in enumerate(feed):
        if n % 100 == 0:
            show = b.to(place)
        step(net, opt, b.to(place, non_blocking=True), b.to(place, None, True), b.to(place, non_blocking=later))
        b.to(torch.float32), b.to("cpu"), b.to(dtype=torch.float32), b.to(memory_format=torch.channels_last)
    for b in Feed(rows, num_workers=2):
        step(net, opt, b.to(place))
""",
        "TL503",
    )


def test_a_loader_that_may_pin_is_possible() -> None:
    check(
        f"""{HEAD}
def run(net, opt, rows, place, **options):
    for b in Feed(rows, **options):
        step(net, opt, b.to(place))  # TL503
""",
        "TL503",
        possible=True,
    )


@pytest.mark.parametrize(
    ("call", "edit"),
    [
        ("b.cuda()", "b.cuda(non_blocking=True)"),
        ("b.to(place)", ", non_blocking=True"),
        ("b.to(place, non_blocking=False)", "True"),
    ],
)
def test_the_repair_adds_the_flag(call: str, edit: str) -> None:
    loop = f"for b in Feed(rows, pin_memory=True):\n        step(net, opt, {call})"
    source = f"{HEAD}\ndef run(net, opt, rows, place):\n    {loop}\n"
    ((_, report),) = reports(source, "TL503")
    assert report.fix is not None
    assert [part.content for part in report.fix.edits] == [edit]
