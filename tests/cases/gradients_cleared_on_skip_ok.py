"""The gradients are cleared first, or on the way out."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed, limit):
    net = net.cuda()
    for k, (x, y) in enumerate(feed):
        opt.zero_grad()
        out = nn.functional.mse_loss(net(x), y)
        out.backward()
        if k in limit:
            continue  # no TL610
        opt.step()


def other(net: nn.Module, opt, feed, limit):
    for k, (x, y) in enumerate(feed):
        nn.functional.mse_loss(net(x), y).backward()
        if k in limit:
            opt.zero_grad()
            continue  # no TL610
        opt.step()
        opt.zero_grad()
