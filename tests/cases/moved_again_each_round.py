"""What never changes is moved to the device on every step: weights, anchors and a criterion."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed, weight, anchors, device="cuda"):
    net = net.to(device)
    for x, y in feed:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        judge = nn.CrossEntropyLoss(weight=weight.to(device))  # TL509
        out = net(x) - anchors.cuda()  # TL509
        opt.zero_grad()
        judge(out, y).backward()
        opt.step()
