"""Parts that are skipped, a model from elsewhere with an option, and the search switched off."""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as Replica


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b, self.extra = nn.Linear(width, width), nn.Linear(width, 10), nn.Linear(width, 10)

    def forward(self, x, use_extra=False):
        h = self.a(x).relu()
        return self.extra(h) if use_extra else self.b(h)


def wrap(rank, width, options, other):
    torch.cuda.set_device(rank)
    a = Replica(Net(width).cuda(rank), device_ids=[rank], find_unused_parameters=True)
    b = Replica(other, device_ids=[rank], find_unused_parameters=options.unused)
    c = Replica(other, device_ids=[rank], find_unused_parameters=False)
    return a, b, c


class ByGrid(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.core = nn.Linear(8, 8)
        self.heads = nn.ModuleDict({name: nn.Linear(8, size) for name, size in sizes.items()})

    def forward(self, x, grid):
        return self.heads[grid](self.core(x))


def wrap_grids(sizes, rank):
    return Replica(ByGrid(sizes).to(rank), device_ids=[rank], find_unused_parameters=True)
