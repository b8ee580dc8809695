"""A sharded model reduces on every micro step."""

import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Recipe:
    def __init__(self, net, opt, every):
        self.net, self.opt, self.every, self.seen = FSDP(net.cuda()), opt, every, 0

    def micro(self, x, y):
        out = nn.functional.cross_entropy(self.net(x), y)
        (out / self.every).backward()  # TL901
        self.seen += 1
        if self.seen % self.every == 0:
            self.opt.step()
            self.opt.zero_grad()

    def run(self, feed):
        for x, y in feed:
            self.micro(x, y)
        torch.cuda.synchronize()
