"""Rounds that take one position as a slice of one, a module that is called by a function, and averages in subclasses."""

import copy

import torch
from torch import nn
from torch.func import functional_call
from torch.utils.data import DataLoader, TensorDataset


class Query(nn.Module):
    def forward(self, points, centres):
        groups = []
        for i in range(centres.shape[1]):  # TL201
            d = (points - centres[:, i : i + 1]).square().sum(-1)
            groups.append(d.topk(32, largest=False).indices)
        return torch.stack(groups, dim=1)


class Average:
    def __init__(self, model, decay=0.999):
        self.model = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        source = model.state_dict()
        for name, value in self.model.state_dict().items():  # TL204
            value *= self.decay
            value += (1 - self.decay) * source[name]


class Together(Average):
    @torch.no_grad()
    def update(self, model):
        source = model.state_dict()
        pairs = [(value, source[name]) for name, value in self.model.state_dict().items()]
        torch._foreach_lerp_([a for a, _ in pairs], [b for _, b in pairs], 1 - self.decay)


def train(model, batches, opt, together=False, device="cuda"):
    model.to(device)
    average = Together(model) if together else Average(model)
    right = 0
    for x, y in batches:
        fast = dict(model.named_parameters())
        out = functional_call(model, fast, (x.to(device),))
        nn.functional.cross_entropy(out, y.to(device)).backward()
        right += (out.argmax(1) == y.to(device)).sum().item()  # TL101
        opt.step()
        opt.zero_grad()
        average.update(model)
    return right


@torch.no_grad()
def look(model, x):
    model.cuda()
    first = next(iter(DataLoader(TensorDataset(x.cpu()), batch_size=1)))[0]
    return model(first.cuda()).argmax().item()
