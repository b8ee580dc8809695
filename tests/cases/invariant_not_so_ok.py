"""What changes by the round, by chance, by training, or is small, stays within its loop."""

import torch
from torch import nn


def fit(net: nn.Module, head: nn.Linear, opt, feed, anchors):
    net.cuda()
    head.cuda()
    anchors = anchors.cuda()
    for x, y in feed:
        code = head(anchors)
        at = torch.arange(4, device="cuda")
        noise = torch.randn(1024, 1024, device="cuda")
        out = net(x.cuda(non_blocking=True)) @ code.T + noise[at].mean()
        opt.zero_grad()
        nn.functional.cross_entropy(out, y.cuda(non_blocking=True)).backward()
        opt.step()


@torch.no_grad()
def refine(net, x, rounds):
    for _ in range(rounds):
        x = x - 0.1 * net(x)
    return x
