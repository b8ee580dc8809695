"""Pinned and not blocking; pinned by hand; a device of unknown kind; the model, once."""

import torch
from torch.utils.data import DataLoader


def fit(net, opt, data, pin):
    net = net.to("cuda")
    feed = DataLoader(data, batch_size=16, num_workers=4, pin_memory=True)
    other = DataLoader(data, batch_size=16, num_workers=4, pin_memory=pin)
    for (x, y), z in zip(feed, other):
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        z = z.to("cuda", non_blocking=True)
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x) + net(z), y).backward()
        opt.step()


@torch.inference_mode()
def serve(net, queue):
    net = net.cuda().eval()
    for request in queue:
        ids = torch.tensor(request.ids).pin_memory()
        yield net(ids.to("cuda", non_blocking=True))
