"""A fixed point is sought with a test on the device in the head of the loop."""

import torch


class Balance(torch.autograd.Function):
    @staticmethod
    def forward(ctx, cost, eps):
        u = torch.zeros(cost.shape[0], device=cost.device)
        change = torch.ones((), device=cost.device)
        while change > 1e-4:  # TL102
            v = -torch.logsumexp((u[:, None] - cost) / eps, dim=0) * eps
            new = -torch.logsumexp((v[None] - cost) / eps, dim=1) * eps
            change = (new - u).abs().max()
            u = new
        ctx.save_for_backward(u)
        return u

    @staticmethod
    def backward(ctx, g):
        return g[:, None], None
