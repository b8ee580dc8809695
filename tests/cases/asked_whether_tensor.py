"""Helpers that ask whether they were given a tensor: what they do with one, nobody's numbers wait for."""

import torch
import torch.distributed as dist
from torch import nn


class Meters:
    def __init__(self):
        self.sums = {}

    def update(self, name, value):
        if isinstance(value, torch.Tensor):
            value = value.item()
        self.sums[name] = self.sums.get(name, 0.0) + value


def reduced(value, device):
    given = value
    if not isinstance(value, torch.Tensor):
        value = torch.full((), value, device=device)
    dist.all_reduce(value)
    return value if isinstance(given, torch.Tensor) else value.item()  # TL101


class Loss(nn.Module):
    def forward(self, predicted, wanted):
        loss = nn.functional.l1_loss(predicted, wanted, reduction="sum")
        count = reduced(wanted.numel(), wanted.device)
        return reduced(loss.detach(), wanted.device) / max(count, 1)


def train(model, criterion, batches, optimizer):
    model.cuda()
    meters = Meters()
    for x, y in batches:
        loss = criterion(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meters.update("size", len(x))
    return meters
