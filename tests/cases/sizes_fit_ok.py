"""Sizes that fit, that are small, or that come from the outside."""

from torch import nn


class Model(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.a = nn.Linear(768, 3072)  # no TL407
        self.b = nn.Linear(width, words)  # no TL407
        self.c = nn.Linear(768, 10)  # no TL407

    def forward(self, x):
        return self.c(self.a(x))
