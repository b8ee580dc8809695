"""Detached values, numbers, and lists that live for a step and feed its backward."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed):
    net = net.cuda()
    shown, sizes = [], []
    for x, y in feed:
        parts = []
        for piece in x.split(4):
            parts.append(net(piece))
        out = nn.functional.mse_loss(torch.cat(parts), y)
        opt.zero_grad()
        out.backward()
        opt.step()
        shown.append(out.detach())
        sizes.append(x.shape[0])
    return torch.stack(shown), sizes


@torch.inference_mode()
def embed(net: nn.Module, feed):
    net = net.cuda()
    return [net(x.cuda(non_blocking=True)) for x in feed]


class Episode:
    def __init__(self, policy, opt):
        self.policy, self.opt, self.logp = policy.cuda(), opt, []

    def act(self, obs):
        score = self.policy(obs).log_softmax(-1)
        self.logp.append(score.amax(-1))
        return score.argmax(-1)

    def finish(self, gain):
        self.opt.zero_grad()
        (-torch.stack(self.logp) * gain).mean().backward()
        self.opt.step()
        self.logp.clear()


class Episodes:
    def __init__(self, policy, opt):
        self.policy, self.opt, self.saved = policy.cuda(), opt, {}

    def act(self, who, obs):
        score = self.policy(obs).log_softmax(-1)
        self.saved.setdefault(who, []).append(score.amax(-1))
        return score.argmax(-1)

    def finish(self, who, gain):
        self.opt.zero_grad()
        (-torch.stack(self.saved[who]) * gain).mean().backward()
        self.opt.step()
        self.saved = {}
