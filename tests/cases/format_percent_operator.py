"""A callback builds its line with the percent operator on every batch."""

import torch
from torch import nn


class Printer:
    def on_batch(self, k, terms):
        line = ", ".join("%s=%s" % (name, value) for name, value in terms.items())  # TL104?
        print(k, line)


def fit(net: nn.Module, opt, feed):
    net.cuda()
    printer = Printer()
    for k, (x, y) in enumerate(feed):
        fit_term = nn.functional.mse_loss(net(x), y)
        decay_term = sum(p.square().sum() for p in net.parameters())  # TL204?
        opt.zero_grad()
        (fit_term + 1e-4 * decay_term).backward()
        opt.step()
        print("step %d: %s" % (k, fit_term.detach()))  # TL104
        printer.on_batch(k, {"fit": fit_term, "decay": decay_term})
