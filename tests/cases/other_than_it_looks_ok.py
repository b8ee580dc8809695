"""Calls and loops that look like something else: a logger of tags, results that are given, entries that do not grow."""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch_scatter import scatter

import backbones


class Agent:
    def update(self, batch, logger, step):
        loss = self.net(batch.cuda()).mean()
        logger.log("train/loss", loss, step)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Codec(nn.Module):
    def encode(self, given):
        signal = given
        if isinstance(signal, (str, Path)):
            signal = load(str(signal))
        return self.net(signal)

    def forward(self, x):
        return self.encode(x.mean(0))


class Messages(nn.Module):
    def forward(self, batch, msg):
        wv = torch.zeros_like(batch.v)
        scatter(msg, batch.edge_index[1], dim=0, out=wv, reduce="add")
        return wv


class Stacked:
    def __init__(self, device, seeds):
        self.generators = [torch.Generator(device).manual_seed(s) for s in seeds]

    def randint(self, *args, size, **kwargs):
        return torch.stack([torch.randint(*args, size=size[1:], generator=g, **kwargs) for g in self.generators])


def generate(net, loader, device="cuda"):
    for z in loader:
        rnd = Stacked(device, [1, 2])
        labels = torch.eye(10, device=device)[rnd.randint(10, size=[2, 4], device=device)]
        net(z.to(device), labels)


def convert(path):
    merged = torch.load(path, map_location="cpu")
    final = {}
    for key, value in merged.items():
        final[key.replace("x", "y")] = value
    for key in tuple(final.keys()):
        if "wq" in key:
            q = final[key]
            v = final[key.replace("wq", "wv")]
            final[key.replace("wq", "wqkv")] = torch.cat([q, v])
            del final[key]
    torch.save(final, path)


def clip(parameters, most):
    parameters = list(parameters)
    if parameters[0].is_cuda:
        return torch.nn.utils.clip_grad_norm_(parameters, most)
    norm = np.linalg.norm([np.linalg.norm(p.grad.numpy()) for p in parameters])
    for p in parameters:
        p.grad.detach().mul_(most / norm)


def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).mean().backward()
        clip(model.parameters(), 1.0)
        optimizer.step()


def thresholds(values, q, like):
    return torch.as_tensor(list(map(np.percentile, values.numpy(), q.flatten())), dtype=like.dtype)


class Cycle(nn.Module):
    def forward(self, a, b):
        sim = a.mm(b.T)
        c12 = F.softmax(sim / 0.1, dim=1)
        c21 = F.softmax(sim.T / 0.1, dim=1)
        return torch.norm(c12.mm(c21)) + torch.norm(c21.mm(c12))


class Scaled(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight * 2)


class Update(nn.Module):
    def __init__(self, c_z, c):
        super().__init__()
        self.out, self.gate = Scaled(c, c_z), Scaled(c_z, c_z)
        self.sigmoid = nn.Sigmoid()

    def forward(self, z, a):
        x = self.out(a)
        g = self.sigmoid(self.gate(z))
        return x * g


class Exported(nn.Module):
    def __init__(self, module, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, (1, 3), groups=channels)
        self.conv.weight = nn.Parameter(module.conv.weight.unsqueeze(-2))
        self.conv.bias = nn.Parameter(module.conv.bias)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return self.norm(self.conv(x))


class Basic(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.backbone = getattr(backbones, args["backbone"])()
        self.decoder = getattr(backbones, args["decoder"])()

    def forward(self, x):
        return self.decoder(self.backbone(x))


def parallel(args, rank):
    return DistributedDataParallel(Basic(args), device_ids=[rank], find_unused_parameters=True)


class Fused(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
        self.compiled = torch.compile(self.group_step)
        self.lists = [{} for _ in self.param_groups]

    def group_step(self, lists, lr):
        torch._foreach_mul_(lists["grads"], lr)

    def step(self, closure=None):
        for lists, group in zip(self.lists, self.param_groups):
            lists["grads"] = [p.grad for p in group["params"]]
            self.compiled(lists, 0.1)
            lists["grads"] = None


def warm(model, loader, schedule):
    model = torch.compile(model, dynamic=False)
    size = schedule[0]
    for i in range(len(schedule)):
        if i != 0:
            size = schedule[i]
        for step in range(10):
            model(next(loader).cuda(), size // 2, size).backward()
