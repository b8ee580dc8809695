"""TL505: a copy to the host that is read before anything waited for it."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports

COPY = 'y = net(x).to("cpu", non_blocking=True)'


@pytest.mark.parametrize(
    "read",
    [
        "return y.numpy()",
        "return y.tolist()",
        "return y.view(-1).sum()",
        "return y + 1",
        "return y[0]",
        "print(y)",
        "return f'{y}'",
        "return torch.cat([y, y])",
        "return float(y)",
        "return [row * 2 for row in [y]]",
    ],
)
def test_reads_of_a_copy_under_way(read: str) -> None:
    check(f"import torch\n\ndef go(net, x):\n    {COPY}\n    {read}  # TL505\n", "TL505")


@pytest.mark.parametrize(
    "between",
    [
        "torch.cuda.synchronize()",
        "torch.cuda.current_stream().synchronize()",
        "mark = torch.cuda.Event(); mark.record(); mark.synchronize()",
        "settle()",
        "seen = net(x).sum().item()",
        "work.wait()",
    ],
)
def test_a_wait_between_copy_and_read(between: str) -> None:
    check(
        f"""
import torch

def settle():
    torch.cuda.synchronize()

def go(net, x, work):
    {COPY}
    {between}
    return y.numpy()
""",
        "TL505",
    )


def test_through_helpers_containers_and_methods() -> None:
    check(
        """
import torch

def bring(t):
    return t.to(device="cpu", non_blocking=True)

def write(t, out):
    out.write(str(t.tolist()))  # TL505

def one(net, x):
    return bring(net(x)).numpy()  # TL505

def two(net, x, out):
    y = net(x).to("cpu", non_blocking=True)
    write(y, out)

def three(net, x):
    parts = {k: v.to("cpu", non_blocking=True) for k, v in net(x).items()}
    return parts["a"].tolist()  # TL505

def four(net, rows):
    held = []
    for x in rows:
        held.append(net(x).to("cpu", non_blocking=True))
    return torch.cat(held)  # TL505

class Sink:
    def take(self, values):
        room = torch.empty(values.shape, pin_memory=True)
        room.copy_(values.cuda(), non_blocking=True)
        return room.numpy()  # TL505
""",
        "TL505",
    )


def test_waits_of_callers_and_callees() -> None:
    check(
        """
import torch

def bring(t):
    y = t.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    return y

def write(t, out):
    out.write(str(t.tolist()))

def one(net, x):
    return bring(net(x)).numpy()

def two(net, x, out):
    y = net(x).to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    write(y, out)

def three(net, rows, ready):
    held = []
    for x in rows:
        held.append(net(x).to("cpu", non_blocking=True))
    ready.synchronize()
    return torch.cat(held)
""",
        "TL505",
    )


def test_copies_that_wait_go_elsewhere_or_are_not_read() -> None:
    check(
        """
import torch

def go(net, x, y, flag):
    net.eval().to("cpu", non_blocking=True)
    a = x.to("cpu")
    b = x.to("cuda", non_blocking=True)
    c = torch.empty(4)
    c.copy_(x, non_blocking=True)
    d = x.to("cpu", non_blocking=True)
    e = y.cpu()
    f = [x.to("cpu", non_blocking=True)]
    return a.numpy(), b + 1, c.numpy(), d.shape, d.cuda(), net.state_dict(), (None,) + tuple(f)
""",
        "TL505",
    )


def test_before_the_copy_there_is_nothing_to_race_with() -> None:
    check(
        """
import torch

class Behind:
    def __init__(self):
        self.last, self.mark = None, torch.cuda.Event()
    def push(self, x):
        out = None
        if self.last is not None:
            self.mark.synchronize()
            out = self.last.numpy()
        self.last = x.to("cpu", non_blocking=True)
        self.mark.record()
        return out
""",
        "TL505",
    )


def test_the_first_read_is_reported_and_names_the_copy() -> None:
    source = f"def go(net, x):\n    {COPY}\n    a = y.numpy()\n    return a, y.tolist()\n"
    ((row, report),) = reports(source, "TL505")
    assert row == 3
    assert "y.numpy()" in report.message
    assert "non_blocking" in report.message
    assert [text for text, _ in report.related] == ["the copy starts here"]
