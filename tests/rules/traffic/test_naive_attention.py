"""TL302: attention in any spelling, and the softmaxes that are none or whose weights are wanted."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "scale before, one expression": """
        import torch

        def f(a, b, c):
            return torch.softmax((a * 0.125) @ b.transpose(-2, -1), -1) @ c  # TL302
        """,
    "bmm, an added mask, dropout": """
        import torch
        import torch.nn.functional as F

        def f(a, b, c, bias, p):
            s = torch.bmm(a, b.transpose(1, 2))
            s = s / 8.0 + bias
            w = F.softmax(s, dim=2)  # TL302
            w = F.dropout(w, p)
            return torch.bmm(w, c)
        """,
    "baddbmm": """
        import torch

        def f(a, b, c, bias):
            s = torch.baddbmm(bias, a, b.transpose(1, 2), beta=1.0, alpha=0.125)
            return s.softmax(-1) @ c  # TL302
        """,
    "einsum, a mask filled in place, a module that is kept": """
        import torch
        from torch import nn

        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.Softmax(dim=-1)
                self.drop = nn.Dropout(0.1)

            def forward(self, a, b, c, hide):
                s = torch.einsum("bhid,bhjd->bhij", a, b)
                if hide is not None:
                    s.masked_fill_(hide, float("-inf"))
                w = self.norm(s.float()).type_as(a)  # TL302
                if self.training:
                    w = self.drop(w)
                return torch.einsum("bhij,bhjd->bhid", w, c)
        """,
    "over helpers and methods": """
        import torch
        from torch import nn

        def scores(a, b):
            return torch.matmul(a, b.transpose(-1, -2)) / a.shape[-1] ** 0.5

        class M(nn.Module):
            def weigh(self, a, b, mask):
                s = scores(a, b)
                s = torch.where(mask, s, torch.finfo(s.dtype).min)
                return s.softmax(dim=-1)  # TL302

            def forward(self, a, b, c, mask):
                w = self.weigh(a, b, mask)
                return w @ c
        """,
    "weights on the right": """
        import torch

        def f(a, b, c):
            w = torch.softmax(torch.bmm(a, b), dim=-1)  # TL302
            return torch.bmm(c, w.permute(0, 2, 1))
        """,
    "in a comprehension over heads": """
        import torch

        def f(heads):
            return torch.cat([(a @ b.mT).softmax(-1) @ c for a, b, c in heads], -1)  # TL302
        """,
}
SILENT = {
    "weights returned": """
        import torch

        def f(a, b, c):
            w = (a @ b.transpose(-2, -1)).softmax(-1)
            return w @ c, w
        """,
    "weights kept": """
        from torch import nn

        class M(nn.Module):
            def forward(self, a, b, c):
                self.last = w = (a @ b.transpose(-2, -1)).softmax(-1)
                return w @ c
        """,
    "weights used again": """
        import torch

        def f(a, b, c):
            w = (a @ b.transpose(-2, -1)).softmax(-1)
            entropy = (w * w.clamp(min=1e-9).log()).sum()
            return w @ c, entropy
        """,
    "weights handed to a caller outside": """
        import torch

        def weights(a, b):
            return torch.softmax(a @ b.mT, -1)
        """,
    "the plain side of a dispatch": """
        from torch import nn
        import torch.nn.functional as F

        class M(nn.Module):
            def plain(self, a, b, c):
                return (a @ b.mT).softmax(-1) @ c

            def forward(self, a, b, c):
                if hasattr(F, "scaled_dot_product_attention"):
                    return F.scaled_dot_product_attention(a, b, c)
                return self.plain(a, b, c)
        """,
    "a subclass has the fused call": """
        from torch import nn
        from torch.nn import functional as F

        class Plain(nn.Module):
            def attend(self, a, b, c):
                return (a @ b.mT).softmax(-1) @ c

        class Fused(Plain):
            def attend(self, a, b, c):
                return F.scaled_dot_product_attention(a, b, c)
        """,
    "a router": """
        import torch
        from torch import nn

        class M(nn.Module):
            def __init__(self, n, d):
                super().__init__()
                self.gate = nn.Linear(d, n)
                self.table = nn.Parameter(torch.randn(n, d))

            def forward(self, x):
                return self.gate(x).softmax(-1) @ self.table
        """,
    "something that the fused call cannot do": """
        import torch

        def f(a, b, c):
            return torch.softmax(torch.relu(a @ b.mT), -1) @ c, torch.softmax(50 * torch.tanh(a @ b.mT / 50), -1) @ c
        """,
    "one softmax over all pairs": """
        import torch

        def f(a, b, c):
            pairs = torch.softmax((a @ b.mT).view(a.shape[0], -1), dim=1)
            return pairs.view(a.shape[0], a.shape[1], -1) @ c
        """,
    "a product with a mask afterwards": """
        import torch

        def f(a, b, keep, c):
            w = torch.softmax(a @ b.mT, -1) * keep
            return w @ c
        """,
    "one query for each sample, without an axis of queries": """
        import torch

        def pool(query, keys, values):
            score = torch.einsum("bd,btd->bt", query, keys)
            return torch.einsum("bt,btd->bd", score.softmax(-1), values)
        """,
    "a test's reference": """
        import pytest
        import torch

        def test_attention(q):
            assert torch.allclose((q @ q.mT).softmax(-1) @ q, q)
        """,
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL302")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str) -> None:
    check(source, "TL302")
