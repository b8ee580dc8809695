"""A schedule, a few steps, one step, and an option."""

import contextlib
import itertools

import torch
from torch.profiler import profile, schedule


def fit(net, opt, feed):
    net = net.cuda()
    with profile(schedule=schedule(wait=10, warmup=2, active=3, repeat=1)) as prof:
        for x, y in feed:
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
            prof.step()


def look(net, x):
    with profile() as prof:
        net(x).sum().backward()
    return prof


def few(net, opt, feed):
    with profile():
        for x, y in itertools.islice(feed, 5):
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
            opt.zero_grad()


def chosen(net, opt, feed, trace):
    with profile() if trace else contextlib.nullcontext():
        for x, y in feed:
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
            opt.zero_grad()
