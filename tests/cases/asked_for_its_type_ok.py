"""What is asked whether its type is a number is one there, though a caller gives a tensor."""

import torch
from torch import nn


class Schedule(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("betas", torch.linspace(0, 1, 100))

    def alpha_bar(self, step):
        if type(step) is int:
            return (1 - self.betas[: step + 1]).prod()
        return (1 - self.betas).cumprod(dim=0)[step]

    def beta(self, step):
        if type(step) is not int:
            return self.betas.gather(0, step)
        return self.betas[:step].sum()

    def forward(self, x):
        step = torch.randint(0, 100, (x.size(0),), device=x.device)
        return x * self.alpha_bar(step)[:, None] + self.beta(step)[:, None]
