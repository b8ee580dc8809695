"""TL104: which texts of device tensors are reported."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

LOOP = """
import logging
import sys
import torch
from tqdm import tqdm

out = logging.getLogger("x")

def run(net, feed, opt, debug=False):
    bar = tqdm(feed)
    for k, a in enumerate(bar):
        q = net(a.cuda()).mean()
        opt.zero_grad()
        q.backward()
        opt.step()
        {line}
"""


@pytest.mark.parametrize(
    "line",
    [
        "print(q)",
        "print('q', k, q)",
        "print(f'{k}: {q:.4f}')",
        "out.info('q %s', q)",
        "out.warning(f'{q}')",
        "logging.info('%s', q.detach())",
        "sys.stdout.write('%.3f' % q)",
        "sys.stdout.write('{:.3f}'.format(q))",
        "sys.stdout.write(str(q))",
        "sys.stdout.write(repr(q))",
        "bar.set_postfix(q=q)",
        "bar.set_description(f'q {q}')",
        "print({'q': q})",
        "print([q, q])",
    ],
)
def test_texts_in_a_training_loop(line: str) -> None:
    check(LOOP.format(line=f"{line}  # TL104"), "TL104")


@pytest.mark.parametrize(
    "line",
    [
        "print(k, a.shape, q.device, q.dtype, len(a))",
        "print(f'{a.size(0)} of {k}')",
        "print(q.item())",
        "print(q.cpu())",
        "if k % 10 == 0: print(q)",
        "if debug: print(q)",
        "out.debug('q %s', q)",
        "assert k >= 0, f'{q}'",
        "if k < 0: raise ValueError(f'{q}')",
        "bar.set_postfix(k=k)",
    ],
)
def test_texts_of_the_host_and_rare_ones(line: str) -> None:
    check(LOOP.format(line=line), "TL104")


def test_in_a_helper_and_a_method() -> None:
    check(
        """
        import torch

        def words(v):
            return f"now {v:.3f}"  # TL104

        class Runner:
            def say(self, v):
                print("got", v)  # TL104

            def run(self, net, feed, opt):
                for a in feed:
                    q = net(a.cuda()).mean()
                    q.backward()
                    opt.step()
                    opt.zero_grad()
                    self.say(q)
                    self.line = words(q)
        """,
        "TL104",
    )


def test_a_helper_that_every_caller_gates() -> None:
    check(
        """
        import torch

        def words(v):
            return f"now {v:.3f}"

        def run(net, feed, opt):
            for k, a in enumerate(feed):
                q = net(a.cuda()).mean()
                q.backward()
                opt.step()
                opt.zero_grad()
                if k % 100 == 0:
                    print(words(q))
        """,
        "TL104",
    )


def test_text_that_is_made_when_it_is_asked_for() -> None:
    check(
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                y = x.relu()
                verify(y.dim() == 3, lambda: f"odd {y}")
                verify(y.dim() == 3, f"odd {y}")  # TL104
                return y
        """,
        "TL104",
    )
