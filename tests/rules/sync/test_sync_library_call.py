"""TL111: which library calls that wait inside are reported."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports
from torchlint.findings import Confidence

LOOP = """
import torch
import torch.distributions as D
from torch import nn
from torch.distributions import Normal
from torch.nn.utils import clip_grad_norm_ as clip

def whiten(v):
    return v.T @ v

def run(net, feed, opt, path):
    net = net.cuda()
    scaler = torch.amp.GradScaler()
    for k, a in enumerate(feed):
        y = net(a)
        c = whiten(y)
        y.mean().backward()
        opt.step()
        opt.zero_grad()
        {line}
"""


@pytest.mark.parametrize(
    "line",
    [
        "z = torch.linalg.svd(c)",
        "z = torch.linalg.eigh(c)[0]",
        "z = torch.linalg.cholesky(c)",
        "z = c.inverse()",
        "z = torch.linalg.solve(c, c)",
        "z = torch.linalg.lstsq(c, c).solution",
        "z = torch.allclose(c, c.T)",
        "z = c.equal(c.T)",
        "if torch.equal(c, c.T): pass",
        "z = D.Categorical(logits=y)",
        "z = Normal(y, 1.0)",
        "clip(net.parameters(), 1.0, error_if_nonfinite=True)",
        "z = scaler.get_scale()",
        "torch.save(net.state_dict(), path)",
        "z = nn.functional.ctc_loss(y, y, y.argmax(-1), y.argmax(-1))",
        "z = torch.cov(y), c.corrcoef()",
        "z = torch.linalg.matrix_norm(c, 'nuc')",
        "z = nn.utils.rnn.pack_padded_sequence(y, [3, 5], enforce_sorted=False)",
        "z = nn.GaussianNLLLoss()(y, y, y)",
        "z = torch.histc(y, 10)",
        "z = torch.normal(y, y.exp())",
        "z = D.categorical.Categorical(y)",
        "z = D.Independent(z, 1).log_prob(y) if k else D.Independent(Normal(y, y), 1)",
        "torch.optim.lr_scheduler.ReduceLROnPlateau(opt).step(y.mean())",
        "torch.optim.SGD([y], lr=y.mean()).step()",
    ],
)
def test_calls_that_wait(line: str) -> None:
    check(LOOP.format(line=f"{line}  # TL111"), "TL111")


@pytest.mark.parametrize(
    "line",
    [
        "z = torch.linalg.cholesky_ex(c)",
        "z = torch.linalg.qr(c), torch.linalg.det(c)",
        "z = torch.linalg.svd(c.cpu())",
        "z = torch.isclose(c, c.T)",
        "z = D.Categorical(logits=y, validate_args=False)",
        "clip(net.parameters(), 1.0)",
        "if k % 100 == 0: torch.save(net.state_dict(), path)",
        "z = torch.multinomial(y.softmax(-1), 1), y.topk(2), y.sort()",
        "scaler.update()",
        "z = torch.linalg.matrix_norm(c)",
        "z = nn.utils.rnn.pack_padded_sequence(y, [3, 5])",
        "z = torch.histc(y, 10, 0.0, 1.0)",
        "z = torch.normal(y, 0.1)",
        "z = D.Normal(0.0, 1.0)",
        "torch.optim.lr_scheduler.ReduceLROnPlateau(opt).step(0.5)",
        "torch.optim.SGD([y], lr=y.mean(), fused=True).step()",
    ],
)
def test_calls_that_do_not_and_rare_ones(line: str) -> None:
    check(LOOP.format(line=line), "TL111")


def test_validation_switched_off_for_the_file() -> None:
    check("from torch.distributions import Distribution\nDistribution.set_default_validate_args(False)\n"
          + LOOP.format(line="z = D.Categorical(logits=y)"), "TL111")  # fmt: skip


def test_what_is_kept_is_computed_once() -> None:
    check(
        """
        import torch
        from torch import nn

        class Layer(nn.Module):
            def basis(self, x):
                kept = self.cache.get(x.shape)
                if kept is not None:
                    return kept
                kept = torch.linalg.pinv(x)
                self.cache[x.shape] = kept
                return kept

            def forward(self, x, m=None):
                if m is not None:
                    return m
                return torch.linalg.pinv(self.basis(x))  # TL111
        """,
        "TL111",
    )


def test_saving_on_every_step_and_saving_now_and_then() -> None:
    source = """
        import torch

        def run(net, feed, opt, path, best):
            for x in feed:
                loss = net(x.cuda()).mean()
                loss.backward()
                opt.step()
                torch.save(net.state_dict(), path)
                torch.save(loss.detach().cpu(), path)
                if best:
                    torch.save(net.state_dict(), path)
    """
    assert [(row, report.confidence) for row, report in reports(source, "TL111")] == [
        (9, Confidence.LIKELY),
        (12, Confidence.POSSIBLE),
    ]
