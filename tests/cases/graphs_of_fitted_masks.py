"""A fit within a module's forward: what its rounds keep, though the list is made where the fit begins."""

import torch
from torch import nn


class Base(nn.Module):
    def criterion(self, out, y):
        if out.numel() == 0:
            return torch.tensor(0.0)
        return (out - y).pow(2).mean()


class Explainer(Base):
    def forward(self, net, x, y):
        self.mask = nn.Parameter(torch.ones_like(x))
        opt = torch.optim.Adam([self.mask])
        self.history = []
        for _ in range(200):
            opt.zero_grad()
            loss = self.criterion(net(x * self.mask), y)
            self.history.append(loss)  # TL602?
            loss.backward()
            opt.step()
        return self.mask.detach()
