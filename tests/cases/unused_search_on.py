"""The search for unused parameters is on for a model that uses all of them."""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as Replica


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Linear(width, width), nn.Linear(width, 10)

    def forward(self, x):
        return self.b(self.a(x).relu())


def wrap(rank, width):
    torch.cuda.set_device(rank)
    options = {"device_ids": [rank], "find_unused_parameters": True}
    return Replica(Net(width).cuda(rank), **options)  # TL902
