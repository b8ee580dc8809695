"""Hooks keep outputs with their graph: a closure, a lambda, a pre hook."""

import torch
from torch import nn


def tap(net: nn.Module):
    seen, first = {}, []

    def keep(name):
        def hook(part, args, out):
            seen[name] = out  # TL605?

        return hook

    for name, part in net.named_modules():
        part.register_forward_hook(keep(name))
    net.register_forward_hook(lambda part, args, out: first.append(out))  # TL605
    return seen, first


def fit(net: nn.Module, opt, feed):
    seen, _ = tap(net.cuda())
    for x, y in feed:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    return seen
