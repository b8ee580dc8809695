"""An evaluation after some training is timed for the log, and a module's own code tries it out for ten rounds."""

import time

import torch
from torch import nn


def evaluate(net, batches):
    total = 0.0
    with torch.no_grad():
        for i in range(0, batches.size(0), 8):
            total += net(batches[i : i + 8].cuda()).mean()
    return total.item() / batches.size(0)


def report(net, batches, best):
    began = time.time()
    loss = evaluate(net, batches)
    took = int(time.time() - began)
    return min(best, loss), took


def train(net, loader, held_out, optimizer):
    net.cuda()
    best = float("inf")
    for epoch in range(100):
        for x in loader:
            optimizer.zero_grad()
            net(x.cuda()).mean().backward()
            optimizer.step()
        best, took = report(net, held_out, best)
    return best


if __name__ == "__main__":
    net = nn.Linear(8, 8).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(10):
        loss = net(torch.randn(4, 8, device="cuda")).pow(2).mean()
        print(loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
