"""The collate function stays on the host; a dataset that lives on the device has no workers."""

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


def feeds(data, table):
    a = DataLoader(data, batch_size=8, num_workers=4, collate_fn=pack, pin_memory=True)
    return a, DataLoader(OnDevice(table), batch_size=8, num_workers=0)
