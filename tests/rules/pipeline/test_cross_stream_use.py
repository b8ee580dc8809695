"""TL512: a tensor of one stream used on another, and nothing orders the two."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

MADE = """
import torch

def go(net, opt, feed, place, ready):
    side = torch.cuda.Stream()
    for host in feed:
        with torch.cuda.stream(side):
            x = host.to(place, non_blocking=True)
        {between}
        y = net(x)  {mark}
        y.sum().backward()
"""


def test_used_before_the_streams_meet() -> None:
    check(MADE.format(between="pass", mark="# TL512"), "TL512")


@pytest.mark.parametrize(
    "between",
    [
        "torch.cuda.current_stream().wait_stream(side)",
        "torch.cuda.current_stream().wait_event(ready)",
        "side.synchronize()",
        "torch.cuda.synchronize()",
    ],
)
def test_something_orders_them(between: str) -> None:
    check(MADE.format(between=between, mark=""), "TL512")


def test_the_current_stream_is_no_other_and_one_stream_is_ordered() -> None:
    check(
        """
import torch

def go(net, x, side):
    with torch.cuda.stream(torch.cuda.current_stream()):
        a = net(x)
    with torch.cuda.stream(side):
        b = net(x)
    with torch.cuda.stream(side):
        c = b + 1
        d = b.sum()
    return a.sum()
""",
        "TL512",
    )


@pytest.mark.parametrize(
    ("after", "mark"), [("pass", "# TL512"), ("y.record_stream(side)", ""), ("side.synchronize()", "")]
)
def test_dropped_while_the_other_stream_reads(after: str, mark: str) -> None:
    check(
        f"""
import torch

def go(net, feed, total):
    side = torch.cuda.Stream()
    for x in feed:
        y = net(x).softmax(-1)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            total.add_(y)  {mark}
        {after}
    return total
""",
        "TL512",
    )


def test_the_body_of_a_class_in_a_function_is_done_with_the_function() -> None:
    check(
        """
import torch

def go(net, feed, total):
    side = torch.cuda.Stream()
    for x in feed:
        y = net(x).softmax(-1)
        side.wait_stream(torch.cuda.current_stream())
        class Kept:
            with torch.cuda.stream(side):
                total.add_(y)  # TL512
    return total
""",
        "TL512",
    )
