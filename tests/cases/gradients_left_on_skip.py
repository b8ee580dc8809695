"""A bad batch is skipped after its backward, and its gradients stay."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed, limit):
    net = net.cuda()
    for k, (x, y) in enumerate(feed):
        out = nn.functional.mse_loss(net(x), y)
        out.backward()
        if k in limit:
            continue  # TL610
        opt.step()
        opt.zero_grad()
