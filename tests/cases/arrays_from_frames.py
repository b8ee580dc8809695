"""A list of arrays becomes a tensor element by element."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def load(files):
    return [np.load(f) for f in files]


class Memory:
    def __init__(self):
        self.rows = []

    def push(self, obs):
        self.rows.append(np.asarray(obs, dtype=np.float32))

    def batch(self):
        return torch.tensor(self.rows)  # TL208


def frames(files):
    return torch.FloatTensor(load(files))  # TL208


def pairs(samples):
    states = [np.array(s.state) for s in samples]
    return torch.as_tensor(states, dtype=torch.float32)  # TL208


def inline(files):
    return torch.tensor([np.load(f)["x"] for f in files])  # TL208


class Clips(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return np.load(self.files[index]).astype(np.float32), index


class Cut:
    def __init__(self, length):
        self.length = length

    def __call__(self, batch):
        starts = [np.random.randint(0, len(clip) - self.length) for clip, _ in batch]
        cut = [clip[start : start + self.length] for (clip, _), start in zip(batch, starts)]
        return torch.tensor(cut, dtype=torch.float), torch.tensor([index for _, index in batch])  # TL208


def clips(files):
    return DataLoader(Clips(files), batch_size=16, num_workers=4, pin_memory=True, collate_fn=Cut(8192))
