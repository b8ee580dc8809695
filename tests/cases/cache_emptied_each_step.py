"""The allocator's cache is emptied after every request and in a trainer's step."""

import torch
from torch import nn


def release():
    if torch.cuda.is_available():
        torch.cuda.empty_cache()  # TL606


class Fit:
    def __init__(self, net: nn.Module, opt):
        self.net, self.opt = net.cuda(), opt

    def training_step(self, x, y):
        self.opt.zero_grad()
        nn.functional.mse_loss(self.net(x), y).backward()
        self.opt.step()
        release()

    @torch.inference_mode()
    def answer(self, queue):
        for x in queue:
            yield self.net(x)
            torch.cuda.empty_cache()  # TL606
