"""What nobody declares, its uses tell: what is a mask, what is a tensor, and on what a graph hangs."""

import torch
from torch import nn


def rows_of(lengths, width):
    total = int(lengths.sum())  # TL101
    assert lengths.numel() <= total
    rows = []
    for k in range(lengths.numel()):  # TL201
        rows.append([0] * lengths[k] + [1] * (width - lengths[k]))  # TL106
    return rows


class Masked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Linear(width, width)
        self.mean, self.spread = torch.zeros(width), torch.ones(width)

    def forward(self, x, valid, lengths):
        spread = torch.sqrt(self.spread + 1e-5)
        x = (x - self.mean.to(x.device)) / spread.to(x.device)  # TL509
        kept = torch.where(valid, self.scale(x), 0.0)
        rows_of(lengths, x.shape[1])
        return kept.sum() / kept[valid].numel()  # TL105


class Average:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n  # TL601
        self.count += n


def train(model, batches, optimizer, limit):
    model.cuda()
    losses, sizes, outputs, history = Average(), Average(), [], []
    for x, valid, lengths in batches:
        output = {"loss": model(x.cuda(), valid.cuda(), lengths.cuda()), "x": x}
        loss = output["loss"]
        history.append(loss)  # TL602
        if len(history) > limit:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss)
        sizes.update(valid.float().mean().numpy())
        outputs.append(output)  # TL602
    return history


def grown(pieces):
    joined = torch.empty(0, device="cuda")
    for k, piece in enumerate(pieces):
        joined = torch.cat([joined, piece] if k else [piece])  # TL203
    return joined


class Both(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down, self.up = nn.Linear(width, width), nn.Linear(width, width)

    def halves(self, x):
        return self.down(x), self.up(x)

    def forward(self, x, gate=None):
        both = self.halves(x) if gate is None else self.up(x)
        return torch.sigmoid(x) * both
