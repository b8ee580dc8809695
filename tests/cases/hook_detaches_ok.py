"""Hooks that detach, that keep numbers, gradients, and outputs until the step that asked for them is over."""

import torch
from torch import nn


class Probe:
    def __init__(self, part: nn.Module):
        self.outs, self.shapes, self.grads = [], [], []
        part.register_forward_hook(self.after)
        part.register_full_backward_hook(self.back)

    def after(self, part, args, out):
        self.outs.append(out.detach())
        self.shapes.append(tuple(out.shape))

    def back(self, part, given, got):
        self.grads.append(got[0].detach())


class Parts(nn.Module):
    def __init__(self, body: nn.Module):
        super().__init__()
        self.body, self.outs = body, {}
        for part in body.children():
            part.register_forward_hook(self.keep)

    def keep(self, part, args, out):
        self.outs[out.device].append(out)

    def forward(self, x):
        self.outs[x.device] = []
        self.body(x)
        return torch.cat(self.outs[x.device])


class Kept:
    def __init__(self):
        self.outs = []

    def __call__(self, part, args, out):
        self.outs.append(out)

    def empty(self):
        self.outs = []


class Taken(nn.Module):
    def __init__(self, body: nn.Module):
        super().__init__()
        self.body, self.kept = body, Kept()
        body.register_forward_hook(self.kept)

    def forward(self, x):
        self.body(x)
        out = self.kept.outs[-1]
        self.kept.empty()
        return out
