"""TL102: which questions about truth are reported, and where."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports

FORWARD = """
import torch
from torch import nn

END = object()

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x, m=None):
        y = self.lin(x)
        {line}
        return y
"""


@pytest.mark.parametrize(
    "line",
    [
        "if (y > 0).any(): y = y * 2",
        "if not (y == y).all(): y = y * 2",
        "y = y if y.sum() > 0 else -y",
        "assert torch.isfinite(y).all(), 'bad'",
        "while y.norm() > 1: y = y / 2",
        "ok = bool((y > 0).all())",
        "ok = y.max() > 1 or y.min() < -1",
        "ok = not y.any()",
        "rows = [r for r in y if r.sum() > 0]",
        "if x.shape[0] > 1 and y.max() > 3: y = y * 2",
        "if (top := y.max()) > 3: y = y / top",
        "if y.max() in (1, 2): y = y * 2",
        "if 2 in [y, y]: y = y * 2",
    ],
)
def test_truths_of_tensors(line: str) -> None:
    check(FORWARD.format(line=f"{line}  # TL102"), "TL102")


@pytest.mark.parametrize(
    "line",
    [
        "if y.shape[0] > 1: y = y * 2",
        "if y.is_cuda and y.dim() == 2: y = y * 2",
        "if m is not None: y = y * m",
        "if isinstance(m, torch.Tensor): y = y * m",
        "if y.dtype == torch.float32 and y.requires_grad: y = y * 2",
        "if len(y) and y.numel(): y = y * 2",
        "if self.training: y = y * 2",
        "y = torch.where(y > 0, y, -y)",
        "if torch.equal(y, x): y = y * 2",
        "if torch.is_tensor(m): y = y * 2",
        "if END in [y, y]: y = y * 2",
    ],
)
def test_questions_of_the_host(line: str) -> None:
    check(FORWARD.format(line=line), "TL102")


def test_the_condition_is_reported_once_a_line() -> None:
    one_line = FORWARD.format(line="if (y > 9).any() or (y < -9).any(): y = y * 2")
    assert len(reports(one_line, "TL102")) == 1
    check(
        """
        from torch import nn
        class Layer(nn.Module):
            def forward(self, x):
                y = x.detach()
                if (
                    (y > 9).any()  # TL102
                    or (y < -9).any()  # TL102
                ):
                    x = x / 2
                return x
        """,
        "TL102",
    )


def test_a_flag_costs_nothing_until_its_truth_is_asked() -> None:
    check(
        """
        import torch

        def seems_fine(v):
            return torch.isfinite(v).all()

        def run(net, feed, opt, every):
            flag = torch.tensor(True, device="cuda")
            for k, a in enumerate(feed):
                q = net(a).mean()
                q.backward()
                flag &= seems_fine(q)
                opt.step()
                opt.zero_grad()
                if k % every == 0 and not flag:
                    raise ValueError(k)
                if seems_fine(q):  # TL102
                    continue
        """,
        "TL102",
    )


def test_the_end_of_decoding_is_inherent_and_that_of_training_is_not() -> None:
    check(
        """
        import torch

        @torch.inference_mode()
        def talk(net, ids, end):
            done = torch.zeros(len(ids), dtype=torch.bool, device="cuda")
            while not done.all():
                nxt = net(ids.cuda()).argmax(-1)
                done |= nxt == end
                ids = torch.cat([ids, nxt], 1)
                if (nxt == end).any():  # TL102
                    nxt = nxt + 1

        def fit(net, feed, opt):
            for a in feed:
                q = net(a.cuda()).mean()
                q.backward()
                opt.step()
                opt.zero_grad()
                if q < 1e-3:  # TL102
                    break
        """,
        "TL102",
    )


def test_tests_and_set_up_are_cold() -> None:
    check(
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self, table):
                super().__init__()
                table = table.cuda()
                if (table < 0).any():
                    raise ValueError

        def test_net():
            net = Net(torch.ones(3))
            for _ in range(5):
                y = net(torch.ones(3).cuda())
                y.sum().backward()
                assert (y > 0).all()
        """,
        "TL102",
    )
