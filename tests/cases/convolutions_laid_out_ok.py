"""The layout is set, or the network has no convolution, or computes in float32."""

import torch
from torch import nn


def laid_out():
    net = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU()).cuda().half()  # no TL310
    return net.to(memory_format=torch.channels_last)


def plain():
    return nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU()).cuda()  # no TL310


def dense():
    return nn.Sequential(nn.Linear(3, 64), nn.ReLU()).cuda().half()  # no TL310
