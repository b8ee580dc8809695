"""TL202: work in a loop that gives the same in each round."""

from __future__ import annotations

import textwrap

import pytest

from tests.rules.helpers import check

FIRES = {
    "a product, through an alias": """
        import torch as th
        from torch import nn

        class M(nn.Module):
            def forward(self, a, b, h):
                for _ in range(10):
                    h = th.tanh(h + th.matmul(a, b))  # TL202
                return h
        """,
    "a layer, in a method that forward calls": """
        import torch
        from torch import nn

        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.enter, self.mix = nn.Linear(8, 8), nn.Linear(8, 8)

            def settle(self, x, h):
                while h.shape[0] < 100:
                    h = torch.cat([h, self.mix(h[-1:]) + self.enter(x)])  # TL202
                return h

            def forward(self, x):
                return self.settle(x, x)
        """,
    "in a comprehension": """
        import torch
        from torch import nn

        class M(nn.Module):
            def forward(self, a, b, shifts):
                return torch.stack([(a @ b + s).relu() for s in shifts])  # TL202
        """,
}
SILENT = {
    "an operand changes": """
        import torch
        from torch import nn

        class M(nn.Module):
            def forward(self, a, b, c):
                for _ in range(10):
                    a = torch.tanh(a @ b)
                    c[0] = a.sum()
                    d = c @ b
                    b.mul_(0.5)
                return d
        """,
    "parameters are trained in the loop": """
        from torch import nn

        def fit(x, y, opt):
            layer = nn.Linear(8, 8)
            for _ in range(100):
                loss = (layer(x) - y).pow(2).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
    "chance": """
        import torch
        from torch import nn

        class M(nn.Module):
            def forward(self, a, b):
                return sum(nn.functional.dropout(a, 0.5) @ b for _ in range(10))
        """,
    "another layer each time": """
        from torch import nn

        class M(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(n))

            def forward(self, a):
                return sum(layer(a) for layer in self.layers)
        """,
    "a hook fills the list, which each round clears": """
        import torch
        import torch.nn.functional as F

        def features(vgg, loader):
            kept, found = [], []
            vgg.features[20].register_forward_hook(lambda module, x, y: kept.append(y))
            for batch in loader:
                kept.clear()
                vgg(batch.cuda())
                found.append(F.interpolate(kept[0], (256, 256), mode="bilinear"))
            return found
        """,
    "a method changes the attribute": """
        from torch import nn

        class M(nn.Module):
            def advance(self):
                self.state = self.state + 1

            def forward(self, a):
                out = 0
                for _ in range(10):
                    self.advance()
                    out = out + self.state @ a
                return out
        """,
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(textwrap.dedent(source), "TL202")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str) -> None:
    check(textwrap.dedent(source), "TL202")
