"""The gradient norm is read on every step for a running average that is shown every hundred steps."""

import torch
from torch import nn


class Ledger:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value):
        self.total += float(value)  # TL101
        self.count += 1


def fit(net: nn.Module, opt, feed, ceiling=1.0):
    net.cuda()
    ledger = Ledger()
    for k, (x, y) in enumerate(feed):
        out = nn.functional.cross_entropy(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
        opt.zero_grad()
        out.backward()
        ledger.add(nn.utils.clip_grad_norm_(net.parameters(), ceiling))
        opt.step()
        if k % 100 == 0:
            print(k, ledger.total / max(1, ledger.count))
