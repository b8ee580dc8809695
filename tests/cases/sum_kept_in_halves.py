"""A sum over an epoch is kept in sixteen bits."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed):
    net = net.cuda().half()
    total = torch.zeros((), dtype=torch.float16, device="cuda")
    for x, y in feed:
        out = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        out.backward()
        opt.step()
        total += out.detach()  # TL408
    return total.item() / len(feed)
