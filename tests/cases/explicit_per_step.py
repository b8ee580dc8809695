"""The device is waited for after every step, by a helper that says it frees memory."""

import torch


def settle(device):
    torch.cuda.synchronize(device)  # TL110


class Loop:
    def __init__(self, net, opt):
        self.net, self.opt = net.cuda(), opt
        self.side = torch.cuda.Stream()

    def run(self, feed):
        for x, y in feed:
            self.opt.zero_grad()
            torch.nn.functional.mse_loss(self.net(x), y).backward()
            self.opt.step()
            settle(0)
            self.side.synchronize()  # TL110
