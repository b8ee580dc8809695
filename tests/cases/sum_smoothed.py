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


class Smooth:
    def __init__(self):
        self.mean = None

    def update(self, value):
        self.mean = value if self.mean is None else 0.9 * self.mean + 0.1 * value  # TL601


class SmoothSince:
    def __init__(self, net):
        self.net, self.mean = net.cuda(), None

    def step(self, opt, x, y):
        loss = nn.functional.mse_loss(self.net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if self.mean is None:
            self.mean = loss.detach()
        else:
            self.mean = 0.9 * self.mean + 0.1 * loss  # TL601


def fit(net: nn.Module, feed, opt):
    net, smooth, since = net.cuda(), Smooth(), SmoothSince(net)
    for x, y in feed:
        loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        smooth.update(loss)
        since.step(opt, x, y)
