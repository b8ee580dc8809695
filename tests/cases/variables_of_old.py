"""Batches in `Variable`, a wait beside a clock that is read now and then."""

import time

import torch
from torch.autograd import Variable


def loud(mel):
    level = mel.mean()
    return mel[mel > level].std()  # TL105


class Trainer:
    def __init__(self, critic, maker, weight):
        self.critic, self.maker, self.weight = critic.cuda(), maker.cuda(), weight
        self.first = torch.optim.Adam(critic.parameters())
        self.second = torch.optim.Adam(maker.parameters())

    def fit(self, feed, every):
        began = time.time()
        for step, x in enumerate(feed):
            x = Variable(x.cuda())
            made = self.maker(x)
            loss = self.critic(x).mean() - self.weight * self.critic(made.detach()).mean() + 0 * loud(x)
            self.first.zero_grad()
            loss.backward(retain_graph=True)
            self.first.step()
            if step % every == 0:
                made = self.maker(x)
                other = self.weight * self.critic(made).mean()
                self.second.zero_grad()
                other.backward()
                self.second.step()
            torch.cuda.current_stream().synchronize()  # TL110
            if step % 100 == 0:
                print(100 / (time.time() - began))
                began = time.time()
