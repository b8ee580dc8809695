"""Parameters are written, targets are used in a loss, weights are initialised."""

import torch
from torch import nn


class Twin(nn.Module):
    def __init__(self, net, slow):
        super().__init__()
        self.net, self.slow = net, slow
        with torch.no_grad():  # no TL607
            for p in self.net.parameters():
                p.normal_(std=0.02)

    @torch.no_grad()  # no TL607
    def follow(self):
        torch._foreach_lerp_(list(self.slow.parameters()), list(self.net.parameters()), 0.01)

    def forward(self, x):
        with torch.no_grad():  # no TL607
            goal = self.slow(x)
        return nn.functional.mse_loss(self.net(x), goal)
