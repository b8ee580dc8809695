"""The rows of a parameter are no parameters; what an agent learns from one rollout is a step."""

import torch
from torch import nn


class Balance(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(tasks))

    def forward(self, losses, shared):
        norms = []
        for weight, loss in zip(self.weights, losses):
            norms.append(torch.autograd.grad(weight * loss, shared, create_graph=True)[0].norm())
        return torch.stack(norms).std()


def renormalise(weights):
    total = weights.sum()
    for i in range(len(weights)):  # TL201
        weights[i] = weights[i] * len(weights) / total


def train(net, near, far, loader, opt):
    net.cuda()
    balance = Balance(2).cuda()
    for x, y, z in loader:
        out = net(x.cuda())
        losses = [near(out, y.cuda()), far(out, z.cuda())]
        loss = balance(losses, net.last.weight) + sum(losses)
        opt.zero_grad()
        loss.backward()
        opt.step()
        renormalise(balance.weights.data)


class Agent:
    def __init__(self, actor, critic, device="cuda"):
        self.actor, self.critic = actor.to(device), critic.to(device)
        self.opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
        self.device = device

    def update(self, states, rewards, cut):
        states, rewards, cut = states.to(self.device), rewards.to(self.device), cut.to(self.device)
        with torch.no_grad():
            values = self.critic(states).squeeze(-1)
            if cut.any():  # TL102?
                rewards = rewards + cut * values
        for _ in range(8):
            loss = (self.critic(states).squeeze(-1) - rewards).square().mean() + self.actor(states).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
