"""Device scalars are handed over where an operator wants a number of Python."""

import torch


class Scaled(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for w in group["params"]:  # TL204?
                rate = group["lr"] / (w.grad.norm() + 1e-6)
                w.add_(w.grad, alpha=-rate)  # TL108
