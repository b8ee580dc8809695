"""Gradients set to None, by the default and by hand; a buffer that is zeroed; a choice of the user."""

import torch
from torch import nn


class Trainer:
    def __init__(self, net: nn.Module, opt, to_none):
        self.net, self.opt, self.to_none = net.cuda(), opt, to_none
        self.flat = torch.zeros(100, device="cuda")

    def step(self, x, y):
        self.opt.zero_grad()
        for p in self.net.parameters():
            p.grad = None
        nn.functional.mse_loss(self.net(x), y).backward()
        self.opt.step()
        self.flat.zero_()
        self.opt.zero_grad(set_to_none=self.to_none)
