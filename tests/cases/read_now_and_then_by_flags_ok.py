"""Reads behind a flag that a method sets, at chosen steps, and where the loop is left."""

import torch
from transformers import TrainerCallback


class Fitter:
    def __init__(self, net, opt, every=50):
        self.net, self.opt, self.every = net.cuda(), opt, every
        self.logs = False

    def begin(self, k):
        self.logs = k % self.every == 0

    def report(self, loss, parts):
        if not self.logs:
            return
        print(loss.item(), [part.item() for part in parts.values()])

    def fit(self, feed, last):
        for k, batch in enumerate(feed):
            self.begin(k)
            loss, parts = self.net(batch)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.report(loss, parts)
            if k in (10, 100, 1000):
                print("norm", loss.item())
            if k >= last:
                print("last", loss.item())
                break


class Clear(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % 500 == 0:
            torch.cuda.empty_cache()
