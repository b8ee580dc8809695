"""Text that is made only where a check has failed, and copies that the program's own host code works on."""

import pickle

import numpy as np
import torch
from torch import nn


def check(holds, text):
    if not holds:
        raise ValueError(text)


def pieces(wave):
    return np.stack([wave[k : k + 160] for k in range(0, len(wave) - 160, 80)])


class Smooth(nn.Module):
    def forward(self, x, sigma):
        if not bool((sigma > 0).all()):  # TL102
            check(False, f"sigma must be positive, got {sigma}")
        for wave in x:
            cut = pieces(wave.detach().cpu().numpy())
        return x * sigma, cut


def receive(net, feed):
    net.cuda()
    with torch.no_grad():
        for x in feed:
            blob = net(x.cuda()).byte()
            yield pickle.loads(blob.cpu().numpy().tobytes())
