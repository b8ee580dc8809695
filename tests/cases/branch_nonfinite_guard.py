"""A training step asks whether its loss is finite, in a helper that looks like mathematics."""

import torch
from torch import nn


def usable(value):
    return torch.isfinite(value).all()


class Runner:
    def __init__(self, net: nn.Module, opt):
        self.net = net.to("cuda")
        self.opt = opt

    def run(self, feed):
        for x, y in feed:
            out = nn.functional.mse_loss(self.net(x), y)
            self.opt.zero_grad()
            if not usable(out):  # TL102
                continue
            out.backward()
            self.opt.step()
