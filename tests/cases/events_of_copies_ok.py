"""Results are copied to the host on a stream of their own; the host waits for the event behind them, a batch later."""

import torch


class Buffers:
    def __init__(self, width, device):
        self.ids = torch.zeros(width, dtype=torch.int64, device=device)


class Pair:
    def __init__(self, width, device):
        self.here, self.there = Buffers(width, torch.device("cpu")), Buffers(width, device)
        self.copied = torch.cuda.Event()

    def fetch(self, stream):
        with torch.cuda.stream(stream):
            self.here.ids.copy_(self.there.ids, non_blocking=True)
        stream.record_event(self.copied)

    def results(self):
        self.copied.synchronize()
        return self.here.ids


def decode(net, feed, sink, device, width=64):
    net = net.to(device)
    pairs, stream = [Pair(width, device), Pair(width, device)], torch.cuda.Stream()
    for k, x in enumerate(feed):
        pair, other = pairs[k % 2], pairs[1 - k % 2]
        torch.argmax(net(x.to(device, non_blocking=True)), dim=-1, out=pair.there.ids)
        pair.fetch(stream)
        sink.put(other.results())
