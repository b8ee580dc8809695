"""A scheduler compares a device loss on every step."""

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau


def train(net, loader, opt):
    net = net.cuda()
    sched = ReduceLROnPlateau(opt, patience=100)
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step(loss.detach())  # TL111
