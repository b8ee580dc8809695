"""What repairs write, and where they must not write anything."""

from __future__ import annotations

import textwrap

import pytest

from tests.linting import repair, shown

# By code: what is written, and what is to become of it.
CASES = {
    "TL301 spells torch as the file does": (
        """
        from torch import nn
        import torch as th

        def share(x):
            e = th.exp(x - x.max(-1, keepdim=True)[0])
            return e / e.sum(-1, keepdim=True)
        """,
        """
        from torch import nn
        import torch as th

        def share(x):
            return th.softmax(x, dim=-1)
        """,
    ),
    "TL301 keeps an exponential that is used again": (
        """
        import torch

        def share(x):
            e = torch.exp(x)
            return e / e.sum(-1, keepdim=True), e
        """,
        None,
    ),
    "TL301 does not carry a name past its change": (
        """
        import torch

        def share(x):
            e = torch.exp(x)
            x = x * 2
            return e / e.sum(-1, keepdim=True) + x
        """,
        None,
    ),
    "TL301 does not carry a tensor past a change in place": (
        """
        import torch

        def share(x):
            e = torch.exp(x)
            x.mul_(2)
            return e / e.sum(-1, keepdim=True) + x
        """,
        None,
    ),
    "TL301 needs one dimension": (
        """
        import torch

        def share(x):
            e = torch.exp(x)
            return e / e.sum()
        """,
        None,
    ),
    "TL301 replaces parentheses that were the division's": (
        """
        import torch

        def share(x, v):
            return (torch.exp(x) / torch.exp(x).sum(1, keepdim=True)).mul(v)
        """,
        """
        import torch

        def share(x, v):
            return torch.softmax(x, dim=1).mul(v)
        """,
    ),
    "TL302 carries mask, scale and dropout": (
        """
        import torch
        import torch.nn.functional as F
        from torch import nn

        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.1)

            def forward(self, q, k, v, hidden):
                scores = (q @ k.transpose(-2, -1)) * 0.3
                scores = scores.masked_fill(hidden == 0, float("-inf"))
                weights = self.drop(scores.softmax(dim=-1))
                return weights @ v
        """,
        """
        import torch
        import torch.nn.functional as F
        from torch import nn

        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.1)

            def forward(self, q, k, v, hidden):
                return F.scaled_dot_product_attention(
                    q,
                    k,
                    v,
                    attn_mask=hidden != 0,
                    dropout_p=self.drop.p if self.drop.training else 0.0,
                    scale=0.3,
                )
        """,
    ),
    "TL302 carries a mask that may be absent, and leaves casts to the kernel": (
        """
        import torch.nn.functional as F

        def attend(q, k, v, mask=None):
            scores = q @ k.mT
            if mask is not None:
                scores = scores + mask
            return F.softmax(scores.float(), -1).type_as(q) @ v
        """,
        """
        import torch.nn.functional as F

        def attend(q, k, v, mask=None):
            return F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.to(q.dtype), \
scale=1.0)
        """,
    ),
    "TL302 leaves what only one of two branches does": (
        """
        import torch.nn.functional as F

        def attend(q, k, v, bias, wide):
            scores = q @ k.mT
            if wide:
                scores = scores + bias
            return F.softmax(scores, -1) @ v
        """,
        None,
    ),
    "TL302 leaves weights that stay wide": (
        """
        import torch.nn.functional as F

        def attend(q, k, v):
            return F.softmax(q @ k.mT, -1, dtype=v.dtype) @ v
        """,
        None,
    ),
    "TL302 reads the letters of einsum": (
        """
        import torch
        import torch.nn.functional as F

        def attend(q, k, v):
            w = torch.einsum("bct,bcs->bts", q, k)
            w = w.softmax(2)
            return torch.einsum("bts,bcs->bct", w, v)
        """,
        """
        import torch.nn.functional as F

        def attend(q, k, v):
            return F.scaled_dot_product_attention(
                q.transpose(-2, -1),
                k.transpose(-2, -1),
                v.transpose(-2, -1),
                scale=1.0,
            ).transpose(-2, -1)
        """,
    ),
    "TL302 leaves letters in another order": (
        """
        import torch

        def attend(q, k, v):
            w = torch.einsum("bqhd,bkhd->bhqk", q, k).softmax(-1)
            return torch.einsum("bhqk,bkhd->bqhd", w, v)
        """,
        None,
    ),
    "TL302 leaves another dimension": (
        """
        import torch

        def attend(q, k, v):
            return torch.softmax(q @ k.mT, dim=1) @ v
        """,
        None,
    ),
    "TL303 keeps a loss that may have more dimensions": (
        """
        import torch
        import torch.nn.functional as F

        def loss(x, t):
            return F.nll_loss(torch.log(torch.softmax(x, dim=-1)), t)
        """,
        """
        import torch.nn.functional as F

        def loss(x, t):
            return F.nll_loss(F.log_softmax(x, dim=-1), t)
        """,
    ),
    "TL303 leaves probabilities that are changed in place": (
        """
        import torch

        def entropy(x, hidden):
            p = torch.softmax(x, dim=-1)
            p[hidden] = 1.0
            return torch.log(p)
        """,
        None,
    ),
    "TL303 leaves a result that is changed in place": (
        """
        import torch

        def score(x, weight):
            scores = torch.softmax(x, dim=1).log()
            scores += weight
            return scores
        """,
        None,
    ),
    "TL305 leaves a gate that does more than its last operation": (
        """
        from torch import nn

        class Squeeze(nn.Module):
            def __init__(self):
                super().__init__()
                self.gate = nn.Sequential(nn.Conv1d(4, 4, 1), nn.Sigmoid())

            def forward(self, x):
                return x * self.gate(x)
        """,
        None,
    ),
    "TL305 leaves what is done in place": (
        """
        import torch
        from torch import nn

        class Gate(nn.Module):
            def forward(self, x):
                return x.mul_(x.sigmoid())
        """,
        None,
    ),
    "TL302 leaves scores that are changed in place": (
        """
        import torch

        def attend(q, k, v, hidden):
            scores = q @ k.mT
            scores[hidden] = float("-inf")
            return torch.softmax(scores, dim=-1) @ v
        """,
        None,
    ),
    "TL305 leaves arithmetic that only looks like the function": (
        """
        import torch
        from torch import nn

        class Gate(nn.Module):
            def forward(self, x):
                return 0.5 * x * (1.0 + torch.erf(x / 2.0))
        """,
        None,
    ),
    "TL306 leaves a mask that hides the diagonal": (
        """
        import torch
        import torch.nn.functional as F

        def attend(q, k, v, n):
            mask = torch.ones(n, n, dtype=torch.bool).tril(-1)
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        """,
        None,
    ),
    "TL205 drops an argument wherever it stands": (
        """
        import torch

        def build(p):
            return torch.optim.SGD(
                p,
                foreach=False,
                lr=0.1,
            )
        """,
        """
        import torch

        def build(p):
            return torch.optim.SGD(
                p,
                lr=0.1,
            )
        """,
    ),
    "TL208 imports NumPy and keeps dtype and device": (
        """
        import torch
        from numpy import zeros

        def load(n, device):
            rows = [zeros(3) for _ in range(n)]
            return torch.tensor(rows, dtype=torch.float32, device=device)
        """,
        """
        import torch
        from numpy import zeros
        import numpy as np

        def load(n, device):
            rows = [zeros(3) for _ in range(n)]
            return torch.from_numpy(np.stack(rows)).to(device, torch.float32)
        """,
    ),
    "TL608 puts an option outside of the parentheses of an argument": (
        """
        from torch.utils.checkpoint import checkpoint

        def run(block, x):
            return checkpoint(block, (x + 1))
        """,
        """
        from torch.utils.checkpoint import checkpoint

        def run(block, x):
            return checkpoint(block, (x + 1), use_reentrant=False)
        """,
    ),
    "TL608 looks past comments for the parentheses of an argument": (
        """
        from torch.utils.checkpoint import checkpoint

        def run(block, x):
            return checkpoint(block, (  # the input
                x, x))
        """,
        """
        from torch.utils.checkpoint import checkpoint

        def run(block, x):
            return checkpoint(block, (  # the input
                x, x), use_reentrant=False)
        """,
    ),
    "TL101 converts once where the sum is read more than once": (
        """
        import torch

        def train(model, loader, optimizer):
            total = 0.0
            for x, y in loader:
                loss = torch.nn.functional.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
                total += loss.item() * len(x)
            print(total)
            return total / len(loader)
        """,
        """
        import torch

        def train(model, loader, optimizer):
            total = 0.0
            for x, y in loader:
                loss = torch.nn.functional.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
                total += loss.detach().double() * len(x)
            total = float(total)
            print(total)
            return total / len(loader)
        """,
    ),
    "TL101 leaves a sum that is read in the loop": (
        """
        import torch

        def train(model, loader, optimizer):
            total = 0.0
            for x, y in loader:
                loss = torch.nn.functional.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
                total += loss.item()
                print(total)
            return total
        """,
        None,
    ),
    "TL203 keeps the start, which gives an empty loop its result": (
        """
        import torch

        def grow(model, loader, start):
            out = start.new_zeros(0, 3)
            for x in loader:
                out = torch.cat([out, model(x)], dim=0)
            return out
        """,
        """
        import torch

        def grow(model, loader, start):
            out = [start.new_zeros(0, 3)]
            for x in loader:
                out.append(model(x))
            out = torch.cat(out, dim=0)
            return out
        """,
    ),
    "TL203 leaves a piece that is overwritten in the next round": (
        """
        import torch

        def grow(model, loader):
            out, buffer = torch.empty(0), torch.empty(4)
            out = torch.empty(0)
            for x in loader:
                buffer.copy_(model(x))
                out = torch.cat([out, buffer])
            return out
        """,
        None,
    ),
    "TL203 leaves a join whose exceptions are caught": (
        """
        import torch

        def grow(model, loader):
            out = torch.empty(0)
            for x in loader:
                try:
                    out = torch.cat([out, model(x)])
                except RuntimeError:
                    pass
            return out
        """,
        None,
    ),
    "TL203 leaves a tensor that is read in the loop": (
        """
        import torch

        def grow(model, loader):
            out = torch.empty(0)
            for x in loader:
                out = torch.cat([out, model(x)])
                print(out.shape)
            return out
        """,
        None,
    ),
    "TL204 leaves a loop that does something else as well": (
        """
        import torch

        def train(model, average, loader, optimizer):
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
                with torch.no_grad():
                    for a, p in zip(average.parameters(), model.parameters()):
                        a.mul_(0.9)
                        print(p)
        """,
        None,
    ),
    "TL201 takes all rows at once": (
        """
        import torch
        from torch import nn

        class Scores(nn.Module):
            def forward(self, x):
                x = torch.flatten(x, 1)
                return torch.stack([torch.sigmoid(row * 2.0) for row in x])
        """,
        """
        import torch
        from torch import nn

        class Scores(nn.Module):
            def forward(self, x):
                x = torch.flatten(x, 1)
                return torch.sigmoid(x * 2.0)
        """,
    ),
    "TL201 takes all rows of a loop that files them": (
        """
        import torch
        from torch import nn

        class Shares(nn.Module):
            def forward(self, x: torch.Tensor):
                x = torch.randn(3, 4, device=x.device)
                out = []
                for row in x:
                    out.append(row.softmax(-1) * 2)
                return torch.stack(out)
        """,
        """
        import torch
        from torch import nn

        class Shares(nn.Module):
            def forward(self, x: torch.Tensor):
                x = torch.randn(3, 4, device=x.device)
                out = x.softmax(-1) * 2
                return out
        """,
    ),
    "TL201 takes all positions of an index loop": (
        """
        import torch
        from torch import nn

        class Blend(nn.Module):
            def forward(self, a: torch.Tensor, b: torch.Tensor):
                n = min(a.shape[2], b.shape[2])
                for y in range(n):
                    b[:, :, y, :] = a[:, :, -n + y, :] * (1 - y / n) + b[:, :, y, :] * (y / n)
                return b
        """,
        """
        import torch
        from torch import nn

        class Blend(nn.Module):
            def forward(self, a: torch.Tensor, b: torch.Tensor):
                n = min(a.shape[2], b.shape[2])
                y = torch.arange(n, device=b.device).view(-1, *[1] * (b.ndim - 3))
                b[:, :, :n, :] = a[:, :, a.shape[2] - n :, :] * (1 - y / n) + b[:, :, :n, :] * (y / n)
                return b
        """,
    ),
    "TL201 leaves an index loop whose rounds need each other": (
        """
        import torch
        from torch import nn

        class Running(nn.Module):
            def forward(self, a: torch.Tensor, b: torch.Tensor):
                for y in range(8):
                    b[:, y + 1] = b[:, y] + a[:, y]
                return b
        """,
        None,
    ),
    "TL202 names a part of an expression": (
        """
        import torch
        from torch import nn

        class Rounds(nn.Module):
            def forward(self, x: torch.Tensor, w: torch.Tensor, rounds):
                for _ in range(rounds):
                    x = torch.relu(x + (w @ w.mT))
                return x
        """,
        """
        import torch
        from torch import nn

        class Rounds(nn.Module):
            def forward(self, x: torch.Tensor, w: torch.Tensor, rounds):
                unchanged = (w @ w.mT)
                for _ in range(rounds):
                    x = torch.relu(x + unchanged)
                return x
        """,
    ),
    "TL311 calls cdist for each norm and from either side": (
        """
        import torch

        def apart(a, b):
            squares = (a[:, None] - b[None]).pow(2).sum(-1)
            roots = (b.unsqueeze(0) - a.unsqueeze(1)).square().sum(dim=-1).sqrt()
            sums = (a[:, None] - b[None]).abs().sum(-1)
            return squares, roots, sums
        """,
        """
        import torch

        def apart(a, b):
            squares = torch.cdist(a, b).square()
            roots = torch.cdist(a, b)
            sums = torch.cdist(a, b, p=1.0)
            return squares, roots, sums
        """,
    ),
    "TL201 leaves a sum over what may be the rows themselves": (
        """
        import torch
        from torch import nn

        class Scores(nn.Module):
            def forward(self, x):
                return torch.stack([row.softmax(-1) for row in x])
        """,
        None,
    ),
    "TL604 drops one option of several": (
        """
        import torch

        def train(model, optimizer, loader):
            for x in loader:
                loss = model(x).sum()
                loss.backward(
                    gradient=None,
                    retain_graph=True,
                )
                optimizer.step()
        """,
        """
        import torch

        def train(model, optimizer, loader):
            for x in loader:
                loss = model(x).sum()
                loss.backward(
                    gradient=None,
                )
                optimizer.step()
        """,
    ),
    "TL606 leaves a block that does nothing else": (
        """
        import torch

        def train(model, loader, optimizer):
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
                if len(x) > 3:
                    torch.cuda.empty_cache()
        """,
        None,
    ),
    "TL507 leaves workers that there may be none of": (
        """
        import torch
        from torch.utils.data import DataLoader

        def train(model, data, workers):
            loader = DataLoader(
                data,
                num_workers=workers,  # from the command line
            )
            for epoch in range(9):
                for x in loader:
                    model(x.cuda()).sum().backward()
        """,
        None,
    ),
    "TL502 gives an option a row where each has one, and leaves their comments": (
        """
        import torch
        from torch.utils.data import DataLoader

        def train(model, data, optimizer):
            model.cuda()
            loader = DataLoader(
                data,
                num_workers=4,  # as many as cores
            )
            for x in loader:
                model(x.cuda()).sum().backward()
                optimizer.step()
        """,
        """
        import torch
        from torch.utils.data import DataLoader

        def train(model, data, optimizer):
            model.cuda()
            loader = DataLoader(
                data,
                num_workers=4,  # as many as cores
                pin_memory=True,
            )
            for x in loader:
                model(x.cuda()).sum().backward()
                optimizer.step()
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_repair(name: str) -> None:
    before, after = CASES[name]
    source = textwrap.dedent(before).lstrip("\n")
    assert repair(source, name.split()[0]) == (source if after is None else textwrap.dedent(after).lstrip("\n"))


def test_two_repairs_that_need_one_import() -> None:
    source = textwrap.dedent(
        """
        import torch
        from torch import nn
        from numpy import zeros

        def load(n):
            return torch.tensor([zeros(3) for _ in range(n)]), torch.tensor([zeros(4) for _ in range(n)])
        """
    )
    after = repair(source, "TL208")
    assert after.count("import numpy as np") == 1
    assert after.count("np.stack(") == 2


def test_a_repair_inside_of_another() -> None:
    source = textwrap.dedent(
        """
        import torch
        import torch.nn.functional as F

        def loss(x, t):
            e = torch.exp(x)
            return F.nll_loss(torch.log(torch.softmax((e / e.sum(1, keepdim=True)), dim=1)), t)
        """
    )
    after = repair(source, "TL301", "TL303")
    assert "F.cross_entropy(torch.softmax(x, dim=1), t)" in after


def test_a_name_that_is_taken_is_not_used() -> None:
    source = textwrap.dedent(
        """
        import torch
        import torch.nn.functional as F
        from torch import nn

        class Gate(nn.Module):
            def forward(self, x):
                B, C, F = x.shape
                return x * torch.sigmoid(x)
        """
    )
    assert "nn.functional.silu(x)" in repair(source, "TL305")


def test_what_a_person_must_decide_is_shown() -> None:
    source = textwrap.dedent(
        """
        from torch.nn.parallel import DistributedDataParallel

        def train(rank, model, loader, optimizer, every):
            model = DistributedDataParallel(model.to(rank))
            for index, batch in enumerate(loader):
                loss = model(batch).mean() / every
                loss.backward()  # not yet
                if (index + 1) % every == 0:
                    optimizer.step()
        """
    ).lstrip("\n")
    assert repair(source, "TL901") == source
    assert shown(source, "TL901") == textwrap.dedent(
        """
        from torch.nn.parallel import DistributedDataParallel
        import contextlib

        def train(rank, model, loader, optimizer, every):
            model = DistributedDataParallel(model.to(rank))
            for index, batch in enumerate(loader):
                updates = (index + 1) % every == 0
                with contextlib.nullcontext() if updates else model.no_sync():
                    loss = model(batch).mean() / every
                    loss.backward()  # not yet
                if updates:
                    optimizer.step()
        """
    ).lstrip("\n")
