"""A dataset keeps a dictionary for every sample, and many workers read it."""

import csv

import torch
from torch.utils.data import DataLoader, Dataset


class Table(Dataset):
    def __init__(self, path):
        with open(path) as lines:
            self.rows = list(csv.DictReader(lines))  # TL510

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, k):
        row = self.rows[k]
        return torch.tensor([float(row["a"]), float(row["b"])])


def make(path):
    return DataLoader(Table(path), batch_size=64, num_workers=16, pin_memory=True, persistent_workers=True)
