"""TL301: exp(x) / exp(x).sum(...) in any spelling, and the quotients that only look like it."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "a function, torch aliased": """
        import torch as th

        def f(a):
            b = th.exp(a)
            return th.div(b, b.sum(dim=1, keepdim=True))  # TL301
        """,
    "in place": """
        import torch

        def f(a):
            a = a - a.max(-1, keepdim=True).values
            a = a.exp()
            a /= a.sum(-1, keepdim=True)  # TL301
            return a
        """,
    "the sum first, in a method, cast and shaped": """
        from torch import nn

        class M(nn.Module):
            def forward(self, u):
                w = u.float().exp()
                s = w.sum(dim=-1)
                z = s.unsqueeze(-1).clamp(min=1e-6)
                return (w / z).type_as(u)  # TL301
        """,
    "a helper that exponentiates": """
        import torch

        def raise_up(t):
            return torch.exp(t - t.amax(1, keepdim=True))

        def f(t):
            e = raise_up(t)
            return e / e.sum(1, keepdim=True)  # TL301
        """,
    "in a comprehension": """
        import torch

        def f(rows):
            return [torch.exp(r) / torch.exp(r).sum() for r in rows]  # TL301
        """,
    "the reciprocal": """
        import torch

        def f(a):
            e = a.exp()
            return e * e.sum(-1, keepdim=True).reciprocal(), e * (1.0 / e.sum(-1, keepdim=True))  # TL301
        """,
    "normalize with p=1": """
        import torch
        from torch.nn import functional as F

        def f(a):
            return F.normalize(a.exp(), p=1, dim=-1)  # TL301
        """,
}
SILENT = {
    "a sum over processes": """
        import torch
        import torch.distributed as dist

        def f(a, group):
            e = torch.exp(a)
            total = e.sum(dim=-1)
            dist.all_reduce(total, group=group)
            return e.div_(total.unsqueeze(-1))
        """,
    "the size, not the sum": """
        import torch

        def f(a):
            e = torch.exp(a)
            return e / e.size(-1), e / e.shape[0], e / e.mean()
        """,
    "another numerator": """
        import torch

        def f(a, b, prior):
            e = torch.exp(a)
            return b / e.sum(-1, keepdim=True), torch.exp(b) / e.sum(-1, keepdim=True), prior * e / (prior * e + 1.0)
        """,
    "another call of one helper": """
        import torch

        def raise_up(t):
            return torch.exp(t)

        def f(a, b):
            return raise_up(a) / raise_up(b).sum(-1, keepdim=True)
        """,
    "the name was bound anew in between": """
        import torch

        def f(a, b):
            e = a.exp()
            s = e.sum(-1, keepdim=True)
            e = b.exp()
            return e / s
        """,
    "positives against all": """
        import torch

        def f(pos, neg):
            p = pos.exp()
            return p / (p + neg.exp().sum(-1, keepdim=True))
        """,
    "a window of constants": """
        import torch

        def f(size, width):
            x = torch.arange(size) - size // 2
            g = torch.exp(-x.pow(2) / (2 * width**2))
            return g / g.sum()
        """,
    "NumPy": """
        import numpy as np
        import torch

        def f(a):
            e = np.exp(a)
            return torch.from_numpy(e / e.sum())
        """,
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL301")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str) -> None:
    check(source, "TL301")


def test_compiled_code_is_fused_anyway() -> None:
    check(
        """
        import torch

        @torch.compile
        def f(a):
            e = a.exp()
            return e / e.sum(-1, keepdim=True)  # TL301
        """,
        "TL301",
        possible=True,
    )


def test_a_masked_softmax_is_possible() -> None:
    check(
        """
        import torch

        def f(a, mask):
            e = torch.exp(a) * mask
            return e / e.sum(-1, keepdim=True)  # TL301
        """,
        "TL301",
        possible=True,
    )
