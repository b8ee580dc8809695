"""Flags that each round sets anew let the branch run in every round."""

import torch
from torch import nn


def fit(net, feed):
    net = net.cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    best, told, seen = None, False, False
    for x, y in feed:
        out = net(x.cuda())
        told = False
        low = None
        for row in range(8):
            if not told:
                print(out[row].mean().item())  # TL101
                told = True
        if low is None:
            low = out.min().item()  # TL101
        if not seen or out.max() > 9:  # TL102
            print(out.max().item())  # TL101
            seen = True
        loss = nn.functional.cross_entropy(out, y.cuda())
        if best is None or loss < best:  # TL102
            best = loss.detach()
            print(best.item())  # TL101
        opt.zero_grad()
        loss.backward()
        opt.step()
