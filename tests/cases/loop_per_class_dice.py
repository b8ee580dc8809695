"""A segmentation criterion walks over the classes."""

import torch
from torch import nn


class Dice(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes

    def one(self, p, g):
        return 1 - (2 * (p * g).sum() + 1) / (p.sum() + g.sum() + 1)

    def forward(self, logits, gold):
        prob = logits.softmax(1)
        total = 0
        for c in range(self.classes):  # TL201
            total = total + self.one(prob[:, c], (gold == c).float())
        return total / self.classes
