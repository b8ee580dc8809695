"""Convolutions with a bias before a batch norm: in a list of layers, in forward, in a helper."""

from torch import nn


def unit(a, b, stride=1):
    return nn.Sequential(
        nn.Conv2d(a, b, 3, stride, 1),  # TL309
        nn.BatchNorm2d(b),
        nn.ReLU(inplace=True),
    )


class Stem(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv1d(1, width, 7)  # TL309
        self.norm = nn.BatchNorm1d(width)
        layers = []
        for _ in range(3):
            layers += [nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU()]  # TL309
        self.rest = nn.Sequential(*layers)
        self.unit = unit(width, width)

    def forward(self, x):
        x = self.norm(self.first(x)).relu()
        return self.rest(x.mean(-1))
