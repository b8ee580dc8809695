"""A round moves what it needs to another device than the one before, or to the same one."""

import torch


def fit(weights, run):
    table = weights.cpu()
    at, out = 0, None
    with torch.inference_mode():
        while out is None:
            try:
                out = run(table.to(torch.device(at)))
            except torch.cuda.OutOfMemoryError:
                at += 1
    return out


def spread(model, opt, loader, table, devices):
    table = table.cpu()
    for x in loader:
        losses = [(model(x.to(f"cuda:{at}")) * table.to(f"cuda:{at}")).mean() for at in range(devices)]
        sum(loss.to("cuda:0") for loss in losses).backward()
        opt.step()


def train(model, opt, loader, table):
    model.cuda()
    table = table.cpu()
    for x in loader:
        loss = (model(x.cuda()) * table.to("cuda")).mean()  # TL509
        loss.backward()
        opt.step()
