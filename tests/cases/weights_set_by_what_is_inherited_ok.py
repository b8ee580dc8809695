"""Adapters that are merged one after the other: a call of what the layer inherits sets weights, and runs nothing."""

import torch
from adapters import BaseLayer
from torch import nn


class Layer(nn.Module, BaseLayer):
    def __init__(self, dim, rank, names):
        super().__init__()
        self.down = nn.ModuleDict({name: nn.Linear(rank, dim) for name in names}).cuda()
        self.up = nn.ModuleDict({name: nn.Linear(dim, rank) for name in names}).cuda()
        self.norms = {}

    def delta(self, name):
        return self.down[name].weight @ self.up[name].weight

    def merge(self, names):
        for name in names:
            weight = self.base_weight().clone()
            weight += self.delta(name)
            if not torch.isfinite(weight).all():
                raise ValueError(name)
            norm = weight.norm().item()
            self.set_base_weight(weight)
            self.norms[name] = norm
