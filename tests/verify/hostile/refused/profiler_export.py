# refused: export_chrome_trace is never allowed
import torch


def flagged(x):
    with torch.profiler.profile() as taken:
        y = x * 2
    taken.export_chrome_trace("/tmp/x.json")
    return y
