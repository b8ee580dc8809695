"""Tables that are filled on the host slice by slice or with NumPy on every call, and what is moved again each step."""

import math

import numpy as np
import torch
from torch import nn


def sines(n, dim, device):
    place = torch.arange(n)
    table = torch.zeros(n, dim)
    rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(1e4) / dim))
    table[:, 0::2] = torch.sin(place[:, None] * rate)
    table[:, 1::2] = torch.cos(place[:, None] * rate)
    return table.to(device)  # TL508


def grid(height, width, device):
    mesh = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return torch.from_numpy(np.stack([*mesh, np.ones_like(mesh[0])])).to(device)  # TL508?


class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.mix = nn.Linear(dim, dim)

    def forward(self, x):
        n = x.shape[1]
        return self.mix(x + sines(n, self.dim, x.device)), grid(n, n, x.device)

    def target(self, pred, real):
        return torch.tensor(1.0 if real else 0.0).expand_as(pred).to(pred.device)  # TL207?


class Task:
    def __init__(self, data, model, device="cuda"):
        self.x, self.y = data.x, data.y
        self.device = torch.device(device)
        self.model = model.to(self.device)

    def step(self, opt):
        out, _ = self.model(self.x.to(self.device))  # TL509?
        loss = (out - self.y.to(self.device)).square().mean()  # TL509?
        loss = loss + (out - self.model.target(out, True)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def train(task, opt, rounds):
    for _ in range(rounds):
        task.step(opt)


def detached(state):
    return tuple(part.detach() for part in state)


def unrolled(model, chunks, opt):
    model.cuda()
    state = None
    for chunk in chunks:
        if state is not None:
            state = detached(state)
        out, state = model(chunk.cuda(), state)
        opt.zero_grad()
        out.square().mean().backward(retain_graph=True)  # TL604
        opt.step()


class Offloaded(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["grad"] = torch.zeros(p.shape, pin_memory=True)
                    state["grad"].copy_(p.grad)
                state["grad"].copy_(p.grad, non_blocking=True)
        torch.cuda.synchronize()
