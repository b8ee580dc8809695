"""Densities whose parameters come from a sample."""

import torch
import torch.distributions as dist
from torch import nn


class Vae(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.enc = nn.Linear(d, 2 * d)
        self.dec = nn.Linear(d, d)

    def forward(self, x):
        loc, log_scale = self.enc(x).chunk(2, -1)
        q = dist.Independent(dist.Normal(loc, log_scale.exp()), 1)  # TL111
        z = q.rsample()
        p = dist.ContinuousBernoulli(logits=self.dec(z))  # TL111
        prior = dist.Independent(dist.Normal(torch.zeros_like(loc), 1.0), 1)  # TL111
        return dist.kl_divergence(q, prior) - p.log_prob(x).sum(-1)  # TL111
