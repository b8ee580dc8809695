"""Steps that an early return or a branch spaces out, keys that run for each element, and a switch in what trains."""

import argparse
import math

import torch
from torch import nn


class Agent:
    def __init__(self, every):
        self.every = every
        self.critic = nn.Linear(8, 1).cuda()
        self.optimizer = torch.optim.Adam(self.critic.parameters(), fused=True)

    def update_critic(self, states, targets):
        with torch.autograd.set_detect_anomaly(True):  # TL704
            values = self.critic(states)
            loss = (values - targets).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return math.log1p(loss.detach())  # TL101

    def update(self, batches, step):
        if step % self.every != 0:
            return {}
        states, targets = next(batches)
        states = states.cuda(non_blocking=True)
        weights = torch.ones(len(states)).to(states.device)  # TL508
        figures = {"loss": self.update_critic(states * weights, targets), "largest": states.max().item()}  # TL101
        if step % 1000 == 0:
            figures["mean"] = states.mean().item()
        return figures


def train(net: nn.Module, loader):
    net = net.cuda()
    optimizer = torch.optim.Adam(net.parameters(), fused=True)
    for images in loader:
        images = images.cuda(non_blocking=True)
        parts = {"mean": net(images).mean(), "spread": net(images).std()}
        loss = sum(parts.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        names = sorted(parts, key=lambda name: float(parts[name]))  # TL101
        print(names[-1])


def serve(net: nn.Module, path):
    net.load_state_dict(torch.load(path))


class Runner:
    def __init__(self, net, loader):
        self.net = net.cuda()
        self.loader = loader
        self.optimizer = torch.optim.Adam(self.net.parameters(), fused=True)

    def run(self):
        for images in self.loader:
            loss = self.net(images.cuda(non_blocking=True)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.losses = getattr(self, "losses", []) + [loss]  # TL602


parser = argparse.ArgumentParser()
parser.add_argument("--serve", action="store_true")
options = parser.parse_args()
if options.serve:
    serve(nn.Linear(8, 8), "net.pt")
else:
    train(nn.Linear(8, 8), torch.load("images.pt"))
