"""Networks that end in a sigmoid, held by an object that is no module."""

import torch
import torch.nn as nn


class GAN:
    def __init__(self, device):
        self.D = nn.Sequential(nn.Linear(784, 128), nn.LeakyReLU(), nn.Linear(128, 1), nn.Sigmoid()).to(device)
        self.loss = nn.BCELoss()

    def d_step(self, real, fake):
        lr = self.loss(self.D(real), torch.ones(real.size(0), 1, device=real.device))  # TL308
        pf = self.D(fake.detach())
        lf = self.loss(pf, torch.zeros_like(pf))  # TL308
        return (lr + lf) / 2
