"""An average of weights is told how to update, and is given to the loop that trains."""

from copy import deepcopy

import torch
from torch import nn


class Average(nn.Module):
    def __init__(self, net, decay=0.999):
        super().__init__()
        self.kept = deepcopy(net).eval()
        self.decay = decay

    def _each(self, net, rule):
        with torch.no_grad():
            for mine, theirs in zip(self.kept.state_dict().values(), net.state_dict().values()):  # TL204
                mine.copy_(rule(mine, theirs))

    def update(self, net):
        self._each(net, lambda a, b: self.decay * a + (1.0 - self.decay) * b)

    def adopt(self, net):
        for mine, theirs in zip(self.kept.parameters(), net.parameters()):
            mine.data.copy_(theirs.data)


def epoch(net, feed, opt, criterion, average):
    net = net.cuda().train()
    for x, y in feed:
        loss = criterion(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if average is not None:
            average.update(net)
