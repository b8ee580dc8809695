"""TL203: a tensor that grows by cat with itself, and the cats that do not."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports
from torchlint.findings import Impact

FIRES = {
    "aliased, in a step loop": """
        from torch import cat as join

        def f(net, feed):
            out = None
            for x in feed:
                y = net(x)
                out = y if out is None else join((out, y))  # TL203
            return out
        """,
    "entries of a table, by name, by number, through a choice": """
        import torch

        @torch.no_grad()
        def f(net, feed, n):
            net.cuda()
            told, kinds = {}, [torch.empty(0, device="cuda") for _ in range(9)]
            for x, y in feed:
                out = net(x.cuda())
                told["y"] = torch.cat([told["y"], out]) if "y" in told else out  # TL203
                for name, part in zip("ab", out.items()):
                    told[name] = part
                for name, part in out.items():
                    told[name] = torch.cat([told[name], part])  # TL203
                for c in range(n):
                    kinds[c] = torch.cat([kinds[c], out[y.cuda() == c]])  # TL203
            return told, kinds
        """,
    "hstack, from the front": """
        import torch

        def f(xs):
            acc = torch.empty(0)
            for x in xs:
                acc = torch.hstack([x, acc])  # TL203
            return acc
        """,
    "an attribute of a method's object": """
        import torch

        class Store:
            def fill(self, xs):
                self.rows = torch.zeros(0, 3)
                for x in xs:
                    self.rows = torch.cat([self.rows, x.view(1, 3)], 0)  # TL203
        """,
    "while": """
        import torch

        def f(net, ids, n):
            while ids.size(1) < n:
                ids = torch.cat([ids, net(ids).argmax(-1)], dim=1)  # TL203
            return ids
        """,
    "a helper, called in the loop with what it gave": """
        import torch

        def grow(rows, row):
            return torch.cat([rows, row[None]])  # TL203

        def f(xs):
            rows = torch.empty(0, 4)
            for x in xs:
                rows = grow(rows, x)
            return rows
        """,
}
SILENT = {
    "entries that each step comes to once, begins anew, or fills up": """
        import torch

        @torch.no_grad()
        def f(net, feed):
            net.cuda()
            held, shown = {}, {"x": torch.empty(0, device="cuda")}
            for x, ids in feed:
                out = net(x.cuda())
                new = {}
                for name, part in out.items():
                    new[name] = torch.cat([new[name], part])
                key = ids[0]
                held[key] = torch.cat([held[key], out["y"]])
                for i, part in zip(ids, out["y"]):
                    held[i] = torch.cat([held[i], part])
                if shown["x"].size(0) < 10:
                    shown["x"] = torch.cat([shown["x"], x[:1].cuda()])
            return held, shown

        def merge(paths):
            whole = {}
            for path in paths:
                for name, part in torch.load(path).items():
                    whole[name] = torch.cat([whole[name], part]) if name in whole else part
            return whole
        """,
    "once, after the loop": """
        import torch

        def f(net, feed):
            rows = []
            for x in feed:
                rows.append(torch.cat([x, net(x)], dim=-1))
            return torch.cat(rows)
        """,
    "a few rounds": """
        import torch

        def f(x):
            for k in range(4):
                x = torch.cat([x, torch.ones_like(x[:, :1]) * k], dim=1)
            return x
        """,
    "made anew in each round": """
        import torch

        def f(xs, ys):
            out = []
            for x, y in zip(xs, ys):
                z = x * 2
                z = torch.cat([z, y])
                out.append(z)
            return out
        """,
    "a queue of fixed length": """
        import torch

        def f(xs, queue):
            for x in xs:
                queue = torch.cat([queue, x])[-128:]
            return queue
        """,
    "NumPy": """
        import numpy as np
        import torch

        def f(xs):
            out = np.zeros(0)
            for x in xs:
                out = np.concatenate([out, x])
            return torch.from_numpy(out)
        """,
    "a comprehension keeps nothing from round to round": """
        import torch

        class Pair:
            def __init__(self, left):
                self.left = left

        def f(batches, rest):
            for batch in batches:
                both = Pair({k: torch.cat([batch[k], rest[k]]) for k in batch})
                twice = Pair({k: torch.cat([both.left[k], rest[k]]) for k in batch})
            return twice
        """,
    "no loop": """
        import torch

        def f(x, y):
            x = torch.cat([x, y])
            x = torch.cat([x, y])
            return x
        """,
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL203")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str) -> None:
    check(source, "TL203")


def test_a_token_appended_in_decoding_is_a_small_matter_and_results_of_batches_are_not() -> None:
    found = reports(
        """
        import torch

        @torch.no_grad()
        def decode(net, x, n):
            for _ in range(n):
                x = torch.cat((x, net(x)[:, -1:].argmax(-1)), dim=1)
            return x

        @torch.no_grad()
        def predict(net, files, out):
            for x in torch.utils.data.DataLoader(files):
                out = torch.cat((out, net(x)))
            return out
        """,
        "TL203",
    )
    assert [report.impact for _, report in found] == [Impact.LOW, Impact.HIGH]


def test_a_dense_block_is_only_possible() -> None:
    check(
        """
        import torch
        from torch import nn

        class Dense(nn.Module):
            def __init__(self, layers):
                super().__init__()
                self.layers = nn.ModuleList(layers)

            def forward(self, x):
                for layer in self.layers:
                    x = torch.cat([x, layer(x)], dim=1)  # TL203
                for i in range(len(self.layers)):
                    y = self.layers[i](x)
                    x = torch.cat((x, y), 1)  # TL203
                return x
        """,
        "TL203",
        possible=True,
    )
