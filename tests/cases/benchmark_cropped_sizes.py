"""The search for the fastest kernel is on, and every batch has another size."""

import random

import torch
from torch import nn
from torch.nn import functional as F

torch.backends.cudnn.benchmark = True  # TL405


def fit(net: nn.Module, opt, feed):
    net = net.cuda()
    for x, y in feed:
        side = random.choice(range(256, 513))
        x = F.interpolate(x.cuda(non_blocking=True), size=(side, side))
        opt.zero_grad()
        F.cross_entropy(net(x), y.cuda(non_blocking=True)).backward()
        opt.step()
