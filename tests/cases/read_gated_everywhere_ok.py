"""Reads that are gated, of the host, at an epoch's end, or what decides a stop."""

import torch
from torch import nn


class Watch:
    def __init__(self, every):
        self.every = every

    def due(self, k):
        return k % self.every == 0

    def show(self, k, value):
        if self.due(k):
            print(k, value.item())


def fit(net: nn.Module, opt, feed, epochs, watch: Watch):
    net.cuda()
    for epoch in range(epochs):
        total = torch.zeros((), device="cuda")
        for k, (x, y) in enumerate(feed):
            out = nn.functional.cross_entropy(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
            opt.zero_grad()
            out.backward()
            opt.step()
            total += out.detach()
            watch.show(k, out.detach())
            rows = int(x.shape[0])
            share = float(rows) / len(feed)
            if k == 0:
                print("first", out.item(), share)
        print(epoch, total.item() / len(feed))


class Every:
    def __init__(self, n):
        self.n = n

    def __call__(self, step):
        return self.n > 0 and step % self.n == 0


def is_due(step, interval):
    return interval and step % interval == 0


def train_with_intervals(net, loader, opt, args):
    net.cuda()
    show = Every(args.show)
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if show(step):
            print(step, loss.item())
        if is_due(step, args.keep):
            args.kept.append(loss.item())
