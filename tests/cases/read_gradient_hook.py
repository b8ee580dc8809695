"""A hook of a gradient reads its norm."""

import math

import torch
from torch import nn


def attach(model: nn.Module):
    for name, p in model.named_parameters():

        def check(g, name=name):
            if not math.isfinite(g.norm().item()):  # TL101
                raise RuntimeError(name)

        p.register_hook(check)


def main(loader):
    model = nn.Linear(3, 3).cuda()
    attach(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x.cuda()).sum().backward()
        opt.step()
        opt.zero_grad()
