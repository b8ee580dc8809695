"""Losses are summed with their graph: in an attribute, in a dictionary, in an evaluation."""

import torch
from torch import nn


class Fit:
    def __init__(self, net: nn.Module, opt):
        self.net, self.opt = net.cuda(), opt
        self.total = 0.0
        self.terms = {"main": 0.0}

    def run(self, feed):
        for x, y in feed:
            out = nn.functional.mse_loss(self.net(x), y)
            self.opt.zero_grad()
            out.backward()
            self.opt.step()
            self.total += out  # TL601
            self.terms["main"] = self.terms["main"] + out  # TL601
        return self.total


def check(net: nn.Module, feed):
    net = net.cuda().eval()
    seen = 0
    for x, y in feed:
        seen += nn.functional.mse_loss(net(x), y)  # TL601?, TL603?
    return seen
