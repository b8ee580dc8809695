"""Covariances and a decomposition in forward."""

import torch
from torch import nn


class Whiten(nn.Module):
    def forward(self, x):
        c = torch.cov(x.T)  # TL111
        e, v = torch.linalg.eigh(c)  # TL111
        return x @ v @ torch.diag(e.rsqrt()) @ v.T


def decorrelation(z):
    return torch.corrcoef(z.T).triu(1).square().sum()  # TL111


def step(net, loader, opt):
    net.cuda()
    for x in loader:
        loss = decorrelation(net(x.cuda()))
        opt.zero_grad()
        loss.backward()
        opt.step()
