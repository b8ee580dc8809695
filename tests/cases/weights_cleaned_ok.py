"""Weights whose entries are replaced before they are normalised, and others filled on the host, row by row."""

import numpy as np
import torch


def resampled(potential, draws):
    kept = []
    for batch in draws:
        log_weights = potential(batch.cuda())
        probs = torch.exp(log_weights)
        probs[torch.isnan(probs)] = 0.0
        probs /= probs.sum()
        kept.append(torch.multinomial(probs, 1))
    return kept


def points(masks, device="cuda"):
    labels = torch.ones(len(masks), 1, dtype=torch.int32)
    for b, mask in enumerate(masks):
        labels[b, 0] = int(np.argmax(mask) > mask.size // 2)
    return labels.to(device)
