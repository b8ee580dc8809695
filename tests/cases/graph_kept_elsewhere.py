"""Where another backward runs, and over which graph: attributes, what was computed before the loop, other engines."""

import lightning as L
import torch
from torch import nn


class Both:
    def __init__(self, gen: nn.Module, enc: nn.Module, opt):
        self.gen, self.enc, self.opt = gen.cuda(), enc.cuda(), opt

    def first(self, a, b):
        self.fake = self.gen(a, self.enc(b))
        loss = (self.fake - b).abs().mean()
        loss.backward(retain_graph=True)  # the second runs through the same picture

    def second(self, z):
        (self.enc(self.fake) - z).abs().mean().backward()

    def step(self, a, b, z):
        self.opt.zero_grad()
        self.first(a, b)
        self.second(z)
        self.opt.step()


class Alone:
    def __init__(self, gen: nn.Module, opt):
        self.gen, self.opt = gen.cuda(), opt

    def first(self, a, b):
        self.loss = (self.gen(a) - b).abs().mean()
        self.loss.backward(retain_graph=True)  # TL604

    def step(self, a, b):
        self.opt.zero_grad()
        self.first(a, b)
        self.opt.step()


def graph_learned(net: nn.Module, edges, x, y, opt):
    net, weights = net.cuda(), torch.softmax(edges, -1)
    for _ in range(100):
        opt.zero_grad()
        nn.functional.cross_entropy(net(weights, x), y).backward(retain_graph=True)  # TL604?
        opt.step()


def two_networks(actor: nn.Module, critic: nn.Module, obs, want, opts):
    loss = nn.functional.mse_loss(critic.cuda()(obs), want)
    loss.backward(retain_graph=True)  # TL604?
    opts[0].step()
    (-actor.cuda()(obs).mean()).backward()
    opts[1].step()


class Manual(L.LightningModule):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.automatic_optimization = False
        self.net = net

    def training_step(self, batch, index):
        x, y = batch
        opt = self.optimizers()
        opt.zero_grad()
        self.manual_backward(nn.functional.mse_loss(self.net(x), y), retain_graph=True)  # TL604
        opt.step()


class Sharpener:
    def __init__(self, net, critic):
        self.net, self.critic = net.cuda(), critic.cuda()
        self.opt_net = torch.optim.Adam(self.net.parameters())
        self.opt_critic = torch.optim.Adam(self.critic.parameters())

    def update_critic(self, made, wanted):
        self.opt_critic.zero_grad()
        loss = ((self.critic(wanted) - 1) ** 2).mean() + (self.critic(made) ** 2).mean()
        loss.backward(retain_graph=True)
        self.opt_critic.step()

    def epoch(self, loader):
        for blurred, sharp in loader:
            made = self.net(blurred.cuda())
            self.update_critic(made, sharp.cuda())
            self.opt_net.zero_grad()
            ((self.critic(made) - 1) ** 2).mean().backward()
            self.opt_net.step()
