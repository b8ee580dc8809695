"""The precision is set, or the training is mixed, or the network has convolutions alone."""

import torch
from torch import nn


def precise(feed):
    torch.set_float32_matmul_precision("high")
    net = nn.Linear(512, 512).cuda()  # no TL401
    opt = torch.optim.AdamW(net.parameters(), lr=1e-4)
    for x, y in feed:
        opt.zero_grad()
        nn.functional.mse_loss(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True)).backward()
        opt.step()
