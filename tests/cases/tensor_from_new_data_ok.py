"""New batches from the host, factories, buffers, and values made once."""

import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.register_buffer("weights", torch.tensor(weights))
        self.cache = None

    def forward(self, x):
        if self.cache is None:
            self.cache = torch.tensor([1.0, 2.0], device=x.device)
        base = torch.zeros(x.size(0), device=x.device) + torch.full((), 2.0, device=x.device)
        return base[:, None] * x * self.weights


@torch.inference_mode()
def serve(net, queue):
    net = net.cuda().eval()
    for request in queue:
        ids = torch.tensor(request.ids, device="cuda")
        yield net(ids[None])


def play(world, policy, steps):
    obs = np.asarray(world.reset())
    for _ in range(steps):
        act = policy(torch.as_tensor(obs, device="cuda")).cpu().numpy()
        obs = world.step(act)
