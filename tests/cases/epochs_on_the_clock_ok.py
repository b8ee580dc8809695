"""How long an evaluation took, or a prediction behind which the network went back to the host."""

import time

import torch
from torch.utils.data import DataLoader


def evaluate(model, rows):
    loader = DataLoader(rows, num_workers=4, pin_memory=True)
    model = model.cuda().eval()
    total = torch.zeros((), device="cuda")
    begin = time.perf_counter()
    with torch.no_grad():
        for x in loader:
            total += model(x.cuda(non_blocking=True)).sum()
    total = total.item()
    return total, time.perf_counter() - begin


def predict(model, x):
    begin = time.perf_counter()
    model.cuda()
    with torch.no_grad():
        y = model(x.cuda())
    model.cpu()
    print("took", time.perf_counter() - begin)
    return y


def prepare(model, x):
    begin = time.perf_counter()
    with torch.no_grad():
        y = model.cuda()(x.cuda())
    torch.cuda.empty_cache()
    print("took", time.perf_counter() - begin)
    return y
