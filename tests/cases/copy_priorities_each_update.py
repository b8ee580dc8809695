"""A replay buffer takes the priorities of every update as a list."""

import torch
from torch.nn import functional as F


class Learner:
    def __init__(self, net, target, opt, memory):
        self.net, self.target = net.cuda(), target.cuda()
        self.opt, self.memory = opt, memory

    def learn(self, rounds):
        for _ in range(rounds):
            obs, act, reward, nxt, index = self.memory.draw()
            with torch.no_grad():
                goal = reward + 0.99 * self.target(nxt).max(1).values
            error = goal - self.net(obs).gather(1, act).squeeze(1)
            self.opt.zero_grad()
            F.smooth_l1_loss(error, torch.zeros_like(error)).backward()
            self.opt.step()
            self.memory.update(index, error.detach().abs().tolist())  # TL103
