"""What a step runs on each label that it finds is no step of its own; a sampler's rounds are."""

import torch
from torch import nn


def by_blob(criterion: nn.Module, out: torch.Tensor, labels: torch.Tensor):
    found = torch.unique(labels)  # TL105
    terms = []
    for label in found:
        if label == 0:  # TL102
            continue
        else:
            inside = labels == label
            terms.append(criterion(out * inside, inside.float()))
    return torch.stack(terms).mean()


def train(net, criterion, opt, loader):
    net.cuda()
    for volume, labels in loader:
        loss = by_blob(criterion, net(volume.cuda()), labels.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()


class Sampler:
    def __init__(self, net: nn.Module, levels):
        self.net = net.cuda()
        self.levels = torch.as_tensor(levels, device="cuda")

    @torch.no_grad()
    def sample(self, x):
        for level in self.levels:
            scaled = x / level
            drift = self.net(scaled)
            x = x - drift
            print(drift.mean())  # TL104
        return x
