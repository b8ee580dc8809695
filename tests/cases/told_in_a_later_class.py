"""What a class holds is told by functions that stand below those to which it passes it on."""

import random
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader


def send(data, device):
    if hasattr(data, "to"):
        return data.to(device)  # TL503
    return type(data)(send(part, device) for part in data)


class Feed:
    def __init__(self, loader, device):
        self.loader = loader
        self.device = device

    def __iter__(self):
        for batch in self.loader:
            yield send(batch, self.device)


def prepare(dataset, rank):
    loader = DataLoader(dataset, batch_size=32, num_workers=6, pin_memory=True)
    return Feed(loader, torch.device("cuda", rank))


def fit(net, dataset, opt, rank):
    for batch in prepare(dataset, rank):
        net(**batch).loss.backward()
        opt.step()


class Learner:
    def __init__(self, net: nn.Module):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())

    def learn(self, states, rewards):
        x = torch.tensor(states, dtype=torch.float)  # TL208
        y = torch.tensor(rewards, dtype=torch.float)
        self.opt.zero_grad()
        nn.functional.mse_loss(self.net(x).squeeze(-1), y).backward()
        self.opt.step()


class Player:
    def __init__(self, net):
        self.memory = deque(maxlen=1000)
        self.learner = Learner(net)

    def look(self, game):
        return np.array([game.x, game.y], dtype=int)

    def remember(self, state, reward):
        self.memory.append((state, reward))

    def rehearse(self):
        few = random.sample(self.memory, 100) if len(self.memory) > 100 else self.memory
        states, rewards = zip(*few)
        self.learner.learn(states, rewards)

    def play(self, game):
        while not game.over:
            self.remember(self.look(game), game.step())
            self.rehearse()


class Strategy:
    def __init__(self, loss):
        self.loss = loss


class Sandwich(Strategy):
    def __call__(self, net, x, y):
        loss = self.loss(net(x), y)
        loss.backward()
        return loss.item()  # TL101


def pretrain(net, strategy: Strategy, loader, opt):
    net.cuda()
    for x, y in loader:
        opt.zero_grad()
        strategy(net, x.cuda(), y.cuda())
        opt.step()
