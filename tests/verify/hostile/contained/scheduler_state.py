# not run: a scheduler's state names a special attribute
import torch


def flagged(x):
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    scheduler.load_state_dict({"__array_interface__": {"data": (4096, False)}})
    return x
