"""A meter's tensor grows update by update; a dense block's does with its layers."""

from torch import nn
import torch


class Meter:
    def reset(self):
        self.preds = torch.tensor([]).cuda()

    def update(self, p):
        self.preds = torch.cat([self.preds, p.flatten()])  # TL203


def evaluate(net, loader):
    m = Meter()
    m.reset()
    with torch.no_grad():
        for x in loader:
            m.update(net(x.cuda()))
    return m.preds.mean()


class Dense(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for l in self.layers:
            x = torch.cat([x, l(x)], 1)
        return x


def collect(net, loader):
    outs = []
    for x in loader:
        outs.append(net(x))
    a = torch.cat(outs)
    for k in range(3):
        a = torch.cat([a, a.flip(0)])
    return a
