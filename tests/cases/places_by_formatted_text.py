"""Places named by text that is put together, with the host beside them."""

import torch
from torch import nn


class Agent:
    def __init__(self, net: nn.Module, gpu_id: int = 0):
        self.device = torch.device(f"cuda:{gpu_id}" if torch.cuda.is_available() and gpu_id >= 0 else "cpu")
        self.net = net.to(self.device)

    def explore(self, env, steps, envs):
        rewards = torch.zeros((steps, envs)).to(self.device)  # TL508
        for t in range(steps):
            rewards[t] = env.step()
        return rewards


def noise(net, gpu, shape):
    where = "cuda:" + str(gpu) if gpu is not None else "cpu"
    net.to(where)
    return net(torch.randn(shape).to(where))  # TL508


def labels(net, gpu, x):
    place = torch.device("cuda:%d" % gpu if torch.cuda.is_available() else "cpu")
    other = torch.device("cuda:{}".format(gpu) if torch.cuda.is_available() else "cpu")
    smooth = torch.full((10,), 0.1).to(place)  # TL508
    return net.to(place)(x.to(place)) * smooth + torch.ones(10).to(other)  # TL508
