"""The faster mode is switched off, and nobody says why."""

import torch
from torch import nn

torch.backends.cuda.matmul.allow_tf32 = False  # TL401


def main(feed):
    net = nn.Linear(512, 512).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-4)
    for x, y in feed:
        opt.zero_grad()
        nn.functional.mse_loss(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True)).backward()
        opt.step()
