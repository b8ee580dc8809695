"""The sum is kept in single precision, or is short, or is a residual of layers."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        h = x.half()
        for layer in self.layers:
            h = h + layer(h)  # no TL408
        return h


@torch.inference_mode()
def mean_loss(net, feed):
    net = net.cuda().half()
    total = torch.zeros((), device="cuda")
    for x, y in feed:
        total += nn.functional.mse_loss(net(x).float(), y)  # no TL408
    return total / len(feed)
