"""The same arguments with numbers, and operators that take tensors."""

import torch


class Plain(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            live = [w for w in group["params"] if w.grad is not None]
            grads = [w.grad for w in live]
            torch._foreach_add_(live, grads, alpha=-group["lr"])


class Mixed(torch.nn.Module):
    def __init__(self, floor=0.5):
        super().__init__()
        self.floor = floor

    def forward(self, x, keep, level):
        x = x.masked_fill(~keep, self.floor)
        x = torch.lerp(x, level, 0.5)
        return torch.full_like(x, self.floor).addcmul_(x, level, value=2.0)
