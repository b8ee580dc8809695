"""The loop is what is left beside the foreach kernels, or counts, freezes, names or initialises."""

import torch
from torch import nn


class Blend(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, foreach=True):
        super().__init__(params, dict(lr=lr, foreach=foreach))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            live = [w for w in group["params"] if w.grad is not None]
            grads = [w.grad for w in live]
            if group["foreach"]:
                torch._foreach_add_(live, grads, alpha=-group["lr"])
            else:
                for w, g in zip(live, grads):
                    w.add_(g, alpha=-group["lr"])


class Split(torch.optim.Optimizer):
    def together(self, live, rate):
        torch._foreach_add_(live, [w.grad for w in live], alpha=-rate)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            if group["foreach"]:
                self.together([w for w in group["params"] if w.grad is not None], group["lr"])
                continue
            for w in group["params"]:
                if w.grad is not None:
                    w.add_(w.grad, alpha=-group["lr"])


def describe(net: nn.Module):
    return sum(p.numel() for p in net.parameters() if p.requires_grad)


def freeze(net: nn.Module):
    for p in net.parameters():
        p.requires_grad_(False)
    for m in net.modules():
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)


@torch.no_grad()
def sync_target(src: nn.Module, dst: nn.Module):
    ours, theirs = list(src.parameters()), list(dst.parameters())
    torch._foreach_lerp_(theirs, ours, 0.005)
