"""Hooks that `functools.partial` has given something already: the module comes after that."""

from functools import partial

import torch
from torch import nn


def note(store, name, grad):
    store[name] = grad.abs().max().item()  # TL101


def add_table(table, module, args):
    (x,) = args
    return (x + table.to(x.device)[: x.size(1)],)  # TL509


def instrument(net, table):
    store = {}
    for name, p in net.named_parameters():
        p.register_hook(partial(note, store, name))
    for part in net.modules():
        if isinstance(part, nn.TransformerEncoderLayer):
            part.register_forward_pre_hook(partial(add_table, table))
    return store


def train(net, opt, loader, dim):
    table = torch.arange(4096.0)[:, None] / torch.logspace(0, 4, dim)
    instrument(net.cuda(), table)
    for x in loader:
        net(x.cuda()).square().mean().backward()
        opt.step()
