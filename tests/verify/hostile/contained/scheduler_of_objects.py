# not run: a scheduler's state holds Pretender
import torch


class Pretender(dict):
    def items(self):
        return [("__array_interface__", {"data": (4096, False)})]


def flagged(x):
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
    torch.optim.lr_scheduler.StepLR(optimizer, 1).load_state_dict(Pretender())
    return x
