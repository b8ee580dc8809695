"""A policy builds a distribution with validation on every update."""

import torch
from torch import nn
from torch.distributions import Categorical, Independent, Normal


class Actor(nn.Module):
    def __init__(self, width, acts):
        super().__init__()
        self.body = nn.Linear(width, 2 * acts)

    def forward(self, obs):
        mean, log_std = self.body(obs).chunk(2, dim=-1)
        return Normal(mean, log_std.exp())  # TL111


class Chooser(nn.Module):
    def __init__(self, width, acts):
        super().__init__()
        self.body = nn.Linear(width, acts)

    def forward(self, obs):
        return Categorical(logits=self.body(obs))  # TL111
