"""NumPy's doubles reach the device, from a table, from samples, and by a factory."""

import numpy as np
import torch
from torch import nn


class Waves:
    def __init__(self, n, device="cuda"):
        self.phase = torch.from_numpy(np.linspace(0, 2 * np.pi, n)).to(device)  # TL402

    def at(self, k):
        return self.phase[k]


def noise(shape):
    return torch.tensor(np.random.normal(size=shape), device="cuda")  # TL402


def fit(net: nn.Module, opt, source, steps):
    net = net.cuda().double()  # TL402
    for _ in range(steps):
        x = torch.from_numpy(np.random.rand(64, 8)).cuda()  # TL402
        y = torch.as_tensor(source(), dtype=torch.float64, device="cuda")  # TL402
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
