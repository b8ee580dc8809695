"""A step gives the number that it has read, and the tensor itself where there was nothing to learn."""

import time

import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.model = nn.Linear(8, 1).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def update(self, batch):
        loss = self.model(batch.cuda()).mean()
        if not len(batch):
            return loss
        value = loss.item()  # TL101
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return value


def train(loader, every=100):
    trainer = Trainer()
    total, end, waited = 0.0, time.time(), 0.0
    for i, batch in enumerate(loader):
        waited += time.time() - end
        total += trainer.update(batch)
        end = time.time()
        if i % every == 0:
            print(total / (i + 1), waited, trainer.model.weight.norm())
