"""Lists of NumPy's scalars, which are no arrays: each is one number."""

import numpy as np
import torch


def golden(n):
    return torch.tensor([(k * ((np.sqrt(5) + 1) / 2)) % 1 for k in range(1, n + 1)]).float()


def constant(shape, device):
    return torch.tensor([np.prod(shape) / 2 * np.log(np.pi * 2)]).to(device)


def curvature(c):
    return torch.tensor([np.double(c)])


def distance(a, b):
    return 0.5 * np.mean((a - b) ** 2)


def distances(pairs):
    return [torch.Tensor((distance(a.cpu().numpy(), b.cpu().numpy()).astype("float"),)) for a, b in pairs]
