"""Every run is made deterministic, seed or not, by a helper."""

import random

import numpy as np
import torch
from torch import nn


def seed_all(seed=0):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = True  # TL406
    torch.use_deterministic_algorithms(True)  # TL406


def main(net: nn.Module, opt, feed):
    seed_all()
    net = net.cuda()
    for x, y in feed:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
