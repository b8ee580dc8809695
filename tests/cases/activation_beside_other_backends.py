"""An activation written out, which only another backend has fused, in a method of the function's name."""

import torch
import torch.nn.functional as F
from torch import nn


class Act(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def gelu(self, x):
        if x.device.type == "mps" and torch.__version__ < "2":
            return F.gelu(x.float(), approximate="tanh").to(x.dtype)
        return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3)))  # TL305

    def forward(self, x):
        return self.gelu(self.proj(x))


class Chosen(nn.Module):
    def __init__(self, exact):
        super().__init__()
        self.exact = exact

    def forward(self, x):
        if self.exact:
            return F.gelu(x)
        return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3)))


@torch.jit.script
def scripted(x):
    return x * torch.sigmoid(x)
