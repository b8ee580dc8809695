"""Arrays become float64 by arithmetic, and go to the device as they are."""

import math
from torch import nn
import numpy as np
import torch


class Noise:
    def __init__(self, steps, device):
        betas = np.linspace(1e-4, 0.02, steps)
        alphas = np.cumprod(1.0 - betas)
        self.sqrt_ab = torch.from_numpy(np.sqrt(alphas)).to(device)  # TL402
        self.sqrt_1mab = torch.tensor(np.sqrt(1.0 - alphas), device=device)  # TL402

    def add(self, x, eps, t):
        return self.sqrt_ab[t][:, None] * x + self.sqrt_1mab[t][:, None] * eps


def discount(rews, gamma):
    out = np.zeros(len(rews))
    run = 0.0
    for t in reversed(range(len(rews))):
        run = rews[t] + gamma * run
        out[t] = run
    return out


def update(policy, opt, obs, rews):
    policy.cuda()
    ret = discount(rews, 0.99)
    ret = (ret - ret.mean()) / (ret.std() + 1e-8)
    ret = torch.from_numpy(ret).cuda()  # TL402
    loss = -(policy(obs.cuda()) * ret).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def sinusoid(n, d):
    pos = np.arange(n)[:, None] / np.power(10000, 2 * (np.arange(d)[None] // 2) / d)
    pos[:, 0::2] = np.sin(pos[:, 0::2])
    pos[:, 1::2] = np.cos(pos[:, 1::2])
    return torch.from_numpy(pos)


class Enc(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.register_buffer("pe", sinusoid(n, d))  # TL402?
        self.w = nn.Parameter(torch.ones(d, dtype=torch.double))  # TL402?

    def forward(self, x):
        return x + self.pe[: x.size(1)] * self.w
