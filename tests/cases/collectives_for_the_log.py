"""Every replica gathers metrics and waits for the others on every step."""

import torch
import torch.distributed as dist
from torch import nn


def shared(value):
    value = value.detach().clone()
    dist.all_reduce(value)  # TL904
    return value / dist.get_world_size()


def fit(net: nn.Module, opt, feed, board):
    net = net.cuda()
    for k, (x, y) in enumerate(feed):
        out = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        out.backward()
        opt.step()
        board.add_scalar("loss", shared(out).item(), k)  # TL101
        dist.barrier()  # TL904
