"""Weights of a loss are a list in the settings, made a tensor on every call."""

import torch
from torch import nn
from torch.nn import functional as F

MEAN = [0.485, 0.456, 0.406]


class Loss(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = list(weights)

    def forward(self, logits, gold):
        weight = torch.tensor(self.weights, device=logits.device)  # TL207
        return F.cross_entropy(logits, gold, weight=weight)


class Normal(nn.Module):
    def forward(self, x):
        mean = torch.as_tensor(MEAN, device=x.device, dtype=x.dtype)  # TL207
        std = x.new_tensor([0.229, 0.224, 0.225])  # TL207
        return (x - mean[:, None, None]) / std[:, None, None]


class Clipped(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, most=1.0):
        super().__init__(params, dict(lr=lr, most=most))

    @torch.no_grad()
    def step(self, closure=None):
        grads = [p.grad for group in self.param_groups for p in group["params"] if p.grad is not None]
        most = torch.tensor(self.defaults["most"], device=grads[0].device)  # TL207
        scale = (most / torch.nn.utils.get_total_norm(grads)).clamp(max=1.0)
        torch._foreach_mul_(grads, scale)


class Biased(nn.Module):
    def __init__(self, bias: dict[int, float]):
        super().__init__()
        self.bias = bias

    def forward(self, logits):
        ids = torch.tensor(list(self.bias), device=logits.device)  # TL207
        values = torch.tensor(list(self.bias.values()), device=logits.device)  # TL207
        return logits.index_add(-1, ids, values)
