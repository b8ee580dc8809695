"""A penalty on weights and a norm of gradients, summed in Python."""

import torch
from torch import nn


def size_of_gradients(net):
    total = 0.0
    for p in net.parameters():  # TL204
        if p.grad is not None:
            total += p.grad.detach().norm() ** 2
    return total**0.5


def fit(net: nn.Module, opt, feed, norms):
    net.cuda()
    for x, y in feed:
        out = nn.functional.mse_loss(net(x), y)
        out = out + 1e-4 * sum(p.pow(2).sum() for p in net.parameters())  # TL204
        opt.zero_grad()
        out.backward()
        norms.append(size_of_gradients(net))
        opt.step()
