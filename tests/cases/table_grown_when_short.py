"""A table is made anew where it has become too short: what that waits for, it waits for seldom."""

import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, dim, length=512):
        super().__init__()
        self.register_buffer("pe", self.table(dim, length))

    @staticmethod
    def table(dim, length, device=None):
        position = torch.arange(length, device=device).unsqueeze(1)
        return torch.sin(position / torch.arange(1, dim + 1, device=device))

    def forward(self, x):
        if max(x) >= self.pe.shape[0]:  # TL102, TL107
            self.register_buffer("pe", self.table(self.pe.shape[1], max(x) + 1, device=self.pe.device))
        return self.pe[x]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.at = Positions(64)

    def forward(self, x):
        return x + self.at(torch.arange(x.shape[1], device=x.device))


class Averaged(nn.Module):
    def __init__(self, decay=0.999):
        super().__init__()
        self.register_buffer("decay", torch.tensor(decay))
        self.register_buffer("updates", torch.tensor(0))

    def forward(self, model):
        decay = self.decay
        if self.updates >= 0:  # TL102
            self.updates += 1
            decay = min(self.decay, (1 + self.updates) / (10 + self.updates))  # TL107
        return decay
