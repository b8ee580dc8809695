"""TL201: loops over a tensor whose rounds are independent and alike, and all the loops that are not."""

from __future__ import annotations

import textwrap

import pytest

from tests.rules.helpers import check

TRAIN = """
import torch
from torch import nn
from torch.nn import functional as F

def run(net, feed, opt):
    for u, y in feed:
        z = net(u.cuda())
        opt.zero_grad()
        work(z, y.cuda()).backward()
        opt.step()
"""
FIRES = {
    "a sum over time steps": """
        def work(a, b):
            total = 0
            for t in range(a.shape[1]):  # TL201
                total += F.cross_entropy(a[:, t], b[:, t])
            return total
        """,
    "collected and stacked, a size with a name": """
        def work(a, b):
            n, steps, _ = a.shape
            parts = []
            for i in range(steps):  # TL201
                parts.append((a[:, i] - b[:, i]).pow(2).mean(-1))
            return torch.stack(parts).sum()
        """,
    "by chance, with a number drawn for each sample": """
        import random

        def work(a, b):
            out = torch.empty_like(a)
            for i in range(a.shape[0]):  # TL201
                out[i] = a[i].flip(-1) if random.random() < 0.5 else a[i] * random.uniform(0.8, 1.2)
            return out.sum()
        """,
    "rows of a mask, each up to its length": """
        def work(a, b):
            keep = torch.zeros_like(a)
            lengths = b.sum(-1)
            for i in range(a.shape[0]):  # TL201
                keep[i, : lengths[i]] = 1
            return (a * keep).sum()
        """,
    "stored under the position, a nest": """
        def work(a, b):
            n, m = a.size(0), b.size(0)
            table = a.new_zeros(n, m)
            for i in range(n):  # TL201
                for j in range(m):
                    table[i, j] = torch.dot(a[i, :], b[j, :])
            return table.logsumexp(0).mean()
        """,
    "classes": """
        def work(a, b):
            losses = []
            for c in range(a.size(1)):  # TL201
                hit = (b == c).float()
                losses.append((a[:, c] * hit).sum() / hit.sum().clamp(min=1))
            return sum(losses)
        """,
    "a helper does the work of a row": """
        def gap(p, q):
            return (p - q).abs().max()

        def work(a, b):
            return torch.stack([gap(a[i, :], b[i, :]) for i in range(len(a))]).sum()  # TL201
        """,
    "rows of a tensor": """
        def work(a, b):
            a = a.softmax(-1)
            out = [F.cosine_similarity(row[None], a).max() for row in a]  # TL201
            return torch.stack(out).mean()
        """,
    "frames, unbound": """
        def work(a, b):
            total = 0.0
            for frame in torch.unbind(a, 1):  # TL201
                total = total + (frame - b).pow(2).mean()
            return total
        """,
    "a running maximum": """
        def work(a, b):
            best = a[:, 0].sum()
            for i in range(1, a.size(1)):  # TL201
                best = torch.maximum(best, (a[:, i] * b[:, i]).sum())
            return best
        """,
    "boxes gathered by a mask": """
        def work(a, b):
            packed = a.new_zeros(a.size(0), 10, 4)
            for i in range(a.size(0)):  # TL201
                mine = b[:, 0] == i
                n = int(mine.sum())
                packed[i, :n] = b[mine, 1:5]
            return (packed - a).abs().sum()
        """,
}
SILENT = {
    "a part of each sample that is drawn in its round": """
        import random

        def work(a, b):
            out = a.clone()
            for i in range(a.shape[0]):
                first = random.randint(0, 9)
                out[i, first : first + random.randint(1, 9)] = 0
            return out.sum()
        """,
    "as much of each sample as is drawn": """
        import random

        def work(a, b):
            parts = [a[i, : int(random.uniform(1, 9))].mean(0) for i in range(a.shape[0])]
            return torch.stack(parts).sum()
        """,
    "each round takes what the last one appended": """
        import torch
        from torch import nn

        class M(nn.Module):
            def forward(self, done):
                rows = [torch.zeros_like(done[..., 0])]
                for r in reversed(done.unbind(-1)):
                    rows.append(r | rows[-1])
                return torch.stack(rows, -1)
        """,
    "an axis of the tensor in each round": """
        def work(a, b):
            spread = torch.zeros(8, device=a.device)
            for axis in range(a.ndim):
                spread[axis] = torch.relu(b[axis]).sum()
            return spread.sum()
        """,
    "a recurrence": """
        def work(a, b):
            h = torch.zeros_like(a[:, 0])
            out = []
            for t in range(a.size(1)):
                h = torch.tanh(a[:, t] + h)
                out.append(h)
            return torch.stack(out).sum()
        """,
    "returns, backwards in time": """
        def work(a, b):
            out = torch.zeros_like(a)
            last = 0.0
            for t in reversed(range(a.size(1))):
                last = a[:, t] + 0.99 * last
                out[:, t] = last
            return out.sum()
        """,
    "Horner's scheme": """
        def work(a, b):
            value = a[0]
            for c in a[1:]:
                value = value * b + c
            return value
        """,
    "an entry needs its neighbour": """
        def work(a, b):
            for t in range(1, a.size(1)):
                a[:, t] = a[:, t] + a[:, t - 1]
            return a.sum()
        """,
    "ragged lengths": """
        def work(a, b):
            lengths = b.sum(-1)
            return sum(a[i, : lengths[i]].mean() for i in range(a.size(0)))
        """,
    "prefixes": """
        def work(a, b):
            return sum(a[:, :t].max() for t in range(1, a.size(1)))
        """,
    "blocks of rows": """
        def work(a, b):
            total = 0
            for i in range(0, a.size(0), 64):
                total = total + torch.cdist(a[i : i + 64], b).min(-1).values.sum()
            return total
        """,
    "a list of levels": """
        def work(a, b):
            levels = [a, a[:, ::2], a[:, ::4], a[:, ::8], a[:, ::16]]
            return sum((level - level.mean()).pow(2).mean() for level in levels)
        """,
    "the outputs of a module": """
        def work(a, b):
            critics = torch.load("critics")
            guesses = critics(a)
            return sum(F.mse_loss(guess, b) for guess in guesses)
        """,
    "a layer for each": """
        class Heads(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.heads = nn.ModuleList(nn.Linear(8, 8) for _ in range(n))

            def forward(self, a):
                return sum(self.heads[i](a[:, i]).sum() for i in range(a.size(1)))

        heads = Heads(5)

        def work(a, b):
            return heads(a)
        """,
    "three rounds": """
        def work(a, b):
            return sum((a[:, i] * b[:, i]).sum() for i in range(3))
        """,
    "it stops early": """
        def work(a, b):
            total = 0
            for t in range(a.size(1)):
                total = total + (a[:, t] - b[:, t]).abs().sum()
                if t > b.size(1):
                    break
            return total
        """,
    "data of the host": """
        def work(a, b):
            host = torch.randn(100, 4)
            return a.sum() * float(sum((host[i, :] * 2).sum() for i in range(host.size(0))))
        """,
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(TRAIN + textwrap.dedent(source), "TL201")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str) -> None:
    check(TRAIN + textwrap.dedent(source), "TL201")


def test_rare_code_is_not_reported() -> None:
    check(
        """
        import torch

        def run(net, feed, opt):
            for k, u in enumerate(feed):
                z = net(u)
                z.sum().backward()
                opt.step()
                if k % 100 == 0:
                    print([(z[:, i] - z[:, i].mean()).std() for i in range(z.size(1))])
        """,
        "TL201",
    )


def test_a_function_of_unknown_callers_is_only_possible() -> None:
    check(
        """
        import torch

        def pairwise(a, b):
            return torch.stack([(a[:, i] - b[:, i]).norm(dim=-1) for i in range(a.shape[1])])  # TL201
        """,
        "TL201",
        possible=True,
    )
