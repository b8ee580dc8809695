"""A method of a model is compiled by its decorator and reads a learned scalar."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, width)
        self.gain = nn.Parameter(torch.ones(()))

    @torch.compile
    def forward(self, x):
        return self.net(x) * float(self.gain)  # TL801, TL101
