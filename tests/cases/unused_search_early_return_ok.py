"""A block that returns early at random leaves its parameters unused."""

import random

from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)

    def forward(self, x):
        if self.training and random.random() < 0.1:
            return x
        return x + self.body(x)


class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def wrap(rank):
    return DistributedDataParallel(Net(64, 4).cuda(rank), device_ids=[rank], find_unused_parameters=True)
