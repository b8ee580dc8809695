"""Attributes of events that newer releases no longer have."""

from torch.profiler import profile


def top(net, x):
    with profile() as prof:
        net(x)
    rows = prof.key_averages()
    return sorted(rows, key=lambda e: e.self_cuda_time_total)[-1].cuda_time  # TL708
