"""Losses, outputs and log probabilities are kept with their graph beyond the step."""

import torch
from torch import nn


class Book:
    def __init__(self):
        self.rows, self.places = {}, {}

    def note(self, name, value):
        self.rows.setdefault(name, []).append(value)  # TL602

    def place(self, step, value):
        self.places.setdefault("all", {})[step] = value  # TL602


def fit(net: nn.Module, opt, feed):
    net = net.cuda()
    book, outs, best = Book(), [], None
    for step, (x, y) in enumerate(feed):
        guess = net(x)
        out = nn.functional.mse_loss(guess, y)
        opt.zero_grad()
        out.backward()
        opt.step()
        book.note("loss", out)
        book.place(step, out)
        outs.append(guess)  # TL602
    return book, outs, best


class Fit:
    def __init__(self, net: nn.Module, x, y):
        self.net, self.x, self.y = net.cuda(), x.cuda(), y.cuda()
        self.opt = torch.optim.LBFGS(net.parameters(), max_iter=500)
        self.curve = []

    def closure(self):
        self.opt.zero_grad()
        out = nn.functional.mse_loss(self.net(self.x), self.y)
        out.backward()
        self.curve.append(out)  # TL602
        return out

    def run(self):
        self.opt.step(self.closure)


class Last:
    def __init__(self, net: nn.Module, opt):
        self.net, self.opt, self.history = net.cuda(), opt, []

    def step(self, x, y):
        out = nn.functional.mse_loss(self.net(x), y)
        self.opt.zero_grad()
        out.backward()
        self.opt.step()
        self.history.append({"loss": out})  # TL602
