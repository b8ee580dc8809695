"""What is made once and kept, done once an interval, or by a round that trains or evaluates as a whole."""

import gc

import torch
import torch.distributed as dist
from torch import nn


class Table(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.d = d
        self.cos = None

    def build(self, x):
        if self.cos is not None and x.shape[0] <= self.cos.shape[0]:
            return
        theta = 1.0 / (1000 ** (torch.arange(0, self.d, 2).float() / self.d)).to(x.device)
        self.cos = theta.cos()

    def forward(self, x):
        self.build(x)
        return x * self.cos


def kmeans(x, k):
    means = x[:k]
    for _ in range(10):
        bins = torch.bincount(torch.cdist(x, means).argmin(-1), minlength=k)
        means = means / bins[:, None]
    return means


class Codebook(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.register_buffer("inited", torch.Tensor([False]))
        self.register_buffer("embed", torch.zeros(k, 8))

    def begin(self, data):
        if self.inited:  # TL102
            return
        self.embed.data.copy_(kmeans(data, 16))
        self.inited.data.copy_(torch.Tensor([True]))

    def forward(self, x):
        self.begin(x)
        return x @ self.embed.T


def report(stats):
    total = torch.stack(stats)
    dist.all_reduce(total)
    print(total.cpu())


def empty():
    gc.collect()
    torch.cuda.empty_cache()


def train(model, loader, opt, every, finished):
    seen = start = tick = 0
    stats = []
    while True:
        x = next(loader)
        model(x.cuda()).mean().backward()
        opt.step()
        if (seen % 12000) in list(range(1, 1 + every)) or finished:
            empty()
        seen += len(x)
        done = seen >= 100000
        if (not done) and (tick != 0) and (seen < start + every * 1000):
            continue
        report(stats)
        tick += 1
        start = seen
        if done:
            break


def fit(kind, loader):
    net = nn.Linear(8, 8).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    step = lambda: net(next(loader).cuda()).mean()
    for epoch in range(100):
        loss = step()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    loss = step()
    loss.backward()
    torch.save(net.state_dict(), kind)


def compare(kinds, loader):
    for kind in kinds:
        fit(kind, loader)
        torch.save({"kind": kind}, kind + ".all")
