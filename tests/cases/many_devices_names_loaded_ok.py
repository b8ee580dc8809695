"""A wrapper that is put on so that the names of a checkpoint fit, and comes off again."""

import torch
from torch import nn


def load(net: nn.Module, path):
    net = nn.DataParallel(net)
    net.load_state_dict(torch.load(path, map_location="cpu"))
    return net.module


class Backbone(nn.Module):
    def __init__(self, whole: nn.Module, path):
        super().__init__()
        whole = torch.nn.DataParallel(whole)
        whole.load_state_dict(torch.load(path, map_location="cpu"), strict=False)
        self.trunk = whole.module.trunk

    def forward(self, x):
        return self.trunk(x)
