"""Groups of unequal sizes, data of the host, an event handed on, rows turned into columns, another way for the device."""

import os
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader


class Spread(nn.Module):
    def __init__(self):
        super().__init__()
        self.level = 0.5

    def of(self, rows):
        return torch.linalg.svdvals(rows - rows.mean(dim=0, keepdim=True)).sum()  # TL111

    def forward(self, x, labels, lengths_cpu):
        terms = []
        for label in torch.unique(labels):  # TL105?
            rows = x[labels == label]  # TL105?
            if rows.shape[0] > 1:
                terms.append(self.of(rows))
        if self.training:
            self.level = torch.rand(3, device=x.device)
        fill = torch.full(x.shape, self.level, device=x.device)
        return torch.stack(terms).mean() + fill[: int(lengths_cpu.max())]


class Gelu(nn.Module):
    def forward_native(self, x):
        return 0.5 * x * (1.0 + torch.tanh(0.79788456 * (x + 0.044715 * torch.pow(x, 3.0))))

    def forward_cuda(self, x):
        return torch.ops.fused.gelu(x)

    def forward(self, x):
        return self.forward_cuda(x) if x.is_cuda else self.forward_native(x)


class Pending(NamedTuple):
    event: torch.cuda.Event
    tokens: torch.Tensor


class Receiver:
    def __init__(self, group):
        self.group, self.side, self.queue = group, torch.cuda.Stream(), []

    def receive(self, rows):
        with torch.cuda.stream(self.side):
            tokens = torch.empty(rows, dtype=torch.int64, device="cuda")
            torch.distributed.broadcast(tokens, src=0, group=self.group)
            event = self.side.record_event()
            tokens.record_stream(torch.cuda.current_stream())
        self.queue.append(Pending(event, tokens))


def load(path, device):
    edges = np.loadtxt(path, dtype=np.int32)
    count = int(edges.max()) + 1
    near = torch.sparse_coo_tensor(edges.T, torch.ones(len(edges)), (count, count))
    near = torch.eye(count) + near
    return near.to(device)


def columns(data, rows):
    return data.narrow(0, 0, data.size(0) // rows * rows).view(rows, -1).t().contiguous()


def fit(net, texts, workers):
    net = net.to("cuda")
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for text in DataLoader(texts, num_workers=workers):
        data = columns(text.flatten(), 32)
        for i in range(0, data.size(0) - 1, 64):
            loss = net(data[i : i + 64].to("cuda")).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()


def measure(net, x):
    try:
        net.cuda()(x.cuda()).mean().backward()
        print(torch.cuda.memory_allocated())
        torch.cuda.synchronize()
    finally:
        os._exit(0)


def supervise(net, orders):
    for x in orders:
        if not os.fork():
            measure(net, x)
