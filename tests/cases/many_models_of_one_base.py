"""A method that more models fill in than a call can follow gives what is not known, and not what the base gives."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lin = nn.Linear(dim, 1)

    def forward(self, x):
        return self.lin(x)

    def score(self, batch):
        raise NotImplementedError


class Lin(Model):
    def score(self, batch):
        return self(0 * batch)


class Bias(Model):
    def score(self, batch):
        return self(1 * batch)


class Gate(Model):
    def score(self, batch):
        return self(2 * batch)


class Skip(Model):
    def score(self, batch):
        return self(3 * batch)


class Wide(Model):
    def score(self, batch):
        return self(4 * batch)


class Deep(Model):
    def score(self, batch):
        return self(5 * batch)


class Cross(Model):
    def score(self, batch):
        return self(6 * batch)


class Pair(Model):
    def score(self, batch):
        return self(7 * batch)


class Rank(Model):
    def score(self, batch):
        return self(8 * batch)


class Mean(Model):
    def score(self, batch):
        return self(9 * batch)


class Hist(Model):
    def score(self, batch):
        return self(10 * batch)


class Seq(Model):
    def score(self, batch):
        return self(11 * batch)


class Tree(Model):
    def score(self, batch):
        return self(12 * batch)


class Path(Model):
    def score(self, batch):
        return self(13 * batch)


class Hash(Model):
    def score(self, batch):
        return self(14 * batch)


class Mix(Model):
    def score(self, batch):
        return self(15 * batch)


class Sum(Model):
    def score(self, batch):
        return self(16 * batch)


@torch.no_grad()
def evaluate(net: Model, loader: torch.utils.data.DataLoader):
    net = net.cuda().eval()
    total = 0.0
    for batch in loader:
        total += net.score(batch.cuda()).item()  # TL101?
    return total
