"""Gates of two tensors, activations in compiled code, and the modules that torch has."""

import torch
from torch import nn


@torch.compile
def swish(x):
    return x * torch.sigmoid(x)


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b, self.act = nn.Linear(width, width), nn.Linear(width, width), nn.SiLU()

    def forward(self, x):
        y = self.a(x) * torch.sigmoid(self.b(x))
        z = x * torch.sigmoid(self.a(x))
        return self.act(y + z) * torch.tanh(x)
