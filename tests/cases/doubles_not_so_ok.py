"""Truth values, counts, narrow floats and host tensors are no float64 on the device."""

import numpy as np
import torch


def feats(x, device):
    a = torch.from_numpy(np.zeros((4, 4), dtype=np.float32)).to(device)
    b = torch.from_numpy(np.random.rand(3, 3)).float().to(device)
    c = torch.tensor(np.ones(5), dtype=torch.float32, device=device)
    d = torch.from_numpy(np.arange(5)).to(device)
    e = torch.as_tensor(np.random.randn(3, 3), device=device, dtype=x.dtype)
    f = torch.from_numpy(np.random.randint(0, 5, (5,))).cuda()
    g = torch.from_numpy(np.zeros(5) > 0).cuda()
    h = torch.FloatTensor(np.random.rand(4)).cuda()
    return a, b, c, d, e, f, g, h


def stats(x):
    x = x.detach().cpu().double()
    m = torch.zeros(5, dtype=torch.float64)
    t = torch.from_numpy(np.random.rand(100))
    return m + x.mean(), t.sum()


def frames(video):
    v = np.asarray(video)
    return torch.from_numpy(v).cuda()


def compare(a, b, device):
    same = np.random.rand(4) < 0.5
    return torch.from_numpy(same).to(device), torch.tensor(np.zeros(3) == 0, device=device)
