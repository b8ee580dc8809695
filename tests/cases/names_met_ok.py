"""A compiled module's hook notes the same few names in every run."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.met = set()
        self.body = nn.Linear(8, 8)

    def forward(self, x, name="body"):
        self.met.add(name)
        if len(self.met) == 1:
            x = x + 1
        return self.body(x)


def run(loader):
    model = torch.compile(Model().cuda())
    with torch.no_grad():
        return [model(x.cuda()).sum() for x in loader]
