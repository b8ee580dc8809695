"""A step of several parts is given up when one of them does not fit: what the parts before it left stays."""

from torch import nn


class Fitter:
    def __init__(self, net: nn.Module, opt, criterion):
        self.net, self.opt, self.criterion = net.cuda(), opt, criterion

    def step(self, parts):
        for part in parts:
            try:
                self.criterion(self.net, part).backward()
            except RuntimeError:
                return False  # TL610
        self.opt.step()
        self.opt.zero_grad()
        return True

    def fit(self, groups):
        return sum(self.step(parts) for parts in groups)
