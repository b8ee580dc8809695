"""What is called is one of several functions, or a default in place of one that nobody passes."""

import torch
from torch import nn


def one_by_one(w, x, counts):
    sizes = counts.tolist()  # TL801, TL103
    return torch.cat([part @ w[k] for k, part in enumerate(x.split(sizes))])


def at_once(w, x, counts):
    return torch._grouped_mm(x, w, offs=counts.cumsum(0, dtype=torch.int32))


class Experts(nn.Module):
    def __init__(self, dim, experts, grouped=False):
        super().__init__()
        self.w = nn.Parameter(torch.empty(experts, dim, dim))
        self.grouped = grouped

    def forward(self, x, counts):
        run = at_once if self.grouped else one_by_one
        return run(self.w, x, counts)


class Model(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.layers = nn.ModuleDict()
        for k in range(depth):
            self.layers[str(k)] = Experts(dim, 8)

    def forward(self, x, counts):
        for layer in self.layers.values():
            x = layer(x, counts)
        return x


def compiled(dim, depth):
    model = Model(dim, depth).cuda()
    for name, layer in model.layers.named_children():
        model.layers.register_module(name, torch.compile(layer))
    return model


class Strategy:
    def __init__(self, criterion, update=None):
        self.criterion = criterion
        self.update = update or (lambda loss, scale: (loss / scale).backward())

    def __call__(self, model, x, y, samples=8):
        total = 0.0
        for _ in range(samples):
            model.sample()
            loss = self.criterion(model(x), y)
            self.update(loss, samples)
            total += loss.item()  # TL101
        return total / samples
