"""Results are copied without waiting, and read at once."""

import torch


class Sampler:
    def __init__(self, net, rows):
        self.net = net.cuda().eval()
        self.out = torch.empty(rows, dtype=torch.long, pin_memory=True)

    @torch.inference_mode()
    def step(self, ids):
        picked = self.net(ids)[:, -1].argmax(-1)
        self.out.copy_(picked, non_blocking=True)
        return self.out.tolist()  # TL505


@torch.inference_mode()
def scores(net, feed):
    net = net.cuda().eval()
    for x in feed:
        host = net(x.cuda()).to("cpu", non_blocking=True)
        yield host.numpy().sum()  # TL505


def rows_by_slice(net, loader):
    net.cuda()
    kept = torch.empty(1024, 10, pin_memory=True)
    rows = []
    for x in loader:
        out = net(x.cuda())
        kept[: len(out)].copy_(out, non_blocking=True)
        rows.append(kept[: len(out)].numpy().copy())  # TL505
    return rows
