"""A clipper takes one tensor or many, reads each norm, and scales gradient by gradient."""

import torch


def clip(parameters, most, order=2.0):
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    parameters = list(filter(lambda p: p.grad is not None, parameters))
    total = 0.0
    for p in parameters:  # TL204
        total += p.grad.data.norm(order).item() ** order  # TL101
    factor = most / (total ** (1.0 / order) + 1e-6)
    if factor < 1:
        for p in parameters:  # TL204
            p.grad.data.mul_(factor)
    return total


def fit(net, feed, opt, criterion):
    net = net.cuda()
    for x, y in feed:
        opt.zero_grad()
        criterion(net(x), y).backward()
        clip(net.parameters(), 1.0)
        opt.step()
