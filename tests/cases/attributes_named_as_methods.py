"""A model whose buffer has the name of a tensor's method is a model all the same."""

import torch
import torch.nn.functional as F


def learn(tasks, model, opt, device="cuda"):
    model.to(device)
    for task in tasks:
        for x, y in task.train:
            x, y = x.to(device), y.to(device)
            loss = F.cross_entropy(-torch.cdist(model.body(x), model.mean), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        evaluate(model, tasks, device)


def evaluate(model, tasks, device):
    model.eval()
    right = 0
    for task in tasks:
        for x, y in task.test:
            pred = model(x.to(device)).argmax(1)  # TL603
            right += (pred == y.to(device)).sum().item()  # TL101
    model.train()
    return right
