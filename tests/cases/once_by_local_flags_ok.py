"""What a flag of the function lets happen in the first round alone: it stays as the branch leaves it."""

import torch
from torch import nn


def fit(net, feed, tell):
    net = net.cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    checked, fresh, shown = False, True, False
    reference = None
    for x, y in feed:
        x, y = x.cuda(), y.cuda()
        out = net(x)
        if not checked:
            assert torch.isfinite(out).all()
            checked = True
        if fresh:
            print(out.mean().item())
            fresh = False
        loss = nn.functional.cross_entropy(out, y)
        if tell and not shown:
            print(loss.item())
            shown = True
        if reference is None:
            reference = loss.item()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return reference
