"""TL308: a binary cross entropy of a sigmoid."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        import torch
        from torch import nn
        from torch.nn import functional as fn

        class Judge(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
                self.loss = nn.BCELoss()

            def forward(self, x):
                return self.net(x)

            def score(self, x, y):
                return self.loss(input=self(x).view(-1), target=y)  # TL308

        def parts(xs, y):
            return [fn.binary_cross_entropy(x.sigmoid().clamp(1e-6, 1 - 1e-6), y) for x in xs]  # TL308
        """,
        "TL308",
    )


def test_silent() -> None:
    check(
        """
        import torch
        from torch import nn
        from torch.nn import functional as F

        def f(x, y, p):
            s = torch.sigmoid(x)
            F.binary_cross_entropy(s.mean(1), y)
            F.binary_cross_entropy(1 - (1 - s).prod(1), y)
            F.binary_cross_entropy(p, s)
            nn.BCELoss()(torch.softmax(x, -1), y)
            return F.binary_cross_entropy_with_logits(x, y) + F.mse_loss(s, y)
        """,
        "TL308",
    )
