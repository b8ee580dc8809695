"""One process drives all devices: the module, its subclass, and the function."""

import torch
from torch import nn
from torch.nn.parallel import data_parallel


class Spread(nn.DataParallel):
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


def fit(net: nn.Module, opt, feed):
    if torch.cuda.device_count() > 1:
        net = torch.nn.DataParallel(net)  # TL903
    net = net.cuda()
    for x, y in feed:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()


def both(net: nn.Module, opt, feed):
    for x, y in feed:
        out = data_parallel(net, x, device_ids=[0, 1])  # TL903
        opt.zero_grad()
        nn.functional.mse_loss(out, y).backward()
        opt.step()
