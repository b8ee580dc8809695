"""Lists over levels and tiles, an episode's values, a sum reset now and then, and outputs emptied at an epoch's end."""

import lightning as L
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Conv2d(width, width, 1)

    def loss(self, levels, wanted):
        near, far = [], []
        for k in range(len(levels)):
            out = self.inner(levels[k])
            near.append((out - wanted[k]).abs().mean())
            far.append((out - wanted[k]).pow(2).mean())
        return {"near": near, "far": far}

    def tiled(self, x, size):
        rows = []
        for at in range(0, x.shape[2], size):
            rows.append(self.inner(x[:, :, at : at + size]))
        return torch.cat(rows, 2)


def episode(net: nn.Module, world, opt):
    net = net.cuda()
    seen, done = world.reset(), False
    values, rewards = [], []
    while not done:
        act, value = net(torch.as_tensor(seen, device="cuda"))
        seen, reward, done = world.step(act)
        values.append(value)
        rewards.append(reward)
    loss = (torch.stack(values) - torch.tensor(rewards, device="cuda")).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def running(net: nn.Module, feed, opt):
    net, total = net.cuda(), 0.0
    for k, (x, y) in enumerate(feed):
        loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss  # TL601
        if k % 100 == 99:
            print(total / 100)
            total = 0.0


class Fit(L.LightningModule):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
        self.seen = []

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.seen.append(loss)  # TL602
        return loss

    def on_train_epoch_end(self):
        self.log("mean", torch.stack(self.seen).mean())
        self.seen.clear()
