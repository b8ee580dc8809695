"""Arrays are stacked first, or the list holds numbers."""

import numpy as np
import torch


def load(files):
    return torch.from_numpy(np.stack([np.load(f) for f in files]))


def numbers(rows):
    means = [float(np.mean(r)) for r in rows]
    return torch.tensor(means), torch.tensor([len(r) for r in rows]), torch.tensor(np.array(rows))


def one(path):
    return torch.tensor(np.load(path)), torch.stack([torch.from_numpy(np.load(path))])
