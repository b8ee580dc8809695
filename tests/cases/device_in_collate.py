"""A collate function puts the batch on the device, in the loader's workers."""

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class Pack:
    def __init__(self, device):
        self.device = device

    def __call__(self, rows):
        x = pad_sequence([r[0] for r in rows], batch_first=True)
        y = torch.tensor([r[1] for r in rows], device="cuda")  # TL506
        return x.cuda(), y  # TL506


def make(data):
    return DataLoader(data, batch_size=8, num_workers=4, collate_fn=Pack("cuda"), persistent_workers=True)
