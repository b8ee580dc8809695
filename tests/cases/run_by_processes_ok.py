"""A function that makes a network and its optimizer is a whole run, whatever starts it; saving is no step."""

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def run(rank, world):
    net = nn.Linear(8, 8).to(rank)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(torch.randn(4, 8, device=rank)).square().mean()
    loss.backward()
    opt.step()
    for name, weight in net.named_parameters():
        print(name, weight.grad)


class Trainer:
    def __init__(self, net, opt):
        self.net, self.opt = net, opt

    def _save_checkpoint(self, path):
        if dist.get_rank() == 0:
            torch.save(self.net.state_dict(), path)
        dist.barrier()

    def fit(self, feed, control):
        for x, y in feed:
            self.opt.zero_grad()
            nn.functional.mse_loss(self.net(x), y).backward()
            self.opt.step()
            control = control.after_step()
            if control.should_save:
                self._save_checkpoint(control.path)


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
