"""TL304: RMS norm and layer norm written out."""

from __future__ import annotations

import textwrap

import pytest

from tests.rules.helpers import check

FIRES = {
    "RMS, product with itself, a helper": """
        import torch
        from torch import nn

        def even(v, eps):
            return v * torch.rsqrt((v * v).mean(dim=-1, keepdim=True) + eps)  # TL304

        class M(nn.Module):
            def forward(self, v):
                return even(v, 1e-6)
        """,
    "RMS, a division by a square root": """
        from torch import nn

        class M(nn.Module):
            def forward(self, v):
                mean = v.float().pow(2).mean(-1, keepdim=True)
                return v / (mean + 1e-6).sqrt() * self.gain  # TL304
        """,
    "layer norm, a biased variance": """
        import torch
        from torch import nn

        class M(nn.Module):
            def forward(self, v):
                u = v - v.mean(-1, keepdim=True)
                return u * torch.rsqrt(torch.var(v, dim=-1, keepdim=True, unbiased=False) + 1e-5)  # TL304
        """,
    "in a comprehension, powers": """
        from torch import nn

        class M(nn.Module):
            def forward(self, vs):
                return [v * (v.square().mean(-1, True) + 1e-6) ** -0.5 for v in vs]  # TL304
        """,
}
SILENT = {
    "the one of two of a name that a decorator chooses": """
        import torch
        from dispatch import implement_for

        @implement_for("torch", None, "2.4")
        def norm(v, w):
            return v * torch.rsqrt(v.square().mean(-1, keepdim=True) + 1e-5) * w

        @implement_for("torch", "2.4")
        def norm(v, w):
            return torch.nn.functional.rms_norm(v, v.shape[-1:], w, 1e-5)
        """,
    "an epsilon that is learned": """
        import torch
        from torch import nn

        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.eps = nn.Parameter(torch.tensor(0.1))

            def forward(self, v):
                return v * (v.pow(2).mean(-1, keepdim=True) + self.eps.exp()) ** -0.5
        """,
    "not over the last dimension": """
        import torch
        from torch import nn

        class M(nn.Module):
            def forward(self, v):
                rows = (v - v.mean(0)) / torch.sqrt(v.var(0) + 1e-5)
                return rows, v * torch.rsqrt(v.pow(2).mean(1, keepdim=True) + 1e-8)
        """,
    "the scale of another": """
        import torch

        def f(u, v):
            return u * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-6), v / v.norm(dim=-1, keepdim=True)
        """,
    "compiled": """
        import torch
        from torch import nn

        class M(nn.Module):
            def forward(self, v):
                return v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-6)

        net = torch.compile(nn.Sequential(M(), nn.Linear(8, 8)))
        """,
    "the plain side of a dispatch": """
        import torch
        from torch import nn
        from torch.nn import functional as F

        def plain(v, eps):
            return v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + eps)

        def norm(v, eps):
            return F.rms_norm(v, v.shape[-1:], eps=eps) if hasattr(F, "rms_norm") else plain(v, eps)
        """,
    "an optimizer": """
        import torch

        class Opt(torch.optim.Optimizer):
            def step(self):
                for group in self.param_groups:
                    for p in group["params"]:
                        p.sub_(p.grad * torch.rsqrt(p.grad.pow(2).mean(-1, keepdim=True) + 1e-8))
        """,
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(textwrap.dedent(source), "TL304")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str) -> None:
    check(textwrap.dedent(source), "TL304")
