"""Optimizers told to take the slowest way, through a table of options."""

import torch
from torch import nn


def groups(net):
    return [{"params": net.parameters(), "weight_decay": 0.1}]


def make(net: nn.Module, kind: str):
    net.cuda()
    if kind == "sgd":
        return torch.optim.SGD(groups(net), lr=0.1, momentum=0.9, foreach=False)  # TL205
    settings = {"lr": 1e-3, "foreach": False}
    return torch.optim.Adam(groups(net), **settings)  # TL205
