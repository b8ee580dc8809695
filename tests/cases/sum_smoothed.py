"""Running means: of a loss with its graph, of a number, and of a state that the next loss is made of."""

import torch
from torch import nn


def smoothed(net: nn.Module, feed, opt):
    net, shown = net.cuda(), None
    for x, y in feed:
        loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        shown = loss if shown is None else 0.9 * shown + 0.1 * loss  # TL601
    return shown


def smoothed_number(net: nn.Module, feed, opt):
    net = net.cuda()
    shown = torch.zeros((), device="cuda")
    for x, y in feed:
        loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        shown = 0.9 * shown + 0.1 * loss.detach()
    return shown


def unrolled(cell: nn.Module, feed, opt):
    for xs in feed:
        state = torch.zeros(8, device="cuda")
        for x in xs.cuda().unbind(1):
            state = 0.5 * state + 0.5 * cell(x)
        opt.zero_grad()
        state.pow(2).mean().backward()
        opt.step()
