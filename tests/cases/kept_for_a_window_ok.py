"""A window of outputs is kept for the loss over it; terms of one graph are gone through one by one; a wait is timed."""

import time

import torch
import torch.distributed as dist
from torch import nn


def windows(net: nn.Module, x, y, criterion, opt, size):
    net = net.cuda()
    outputs, filled, total = [], 0, 0
    for step in range(x.size(0)):
        output, _ = net(x[step])
        outputs.append(output)
        filled += 1
        if filled == size:
            outputs = torch.stack(outputs, dim=0)
            loss = criterion(outputs, y)
            total += loss
            opt.zero_grad()
            total.backward()
            opt.step()
            outputs, filled, total = [], 0, 0


def note(record, name, value):
    record[name] = record.get(name, 0.0) + value


def one_by_one(critics: nn.Module, loader, opt):
    critics = critics.cuda()
    for x in loader:
        record = {}
        losses = critics(x.cuda(non_blocking=True))
        for name, loss in losses:
            loss.backward(retain_graph=True)
            note(record, name, loss.item())  # TL101
        opt.step()
        opt.zero_grad()


def all_done(device):
    flag = torch.tensor(1, dtype=torch.uint8, device=device)
    dist.all_reduce(flag, op=dist.ReduceOp.MIN)
    return flag.item() == 1


def last_of_all(device, longest):
    begun = time.time()
    while not all_done(device):
        waited = time.time() - begun
        if waited > longest:
            raise TimeoutError(f"waited {waited} s for the others")
        time.sleep(0.1)
