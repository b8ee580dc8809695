"""The context that skips the reduction covers the forward alone."""

import contextlib

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def fit(net: nn.Module, opt, feed, rank, every):
    net = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    for k, (x, y) in enumerate(feed):
        last = (k + 1) % every == 0
        with contextlib.nullcontext() if last else net.no_sync():
            out = nn.functional.mse_loss(net(x), y) / every
        out.backward()  # TL901?
        if last:
            opt.step()
            opt.zero_grad()
    torch.distributed.barrier()
