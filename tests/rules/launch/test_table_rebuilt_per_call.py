"""TL210: tables of constants built on every call."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        import torch as th
        from torch import nn

        def phases(n, d, where):
            t = th.arange(n, device=where).float()
            f = 10000.0 ** (-th.arange(0, d, 2, device=where) / d)
            return t[:, None] * f[None, :]  # TL210

        class M(nn.Module):
            def table(self, n, where):
                return th.triu(th.full((n, n), float("-inf"), device=where), 1)  # TL210

            def forward(self, x):
                p = phases(x.shape[1], x.shape[2], x.device)
                gap = th.arange(x.shape[1]).unsqueeze(1) - th.arange(x.shape[1])  # TL210
                return x + p.sin() + self.table(x.shape[1], x.device), gap
        """,
        "TL210",
    )


def test_silent() -> None:
    check(
        """
        import torch
        from torch import nn

        class M(nn.Module):
            def __init__(self, d, n):
                super().__init__()
                self.rate = nn.Parameter(torch.ones(d))
                self.register_buffer("table", torch.outer(torch.arange(n), torch.ones(d)))
                self.kept = None

            def forward(self, x, positions):
                if self.kept is None:
                    self.kept = torch.outer(torch.arange(9), torch.ones(9))
                angles = torch.outer(positions, self.rate)
                index = torch.arange(x.shape[0], device=x.device)
                return x[index] + self.table[: x.shape[1]], angles, torch.tril(x @ x.mT)

        def prepare(n):
            return torch.outer(torch.arange(n), torch.arange(n))
        """,
        "TL210",
    )
