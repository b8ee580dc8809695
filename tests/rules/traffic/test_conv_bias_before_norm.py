"""TL309: a bias that the batch norm behind it takes out."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        from collections import OrderedDict
        from torch import nn
        from torch.nn import BatchNorm1d as Norm

        class Pair(nn.Sequential):
            def __init__(self, a, b):
                super().__init__(nn.ConvTranspose2d(a, b, 2), nn.BatchNorm2d(b))  # TL309

        class M(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.first = nn.Linear(d, d, bias=True)  # TL309
                self.norm = Norm(d)
                self.rest = nn.Sequential(*[nn.Linear(d, d), Norm(d), nn.ReLU()])  # TL309
                self.named = nn.Sequential(OrderedDict([("a", nn.Linear(d, d)), ("b", Norm(d))]))  # TL309

            def start(self, x):
                x = self.first(x)
                return self.norm(x)

            def forward(self, x):
                return self.rest(self.start(x))
        """,
        "TL309",
    )


def test_silent() -> None:
    check(
        """
        from torch import nn

        def make(d, norm=nn.BatchNorm1d, bias=None, **options):
            return nn.Sequential(
                nn.Linear(d, d, bias=False), nn.BatchNorm1d(d),
                nn.Linear(d, d, bias=bias), nn.BatchNorm1d(d),
                nn.Linear(d, d, **options), nn.BatchNorm1d(d),
                nn.Linear(d, d), nn.ReLU(), nn.BatchNorm1d(d),
                nn.Linear(d, d), nn.LayerNorm(d),
                nn.Linear(d, d), norm(d),
            )

        class M(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.first, self.norm = nn.Linear(d, d), nn.BatchNorm1d(d)

            def forward(self, x):
                y = self.first(x)
                return self.norm(y) + y
        """,
        "TL309",
    )
