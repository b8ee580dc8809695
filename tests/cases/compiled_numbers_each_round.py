"""Numbers that are others on every round, told to compiled functions in roundabout ways."""

import math

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


@torch.compile
def guided(x, eps, w):
    return x - w * eps


@torch.compile(dynamic=False)
def first_or_later(x, first):
    return x.relu() if first else x


class Engine:
    def __init__(self, net: nn.Module, opt):
        self.net = torch.compile(net.cuda(), dynamic=False)
        self.opt = opt
        self.done = 0

    def one(self, x):
        self.opt.zero_grad()
        self.net(x, self.done).mean().backward()  # TL805
        self.opt.step()
        self.done += 1


def run(engine: Engine, feed):
    for x in feed:
        engine.one(x.cuda())


@torch.no_grad()
def sample(net: nn.Module, x, rounds):
    for t in reversed(range(rounds)):
        w = 0.5 * (1 + math.cos(math.pi * t / rounds))
        x = guided(x, net(x), w)  # TL805?
        x = first_or_later(x, t == 0)
    return x


def fit(net: nn.Module, data, opt):
    net = torch.compile(net.cuda(), mode="reduce-overhead")
    feed = DataLoader(data, 8, collate_fn=lambda rows: pad_sequence(rows), num_workers=4, pin_memory=True)
    for x in feed:
        opt.zero_grad()
        net(x.cuda(non_blocking=True)).mean().backward()  # TL805
        opt.step()


class Keys:
    def __init__(self):
        self.kept = []

    def put(self, k):
        self.kept.append(k)  # TL805
        return torch.cat(self.kept, 1)


class Attend(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.key = nn.Linear(width, width)

    def forward(self, x, keys: Keys):
        return x + keys.put(self.key(x)).mean(1, keepdim=True)


@torch.inference_mode()
def decode(tokens):
    net = torch.compile(Attend(64).cuda())
    keys = Keys()
    return [net(token.cuda(), keys) for token in tokens]
