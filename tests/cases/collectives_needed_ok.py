"""Collectives that the computation needs, and those of an epoch, of a schedule, of set-up."""

import torch
import torch.distributed as dist
from torch import nn


class Shared(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, x)
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, g):
        dist.all_reduce(g)
        return g.chunk(dist.get_world_size())[dist.get_rank()]


def reduce_gradients(net: nn.Module):
    flat = torch._utils._flatten_dense_tensors([p.grad for p in net.parameters()])
    dist.all_reduce(flat)
    return flat


def fit(net: nn.Module, opt, feed, every, epochs):
    net = net.cuda()
    dist.barrier()
    for _ in range(epochs):
        total = torch.zeros((), device="cuda")
        for k, (x, y) in enumerate(feed):
            out = nn.functional.mse_loss(Shared.apply(net(x)), y)
            opt.zero_grad()
            out.backward()
            reduce_gradients(net)
            opt.step()
            total += out.detach()
            if k % every == 0:
                dist.all_reduce(total)
        dist.all_reduce(total)
        dist.barrier()
