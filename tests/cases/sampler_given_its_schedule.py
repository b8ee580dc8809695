"""A sampler is given its schedule, which looks its tables up by a step that is on the device."""

import torch


class Schedule:
    def __init__(self, n=1000):
        self.kept = torch.cumprod(1.0 - torch.linspace(0.01, 0.02, n), dim=0)
        self.n = n

    def set_steps(self, count, device):
        self.ratio = self.n // count
        self.steps = torch.arange(0, count, device=device).flip(0) * self.ratio

    def advance(self, eps, t, x):
        now = self.kept[t]  # TL106
        before = self.kept[t - self.ratio] if t > self.ratio else 1.0  # TL102, TL106
        clean = (x - (1 - now) ** 0.5 * eps) / now**0.5
        return before**0.5 * clean + (1 - before) ** 0.5 * eps


@torch.no_grad()
def sample(net, schedule, shape, count=50, device="cuda"):
    net = net.to(device)
    schedule.set_steps(count, device)
    x = torch.randn(shape, device=device)
    for t in schedule.steps:
        x = schedule.advance(net(x, t), t, x)
    return x


@torch.inference_mode()
def faces(net, loader, device="cuda"):
    net = net.to(device)
    found = []
    for frames in loader:
        frames = frames.to(device, non_blocking=True)
        for i in range(frames.size(0)):  # TL201?
            found.append(net(frames[i].unsqueeze(0))[0])
    return found
