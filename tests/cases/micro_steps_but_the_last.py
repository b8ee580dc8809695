"""Only the last micro-step reduces, though `no_sync` leaves the forward out; tensors by an older name of their type."""

import time

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

cuda = torch.cuda.is_available()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor


def train(model, loader, opt, rank, every):
    model = DistributedDataParallel(model.cuda(rank), device_ids=[rank])
    for step in range(1000):
        for i in range(1, every + 1):
            loss = model(next(loader).cuda()).mean()
            if i < every:
                with model.no_sync():
                    loss.backward()  # TL901
            else:
                loss.backward()
        opt.step()
        opt.zero_grad()


def fit(net, loader, optimizer):
    before = time.time()
    for i, x in enumerate(loader):
        optimizer.zero_grad()
        loss = net(x.type(Tensor)).mean()
        loss.backward()
        optimizer.step()
        left = (len(loader) - i) * (time.time() - before)
        before = time.time()
        print(f"{i} {loss.item():.3f} {left:.1f}s left")  # TL101
