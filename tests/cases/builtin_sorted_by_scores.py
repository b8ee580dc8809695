"""Rows sorted by a key that reads a device tensor."""

import torch


@torch.no_grad()
def rank(model, loader):
    model.cuda()
    best = []
    for x in loader:
        scores = model(x.cuda()).squeeze(-1)
        order = sorted(range(len(scores)), key=lambda i: scores[i], reverse=True)  # TL107
        best.append(order[0])
    return best
