"""Probabilities go to the binary criterion, through the net's end, a method, and a module."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 1), nn.Sigmoid())

    def forward(self, x):
        return self.body(x).squeeze(-1)


class Masks(nn.Module):
    def __init__(self):
        super().__init__()
        self.criterion = nn.BCELoss(reduction="none")

    def forward(self, logits, gold, weight):
        prob = logits.sigmoid()
        each = self.criterion(prob, gold)  # TL308
        other = F.binary_cross_entropy(torch.sigmoid(logits[:, 0]), gold[:, 0], weight=weight)  # TL308
        return each.mean() + other


def fit(opt, feed, width):
    net = Net(width).cuda()
    judge = nn.BCELoss()
    for x, y in feed:
        out = judge(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))  # TL308
        opt.zero_grad()
        out.backward()
        opt.step()
