"""What depends on the size of the batch is made anew where that has changed, on either side of the question."""

import torch
from torch import nn


class Cells(nn.Module):
    def __init__(self, width, window):
        super().__init__()
        self.lead = nn.Linear(width, width)
        self.register_buffer("window", torch.tensor(window))
        self.size = 0

    def resize(self, size):
        self.past = torch.zeros(size, self.window, device=self.window.device)

    def forward(self, x):
        if x.size(0) != self.size:
            self.size = x.size(0)
            self.resize(self.size)
        return self.lead(x) + self.past.mean()


class Loose(nn.Module):
    def __init__(self, width, window):
        super().__init__()
        self.lead = nn.Linear(width, width)
        self.register_buffer("window", torch.tensor(window))
        self.size = 0

    def forward(self, x):
        if x.size(0) != self.size:
            past = torch.zeros(x.size(0), self.window, device=x.device)  # TL106
            return self.lead(x) + past.mean()
        return self.lead(x)
