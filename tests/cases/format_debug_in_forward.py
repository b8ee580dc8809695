"""A forward prints the statistics of its input, and logs with lazy arguments."""

import logging

import torch
from torch import nn

log = logging.getLogger(__name__)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        y = self.mix(x)
        print("mean", y.mean())  # TL104
        log.info("largest %s", y.abs().max())  # TL104
        note = "rms {}".format(y.pow(2).mean().sqrt())  # TL104
        self.note = note
        return y
