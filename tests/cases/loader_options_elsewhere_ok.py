"""Loaders with workers, with options from elsewhere, of tensors in memory, or for the host."""

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Rows(Dataset):
    def __init__(self, table):
        self.table = table

    def __len__(self):
        return len(self.table)

    def __getitem__(self, k):
        return self.table[k]


def feeds(data, options, **kwargs):
    a = DataLoader(data, **kwargs)
    b = DataLoader(data, num_workers=options.workers, pin_memory=options.pin)
    c = DataLoader(data, num_workers=4, pin_memory=torch.cuda.is_available(), persistent_workers=True)
    d = DataLoader(Rows(torch.randn(100, 3)), batch_size=10, pin_memory=True)
    return a, b, c, d


def host(x, y):
    net = torch.nn.Linear(3, 1)
    for a, b in DataLoader(TensorDataset(x, y), batch_size=10):
        torch.nn.functional.mse_loss(net(a), b).backward()
