"""TL303: the logarithm of a softmax, directly or after picking, and the logarithms of other things."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "one expression": """
        import torch.nn.functional as fn

        def f(u, y):
            return fn.nll_loss(fn.softmax(u, 1).log(), y)  # TL303
        """,
    "through a helper, cast and picked": """
        import torch

        def share(u):
            return torch.softmax(u.float(), dim=-1)

        def f(u, i):
            p = share(u)
            return -torch.log(p.gather(1, i[:, None]).squeeze(1).clamp_min(1e-9)).mean()  # TL303
        """,
    "an index and a constant": """
        import torch

        def f(u, y):
            p = u.softmax(-1)
            return torch.log(1e-7 + p[torch.arange(len(y)), y])  # TL303
        """,
    "one that is written out": """
        import torch

        def f(u):
            e = torch.exp(u)
            p = e / e.sum(dim=1, keepdim=True)
            return -torch.log(p.diagonal()).mean()  # TL303
        """,
    "a Sequential that ends in one": """
        import torch
        from torch import nn

        class Policy(nn.Module):
            def __init__(self, d, n):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(d, n), nn.Softmax(dim=-1))

            def entropy(self, x):
                p = self.net(x)
                return -(p * p.log()).sum(-1)  # TL303
        """,
    "in a comprehension": """
        import torch

        def f(parts):
            return [torch.log(torch.softmax(u, 0)) for u in parts]  # TL303
        """,
}
SILENT = {
    "a share of other exponentials": """
        import torch

        def f(u, v):
            return -torch.log(torch.exp(u) / torch.exp(v).sum(dim=1)).mean()
        """,
    "a mixture": """
        import torch

        def f(w, u):
            p = u.softmax(-1)
            return torch.log((w[..., None] * p).sum(1)), p.mean(0).log()
        """,
    "sums of probabilities": """
        import torch

        def f(u, mask):
            p = torch.softmax(u, -1)
            return torch.log((p * mask).sum(-1)), torch.log1p(-p)
        """,
    "log_softmax": """
        import torch

        def f(u):
            return torch.log_softmax(u, -1), torch.sigmoid(u).log()
        """,
    "the name was bound anew": """
        import torch

        def f(u, counts):
            p = torch.softmax(u, -1)
            q = p.sum()
            p = counts / counts.sum()
            return p.log(), q
        """,
    "NumPy": """
        import numpy as np
        from scipy.special import softmax

        def f(u):
            return np.log(softmax(u))
        """,
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL303")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str) -> None:
    check(source, "TL303")


def test_only_one_branch_is_a_softmax() -> None:
    check(
        """
        import torch

        def f(u, single):
            if single:
                p = torch.sigmoid(u)
            else:
                p = torch.softmax(u, -1)
            return p.log()  # TL303
        """,
        "TL303",
        possible=True,
    )
