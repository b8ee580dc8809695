"""What a side stream makes is used at once on the other."""

import torch


class Prefetch:
    def __init__(self, feed):
        self.feed = iter(feed)
        self.side = torch.cuda.Stream()

    def next(self):
        batch = next(self.feed)
        with torch.cuda.stream(self.side):
            ready = batch.cuda(non_blocking=True)
        return ready * 2.0  # TL512


def overlap(a, b):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        c = a @ b
    return c + a  # TL512


def ahead(feed, device="cuda"):
    side, ready = torch.cuda.Stream(), None
    for batch in feed:
        if ready is not None:
            yield ready
        with torch.cuda.stream(side):
            ready = batch.to(device, non_blocking=True)
    yield ready  # TL512
