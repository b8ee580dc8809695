"""Gradients are zeroed in place, by a loop and by the option of the module."""

import torch
from torch import nn


class Trainer:
    def __init__(self, net: nn.Module, opt):
        self.net, self.opt = net.cuda(), opt

    def clear(self):
        for p in self.net.parameters():
            if p.grad is not None:
                p.grad.zero_()  # TL206

    def step(self, x, y):
        self.clear()
        nn.functional.mse_loss(self.net(x), y).backward()
        self.opt.step()

    def reset(self):
        self.net.zero_grad(set_to_none=False)  # TL206
