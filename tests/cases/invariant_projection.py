"""The keys of a fixed memory are projected anew on each round of the decoding."""

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, width, steps):
        super().__init__()
        self.key = nn.Linear(width, width)
        self.cell = nn.GRUCell(width, width)
        self.steps = steps

    def forward(self, memory, h):
        for _ in range(self.steps):
            keys = self.key(memory)  # TL202
            share = (keys @ h.unsqueeze(-1)).softmax(1)
            h = self.cell((share * memory).sum(1), h)
        return h
