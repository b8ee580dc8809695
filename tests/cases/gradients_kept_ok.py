"""Gradients of samples, computed or left with the parameters by a hook: no graph hangs on these, nor on their norms."""

import torch
from torch import nn


def computed(model: nn.Module, x):
    out = model(x)
    rows = [torch.autograd.grad(out[i].sum(), list(model.parameters()), retain_graph=True) for i in range(len(out))]
    return tuple(torch.stack(column) for column in zip(*rows))


def left_by_hook(model: nn.Module, x):
    model(x).sum().backward()
    return tuple(p.sample_grad for p in model.parameters())


class Influence:
    def __init__(self, model, fast=False):
        self.model = model.cuda()
        self.fast = fast

    def gradients(self, x):
        return left_by_hook(self.model, x) if self.fast else computed(self.model, x)

    def all(self, loader, rate):
        found = []
        for x, _ in loader:
            rows = self.gradients(x.cuda())
            found.append(torch.stack([torch.linalg.vector_norm(row.flatten(1), dim=1) for row in rows]).sum(0) * rate)
        return torch.cat(found)
