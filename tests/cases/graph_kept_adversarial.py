"""The fake is made anew for the second player, so that the first backward need not keep the graph."""

import torch
from torch import nn


def play(maker, judge, opt_m, opt_j, feed):
    maker, judge = maker.cuda(), judge.cuda()
    for real in feed:
        fake = maker(torch.randn(real.size(0), 64, device="cuda"))
        cost_j = judge(fake.detach()).mean() - judge(real).mean()
        opt_j.zero_grad()
        cost_j.backward(retain_graph=True)  # TL604
        opt_j.step()
        cost_m = -judge(fake).mean()
        opt_m.zero_grad()
        cost_m.backward()
        opt_m.step()
