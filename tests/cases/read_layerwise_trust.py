"""An optimizer with trust ratios reads two norms per parameter."""

import torch


class Layerwise(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, trust=0.01):
        super().__init__(params, dict(lr=lr, trust=trust))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for w in group["params"]:  # TL204?
                if w.grad is None:
                    continue
                size = torch.norm(w).item()  # TL101
                push = w.grad.norm().item()  # TL101
                ratio = group["trust"] * size / push if push > 0 else 1.0
                w.add_(w.grad, alpha=-group["lr"] * ratio)
