"""A penalty is trained every few steps, beside the steps themselves: what it reads, it reads now and then."""

import torch
from torch import nn


def penalty(net: nn.Module, x):
    x = x.requires_grad_()
    (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    return slope.pow(2).sum()


def train(net: nn.Module, loader, optimizer, every):
    net.cuda()
    reached = 0.0
    for i, x in enumerate(loader):
        x = x.cuda()
        loss = net(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        regularize = i % every == 0
        if regularize:
            extra = penalty(net, x) * every
            optimizer.zero_grad()
            extra.backward()
            optimizer.step()
            reached = extra.item()
    return reached


def accumulate(net: nn.Module, loader, optimizer, parts):
    net.cuda()
    for i, x in enumerate(loader):
        loss = net(x.cuda()).mean() / parts
        loss.backward()
        if (i + 1) % parts == 0:
            print(loss.item())  # TL101
            optimizer.step()
            optimizer.zero_grad()
