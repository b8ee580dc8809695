"""A loop that applies what it iterates goes through layers, not steps, also where that has a `__call__` of its own."""

import torch
from torch import nn


class Shift:
    def __call__(self, image):
        return torch.roll(image, 1, dims=-1)

    def shifted(self, image, points):
        return self(image), points + 1


class Chain:
    def __init__(self, parts):
        self.parts = parts

    def erased(self, part: nn.Module, image: torch.Tensor):
        top, left = part.get_params(image, ratio=part.ratio)
        return image.index_fill(-1, left, 0.0) * top

    def apply(self, image: torch.Tensor, points: torch.Tensor, mirrored=False):
        for part in self.parts:
            if hasattr(part, "shifted"):
                image, points = part.shifted(image, points)
            elif hasattr(part, "ratio"):
                image = self.erased(part, image)
            else:
                image = part(image)
                if mirrored:
                    points = points[[0, 2, 1, 4, 3]]
        return image.to("cuda"), points


def chain(others):
    return Chain([Shift(), *others])
