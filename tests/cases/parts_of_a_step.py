"""What one step holds: the losses of its discriminators; and sums over the first samples alone."""

import torch
from torch import nn


class Adversarial(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())

    def train_one(self, fake, real):
        loss = (self.net(fake).mean() - self.net(real).mean()).abs()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss


class Scale(nn.Module):
    def __init__(self, bands, first=1000):
        super().__init__()
        self.split = bands
        self.first = first
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("sum", torch.zeros(4))

    def project(self, x):
        bands = self.split(x)
        if self.seen.item() < self.first:  # TL101
            self.seen += len(x)
            self.sum += bands.mean(dim=(0, 2))
        return x / (self.sum / self.seen).mean()


class Solver:
    def __init__(self, model, nets, opt, bands):
        self.model = model.cuda()
        self.scale = Scale(bands).cuda()
        self.adversaries = nn.ModuleDict({name: Adversarial(net.cuda()) for name, net in nets.items()})
        self.opt = opt

    def step(self, real):
        fake = self.model(self.scale.project(real))
        metrics = {}
        for name, adversary in self.adversaries.items():
            metrics[f"d_{name}"] = adversary.train_one(fake.detach(), real)
        self.opt.zero_grad()
        (fake - real).pow(2).mean().backward()
        self.opt.step()
        return metrics

    def run(self, loader):
        for real in loader:
            self.step(real.cuda())
