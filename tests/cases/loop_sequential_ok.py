"""Loops that depend on the round before, are ragged, walk over modules, scales or a few pieces."""

import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.cell = nn.GRUCell(width, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x, lengths: list[int]):
        h = x.new_zeros(x.size(0), x.size(2))
        outs = []
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
            outs.append(h)
        y = torch.stack(outs, dim=1)
        for layer in self.layers:
            y = layer(y)
        ragged = [row[:n].mean(0) for row, n in zip(y, lengths)]
        parts = [piece.relu() for piece in y.chunk(2, dim=-1)]
        return torch.stack(ragged), torch.cat(parts, dim=-1)


def discounted(rewards, gamma=0.99):
    total, out = 0.0, []
    for r in reversed(rewards):
        total = r + gamma * total
        out.append(total)
    return list(reversed(out))
