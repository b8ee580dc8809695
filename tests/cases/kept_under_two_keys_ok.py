"""Two losses are put under two keys that stay the same: each step overwrites them, and one graph stays of each."""

import torch
from torch import nn


def train(net: nn.Module, loader, optimizer):
    last = {}
    for x, y in loader:
        out = net(x.cuda())
        close, far = (out - y.cuda()).abs().mean(), (out - y.cuda()).pow(2).mean()
        last["close"], last["far"] = close, far
        optimizer.zero_grad(set_to_none=True)
        (close + far).backward()
        optimizer.step()
    return {name: value.item() for name, value in last.items()}
