"""The newer implementation, an option of the caller, another function of this name."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Deep(nn.Module):
    def __init__(self, layers, **options):
        super().__init__()
        self.layers, self.options = nn.ModuleList(layers), options

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
            x = checkpoint(layer, x, **self.options)
        return x


class Saver:
    def checkpoint(self, path):
        torch.save({}, path)

    def run(self, steps):
        for k in range(steps):
            if k % 100 == 0:
                self.checkpoint(f"{k}.pt")
