"""The collate function stays on the host; a dataset that lives on the device has no workers, and nothing to pin."""

import torch
from torch.utils.data import DataLoader, Dataset


def pack(rows):
    x = torch.stack([r[0] for r in rows])
    return x, torch.tensor([r[1] for r in rows])


class OnDevice(Dataset):
    def __init__(self, table):
        self.table = table.cuda()

    def __len__(self):
        return len(self.table)

    def __getitem__(self, k):
        return self.table[k]


class Placed(Dataset):
    def __init__(self, table, device):
        self.table, self.device = table, device

    @classmethod
    def read(cls, table, device):
        return cls(table, device=device)

    def __len__(self):
        return len(self.table)

    def __getitem__(self, k):
        return torch.tensor(self.table[k], device=self.device)


def feeds(data, table):
    a = DataLoader(data, batch_size=8, num_workers=4, collate_fn=pack, pin_memory=True)
    return a, DataLoader(OnDevice(table), batch_size=8, num_workers=0)


class Simulated(Dataset):
    def __init__(self, simulate, n, device):
        self.simulate, self.n, self.device = simulate, n, device

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        theta = torch.rand(8, device=self.device)
        return theta, self.simulate(theta)


def fit(net, opt, simulate, batches=1000):
    net.cuda()
    feed = DataLoader(Simulated(simulate, 256 * batches, "cuda"), batch_size=256)
    for theta, x in feed:
        loss = -net.log_prob(theta.cuda(), x).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def placed(table, workers):
    device = torch.device("cuda")
    if workers == 0:
        return Placed.read(table, device=device)
    rows = Placed.read(table, device=torch.device("cpu"))
    return DataLoader(rows, batch_size=8, num_workers=workers, pin_memory=True)
