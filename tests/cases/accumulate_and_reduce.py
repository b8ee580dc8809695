"""Gradients are accumulated, and all replicas reduce them on every round."""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as Replica


def fit(net: nn.Module, opt, feed, rank, every=8):
    net = Replica(net.cuda(rank), device_ids=[rank])
    for k, (x, y) in enumerate(feed):
        out = nn.functional.mse_loss(net(x), y) / every
        out.backward()  # TL901
        if (k + 1) % every == 0:
            opt.step()
            opt.zero_grad()


class Fit:
    def __init__(self, net, opt, rank, parts):
        self.net, self.opt, self.parts = Replica(net.cuda(rank)), opt, parts

    def training_step(self, x, y):
        self.opt.zero_grad()
        for a, b in zip(x.chunk(self.parts), y.chunk(self.parts)):
            (nn.functional.mse_loss(self.net(a), b) / self.parts).backward()  # TL901
        self.opt.step()
