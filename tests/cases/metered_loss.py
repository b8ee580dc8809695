"""A loop over batches keeps account of its time, round by round: that measures nothing in the loss that it calls."""

import time

import torch
from torch import nn


class Contrastive(nn.Module):
    def forward(self, features, labels):
        mask = torch.eq(labels[:, None], labels[None]).float()
        if mask.sum(1).min() < 2:  # TL102
            raise ValueError("an anchor without positives")
        logits = features @ features.T
        hard = logits[mask.bool()]  # TL105
        return -nn.functional.logsigmoid(hard).mean()


def train(loader, model, criterion, optimizer, meters):
    model.cuda()
    end = time.time()
    for images, labels in loader:
        meters["data"].update(time.time() - end)
        loss = criterion(model(images.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meters["loss"].update(loss.item())  # TL101
        meters["batch"].update(time.time() - end)
        end = time.time()


def main(loader, model, optimizer, meters):
    for _ in range(10):
        train(loader, model, Contrastive(), optimizer, meters)
