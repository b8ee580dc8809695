"""A program that turns the validation of distributions off for all."""

import torch
from torch import nn
from torch.distributions import Distribution, Normal

Distribution.set_default_validate_args(False)


class Actor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mean = nn.Linear(width, 1)

    def forward(self, x):
        return Normal(self.mean(x), torch.ones_like(x[..., :1]))
