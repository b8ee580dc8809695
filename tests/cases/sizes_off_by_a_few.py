"""Sizes of layers that miss the multiples that matrix units want."""

from torch import nn

WORDS = 50257


class Model(nn.Module):
    def __init__(self, width=768):
        super().__init__()
        self.inner = nn.Linear(width, 1021)  # TL407
        self.head = nn.Linear(width, WORDS, bias=False)  # TL407

    def forward(self, x):
        return self.head(x), self.inner(x)
