"""Copies to the device, started without waiting, are no reason for a wait for the whole device."""

import torch


def epoch(net, feed, opt, device, step):
    net = net.to(device)
    for k, (x, _) in enumerate(feed):
        x = x.to(device, non_blocking=True)
        loss = net(x).square().mean()
        step(loss, opt)
        opt.zero_grad()
        torch.cuda.synchronize()  # TL110
        if k % 20 == 0:
            print(k, loss.item())


class Norm(torch.nn.Module):
    def __init__(self, n, eps=1e-12):
        super().__init__()
        self.gamma, self.beta = torch.nn.Parameter(torch.ones(n)), torch.nn.Parameter(torch.zeros(n))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, unbiased=False, keepdim=True)
        return self.gamma * (x - mean) / torch.sqrt(var + self.eps) + self.beta  # TL304
