"""Optimizers with one base keep other things under the same keys: a number here, a tensor there."""

import torch


class Base(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, dict(lr=lr))

    def forget(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["seen"] = 0


class Counted(Base):
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:  # TL204
                state = self.state[p]
                if not state:
                    state["rate"] = 0.0
                state["rate"] = 0.9 * state["rate"] + 0.1
                p.add_(p.grad, alpha=-group["lr"] * state["rate"])


class Measured(Base):
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:  # TL204
                state = self.state[p]
                if not state:
                    state["rate"] = torch.zeros((), device=p.device)
                state["rate"].lerp_(p.grad.norm(), 0.1)
                p.add_(p.grad, alpha=-group["lr"] * state["rate"])  # TL108
