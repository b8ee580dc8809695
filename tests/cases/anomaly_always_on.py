"""The search for bad gradients is on: globally, and around the steps."""

import torch
from torch import autograd, nn

autograd.set_detect_anomaly(True)  # TL704


class Fit:
    def __init__(self, net: nn.Module, opt):
        self.net, self.opt = net.cuda(), opt

    def step(self, x, y):
        with torch.autograd.detect_anomaly():  # TL704
            out = nn.functional.mse_loss(self.net(x), y)
            self.opt.zero_grad()
            out.backward()
        self.opt.step()
