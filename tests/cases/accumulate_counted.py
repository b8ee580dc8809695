"""Gradients that gather until a counter is full, until an option says so, and where both ways run a backward."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def counted(net: nn.Module, feed, opt, rank, every):
    net = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    gathered = 0
    for x, y in feed:
        nn.functional.mse_loss(net(x), y).div(every).backward()  # TL901
        gathered += 1
        if gathered == every:
            opt.step()
            opt.zero_grad()
            gathered = 0


def prepared(net: nn.Module, feed, opt, every):
    helper = Accelerator()
    net, opt, feed = helper.prepare(net, opt, feed)
    for k, batch in enumerate(feed):
        helper.backward(net(**batch).loss / every)  # TL901?
        if (k + 1) % every == 0:
            opt.step()
            opt.zero_grad()


def two_ways(net: nn.Module, feed, opt, rank, every):
    net = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    for k, (x, y) in enumerate(feed):
        loss = nn.functional.mse_loss(net(x), y)
        if (k + 1) % every:
            with net.no_sync():
                loss.backward()  # TL901
        else:
            loss.backward()  # this one has to reduce
            opt.step()
            opt.zero_grad()
    torch.distributed.barrier()
