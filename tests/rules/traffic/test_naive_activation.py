"""TL305: activations written as arithmetic."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        import math
        import torch as th
        from torch import nn
        from torch.nn import functional as F

        def swish(u):
            return u * u.sigmoid()  # TL305

        def mish(u):
            return u * th.tanh(F.softplus(u))  # TL305

        class M(nn.Module):
            def gate(self, u):
                s = th.sigmoid(u)
                return s * u  # TL305

            def forward(self, u):
                cdf = 0.5 * (1.0 + th.erf(u / math.sqrt(2.0)))
                exact = u * cdf  # TL305
                tanh = 0.5 * u * (1 + th.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3)))  # TL305
                soft = th.log(1 + th.exp(u))  # TL305
                silu = u / (1 + th.exp(-u))  # TL305
                return [v * th.sigmoid(v) for v in (exact, tanh, soft, silu)]  # TL305
        """,
        "TL305",
    )


def test_silent() -> None:
    check(
        """
        import numpy as np
        import torch
        from torch import nn
        from torch.nn import functional as F

        class Swish(torch.autograd.Function):
            @staticmethod
            def forward(ctx, u):
                return run(u)

        def run(u):
            return u * torch.sigmoid(u)

        @torch.compile
        def quick(u):
            return u * torch.sigmoid(u)

        def choose(u):
            return F.silu(u) if hasattr(F, "silu") else u * torch.sigmoid(u)

        class M(nn.Module):
            def forward(self, u, v):
                s = torch.sigmoid(u)
                focal = (u * s).sum() + (s * (1 - s)).sum()
                other = v * torch.sigmoid(u), torch.tanh(u) * v, torch.log(2 + torch.exp(u))
                return other, focal, u * torch.sigmoid(1.7 * u)

        def host(u: np.ndarray):
            return u / (1 + np.exp(-u))
        """,
        "TL305",
    )
