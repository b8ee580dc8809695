"""A permutation of the host shuffles the batch of the device on every step."""

import torch
from torch.nn import functional as F


def mixed(x, y):
    order = torch.randperm(x.size(0))
    return 0.5 * (x + x[order]), y, y[order]  # TL109


def fit(net, opt, feed):
    net = net.cuda()
    for x, y in feed:
        x, a, b = mixed(x.cuda(non_blocking=True), y.cuda(non_blocking=True))
        out = net(x)
        opt.zero_grad()
        (F.cross_entropy(out, a) + F.cross_entropy(out, b)).backward()
        opt.step()
