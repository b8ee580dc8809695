"""A kernel in a language of its own, a look at a loader's first batch, and clocks around the host's own work."""

import time

import numpy as np
import scipy.sparse as sp
import tilelang.language as T
import torch
from torch.utils.data import DataLoader, Dataset


def make(full, tail):
    @T.prim_func
    def kernel(out: torch.Tensor, x: torch.Tensor, lens: torch.Tensor):
        n = lens[0]
        for cs in T.Parallel(8):
            if cs < n:
                out[cs] = x[n : n + 8]

    return kernel


class Copied(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lens):
        out = torch.empty_like(x)
        make(1, 2)(out, x, lens)
        return out


class Rows(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return torch.from_numpy(np.load(self.files[i]))


look = DataLoader(Rows(["a"]), batch_size=8, shuffle=True)
for step, x in enumerate(look):
    print(x.shape, (x * 2).mean(dim=0).shape)
    break


def normalize(features):
    assert sp.issparse(features)
    total = np.array(features.sum(-1))
    return sp.diags(np.power(total, -1).squeeze()).dot(features)


def profile(features):
    n = 1000
    t = time.time()
    for _ in range(n):
        _ = normalize(features)
    print((time.time() - t) / n)


def fit(model, optimizer, files):
    loader = DataLoader(Rows(files), batch_size=8, shuffle=True, num_workers=4, pin_memory=True)
    t = time.time()
    for x in loader:
        model(x.cuda(non_blocking=True)).mean().backward()
        optimizer.step()
    torch.save(model.state_dict(), "model.pt")
    return time.time() - t
