"""Sums that a backward needs, detached ones, and those of an evaluation without gradients."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed, parts):
    net = net.cuda()
    shown = torch.zeros((), device="cuda")
    for x, y in feed:
        total = 0.0
        for k in range(parts):
            total = total + nn.functional.mse_loss(net(x + k), y)
        opt.zero_grad()
        total.backward()
        opt.step()
        shown += total.detach()
    return shown / len(feed)


@torch.no_grad()
def check(net: nn.Module, feed):
    seen = 0
    for x, y in feed:
        seen += nn.functional.mse_loss(net(x), y)
    return seen


def unrolled(cell, x, steps, opt):
    h, cost = x, 0
    for _ in range(steps):
        h = cell(h)
        cost += h.square().mean()
    opt.zero_grad()
    cost.backward()
    opt.step()
