"""A scaler and the regions that it scales are enabled by the same option; or the scaler by one of its own."""

import torch
from torch import nn


class Agent:
    def __init__(self, net: nn.Module, opt, cfg):
        self.net, self.opt, self.cfg = net.cuda(), opt, cfg
        self.scaler = torch.amp.GradScaler("cuda", enabled=self.cfg.mixed)  # TL403

    def update(self, x, y):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.cfg.mixed):
            loss = nn.functional.mse_loss(self.net(x), y)
        self.opt.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.opt)
        self.scaler.update()


class Careful:
    def __init__(self, net: nn.Module, opt, cfg):
        self.net, self.opt, self.cfg = net.cuda(), opt, cfg
        self.scaler = torch.amp.GradScaler("cuda", enabled=self.cfg.half)

    def update(self, x, y):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.cfg.mixed):
            loss = nn.functional.mse_loss(self.net(x), y)
        self.opt.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.opt)
        self.scaler.update()
