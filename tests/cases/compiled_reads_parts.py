"""Elements of what a compiled module is given become numbers: nothing but their use tells that it is a tensor."""

import torch
from torch import nn


def extent(box):
    return int(box[2] - box[0] + 1), int(box[3] - box[1] + 1)  # TL801?, TL101?


class Paste(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Conv2d(256, 1, 1)

    def forward(self, features, box):
        width, height = extent(box)
        return nn.functional.interpolate(self.score(features), size=(height, width))


def build():
    return torch.compile(Paste().cuda())
