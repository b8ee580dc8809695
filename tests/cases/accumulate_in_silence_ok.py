"""The reduction is skipped until the last round: by the context, by the flag; or nothing is accumulated."""

import contextlib

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def fit(net: nn.Module, opt, feed, rank, every):
    net = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    for k, (x, y) in enumerate(feed):
        last = (k + 1) % every == 0
        with contextlib.nullcontext() if last else net.no_sync():
            (nn.functional.mse_loss(net(x), y) / every).backward()
        if last:
            opt.step()
            opt.zero_grad()


def flagged(net: nn.Module, opt, feed, rank, every):
    net = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    for k, (x, y) in enumerate(feed):
        net.require_backward_grad_sync = (k + 1) % every == 0
        (nn.functional.mse_loss(net(x), y) / every).backward()
        if net.require_backward_grad_sync:
            opt.step()
            opt.zero_grad()


def plain(net: nn.Module, opt, feed, rank):
    net = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    for x, y in feed:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()


def single(net: nn.Module, opt, feed, every):
    net = net.cuda()
    for k, (x, y) in enumerate(feed):
        (nn.functional.mse_loss(net(x), y) / every).backward()
        if (k + 1) % every == 0:
            opt.step()
            opt.zero_grad()
    torch.cuda.synchronize()
