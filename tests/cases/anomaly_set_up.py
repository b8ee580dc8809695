"""A set-up function switches the search on for every run."""

import torch


def prepare(seed):
    torch.manual_seed(seed)
    torch.autograd.set_detect_anomaly(mode=True)  # TL704


def main(net, opt, feed):
    prepare(0)
    net = net.cuda()
    for x, y in feed:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
