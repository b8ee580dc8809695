"""Its name in a test of a type, and to take a wrapper off."""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def bare(net):
    if isinstance(net, (nn.DataParallel, DistributedDataParallel)):
        net = net.module
    return net


def save(net, path):
    kept = net.module if isinstance(net, torch.nn.DataParallel) else net
    torch.save(kept.state_dict(), path)
