"""Clocks around what the host does, around a queue that is asked now and then, and around an evaluation at times."""

import queue
import time

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator()
net = accelerator.prepare(nn.Linear(8, 8))


def one_hot(labels, n):
    if isinstance(labels, torch.Tensor):
        result = torch.zeros((n, *labels.shape), dtype=torch.uint8, device=labels.device)
        result.scatter_(0, labels[None].long(), 1)
    else:
        result = np.stack([labels == i for i in range(n)])
    return result


def compare():
    labels = np.random.randint(0, 4, (64, 64))
    start = time.time()
    one_hot(labels, 4)
    middle = time.time()
    one_hot(torch.from_numpy(labels), 4)
    print(middle - start, time.time() - middle)


class Samples:
    def __init__(self, check):
        self.queue = queue.Queue()
        self.check = check

    def __iter__(self):
        while True:
            start = time.time()
            while True:
                try:
                    sample = self.queue.get(timeout=1.0)
                    break
                except queue.Empty:
                    self.check(30.0)
            now = time.time()
            waited = now - start
            if waited > 1.0:
                print(f"waited {waited:.1f} s")
            with torch.no_grad():
                figures = net(sample.cuda(non_blocking=True)).cpu()
            yield figures


class Trainer:
    def __init__(self, model, loader):
        self.model = model.cuda()
        self.loader = loader
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True)

    @torch.no_grad()
    def evaluate(self, batch):
        start = time.time()
        figures = self.model(batch.cuda()).cpu()
        end = time.time()
        print(f"took {end - start:.1f} s")
        return figures

    def run(self, batch):
        for step, inputs in enumerate(self.loader):
            loss = self.model(inputs.cuda(non_blocking=True)).mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if step % 1000 == 0:
                self.evaluate(batch)
