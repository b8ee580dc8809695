"""The graph is kept though no second backward runs over it."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed):
    net = net.cuda()
    for x, y in feed:
        out = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        out.backward(retain_graph=True)  # TL604
        opt.step()


class Truncated:
    def __init__(self, cell, opt):
        self.cell, self.opt = cell.cuda(), opt

    def run(self, feed, h):
        for x, y in feed:
            out, h = self.cell(x, h)
            cost = nn.functional.mse_loss(out, y)
            self.opt.zero_grad()
            cost.backward(retain_graph=True)  # TL604?
            self.opt.step()
            h = h.detach()
