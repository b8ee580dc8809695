"""TL110: which explicit waits are reported."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports
from torchlint.findings import Applicability

LOOP = """
import time
import torch
from torch.cuda import synchronize

def run(net, feed, opt, profile=False):
    net = net.cuda()
    side = torch.cuda.Stream()
    mark = torch.cuda.Event()
    for k, a in enumerate(feed):
        net(a).mean().backward()
        opt.step()
        opt.zero_grad()
        {line}
"""


@pytest.mark.parametrize(
    "line",
    [
        "torch.cuda.synchronize()",
        "synchronize()",
        "torch.accelerator.synchronize()",
        "side.synchronize()",
        "mark.synchronize()",
        "torch.cuda.current_stream().synchronize()",
    ],
)
def test_waits_in_a_training_loop(line: str) -> None:
    check(LOOP.format(line=f"{line}  # TL110"), "TL110")


@pytest.mark.parametrize(
    "line",
    [
        "torch.cuda.current_stream().wait_stream(side)",
        "mark.record()",
        "torch.cuda.synchronize() if k % 10 == 0 else None",
        "if profile: torch.cuda.synchronize()",
        "torch.cuda.synchronize(); spent = time.perf_counter()",
    ],
)
def test_waits_of_the_device_rare_ones_and_clocks(line: str) -> None:
    check(LOOP.format(line=line), "TL110")


def test_a_clock_around_the_epoch_excuses_no_wait_in_the_step() -> None:
    check(
        """
        import time
        import torch

        def settle():
            torch.cuda.synchronize()  # TL110

        def run(net, feed, opt):
            start = time.time()
            for a in feed:
                net(a.cuda()).mean().backward()
                opt.step()
                opt.zero_grad()
                settle()
            print(time.time() - start)
        """,
        "TL110",
    )


def test_a_timer_that_waits_through_helpers() -> None:
    check(
        """
        import time
        import torch

        class Watch:
            def now(self):
                torch.cuda.synchronize()
                return time.perf_counter()

        def settle():
            torch.cuda.synchronize()

        def run(net, feed, opt):
            watch, spans = Watch(), []
            for a in feed:
                begin = watch.now()
                net(a.cuda()).mean().backward()
                opt.step()
                opt.zero_grad()
                settle()
                spans.append(watch.now() - begin)
        """,
        "TL110",
    )


def test_a_wait_that_makes_a_copy_safe_to_read() -> None:
    check(LOOP.format(line="h = a.cuda().to('cpu', non_blocking=True); torch.cuda.synchronize()"), "TL110")


def test_the_fix_removes_the_statement() -> None:
    ((_, report),) = reports(LOOP.format(line="torch.cuda.synchronize()"), "TL110")
    assert report.fix is not None
    assert report.fix.applicability is Applicability.UNSAFE
    assert [edit.where for edit in report.fix.edits] == ["delete"]
