"""A clock read once a round: with a read of the loss in each, with one now and then, and around `timeit`."""

import time
import timeit

import torch
from torch import nn


def waits_each_round(net: nn.Module, feed, opt, meter):
    net = net.cuda()
    end = time.time()
    for x, y in feed:
        loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
        meter.loss(loss.item())  # TL101
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.seconds(time.time() - end)
        end = time.time()


def waits_now_and_then(net: nn.Module, feed, opt, meter):
    net = net.cuda()
    end = time.time()
    for k, (x, y) in enumerate(feed):
        loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if k % 100 == 0:
            meter.loss(loss.item())
        meter.seconds(time.time() - end)  # TL701
        end = time.time()


def by_timeit(net: nn.Module, x):
    net, x = net.cuda(), x.cuda()

    def waits():
        net(x)
        torch.cuda.synchronize()

    waits()
    return timeit.timeit(lambda: net(x), number=50), timeit.timeit(waits, number=50)  # TL701
