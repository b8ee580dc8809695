"""An evaluation keeps how long each batch took: what it reads is read for the report, and no benchmark."""

import time

import torch
from torch import nn
from torch.nn import functional as F


def validate(loader, model, criterion, losses, batch_time, data_time, logger):
    model.eval()
    end = time.time()
    with torch.no_grad():
        for i, (x, y) in enumerate(loader):
            data_time.update(time.time() - end)
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            scores = model(x)
            scores = F.interpolate(scores, size=y.shape[1:], mode="bilinear")
            loss = criterion(scores, y)
            losses.update(loss.item(), x.size(0))  # TL101
            batch_time.update(time.time() - end)
            end = time.time()
            if i % 10 == 0:
                logger.info(f"{i} {batch_time.avg:.3f}")


@torch.inference_mode()
def latency(loader, model):
    """Here the copy closes each interval."""
    model = model.cuda().eval()
    spans = []
    for x in loader:
        begun = time.perf_counter()
        model(x.cuda(non_blocking=True)).cpu()
        spans.append(time.perf_counter() - begun)
    return sorted(spans)[len(spans) // 2]


def fit(model: nn.Module, loader, val_loader, opt, criterion, meters, logger):
    model = model.cuda()
    for _ in range(10):
        for x, y in loader:
            loss = criterion(model(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
            opt.zero_grad()
            loss.backward()
            opt.step()
        validate(val_loader, model, criterion, *meters, logger)
