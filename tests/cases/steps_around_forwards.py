"""Clocks around a step hide nothing in a forward; an optimizer made in a function steps; a switch in the environment.

What a generator yields step by step is taken step by step; a few runs warm up.
"""

import os
import time

import torch
from torch import nn

CHECKS = os.environ.get("EXAMPLE_CHECKS", "0") == "1"


def private(base):
    class Private(base):
        def step(self, closure=None):
            for group in self.param_groups:
                for p, kept in zip(group["params"], group["kept"]):  # TL204
                    p.grad.add_(kept)
            return super().step(closure)

        def zero_grad(self):
            super().zero_grad()

    return Private


def pooled(x, index):
    return torch.stack([x[index == k].mean(0) for k in range(index.max() + 1)])  # TL105, TL106, TL201


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, width)
        self.table = torch.zeros(4096, width)

    def forward(self, x, index, times):
        if CHECKS:
            assert torch.isfinite(x).all()
        x = self.head(x) + self.table[: x.shape[0]].to(x.device)  # TL509
        x = x / torch.sqrt(torch.tensor(x.shape[-1], device=x.device))  # TL207
        return pooled(x[times > 0], index)  # TL105


def train(net, batches):
    net.cuda()
    optimizer = private(torch.optim.SGD)(net.parameters(), lr=0.1, foreach=True)
    for x, index in batches:
        begin = time.time()
        loss = net(x.cuda(), index.cuda(), x.cuda()[:, 0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(time.time() - begin)  # TL701


@torch.no_grad()
def sample(net, index, device="cuda"):
    x = torch.randn(16, 64, device=device)
    net.to(device)
    for t in reversed(range(1000)):
        x = net(x, index, torch.tensor([t] * len(x), device=device))  # TL207
    return x


@torch.no_grad()
def milliseconds(net, x, index, rounds):
    net(x, index, x[:, 0])
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    total = 0.0
    for _ in range(rounds):
        begin.record()
        net(x, index, x[:, 0])
        end.record()
        torch.cuda.synchronize()
        total += begin.elapsed_time(end)
    return total / rounds


class Server:
    def __init__(self, net):
        self.net = net.cuda().eval()
        for rows in (1, 8, 64):
            assert torch.isfinite(self.net(torch.zeros(rows, 64, device="cuda"))).all()


@torch.inference_mode()
def detections(net, batches):
    for batch in batches:
        for found in net(batch.cuda()):
            yield found["scores"][found["scores"] > 0.5]  # TL105


def largest(scored):
    for count, scores in enumerate(scored):
        if scores.max() > 0.9:  # TL102
            yield count


def confident(net, batches):
    return list(largest(detections(net, batches)))
