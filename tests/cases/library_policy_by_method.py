"""A policy that is evaluated through a method of a moved module."""

import torch
from torch import nn
from torch.distributions import Normal


class Agent(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.mean = nn.Linear(obs, act)
        self.log_std = nn.Parameter(torch.zeros(act))

    def evaluate(self, obs, action):
        dist = Normal(self.mean(obs), self.log_std.exp())  # TL111
        return dist.log_prob(action).sum(-1), dist.entropy().sum(-1)  # TL111


def update(agent, opt, obs, actions, old, adv):
    agent.cuda()
    for _ in range(10):
        new, ent = agent.evaluate(obs, actions)
        ratio = (new - old).exp()
        loss = -(ratio * adv).mean() - 0.01 * ent.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
