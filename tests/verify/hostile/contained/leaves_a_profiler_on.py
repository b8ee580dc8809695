# not run: it leaves a profiler on
import torch


def flagged(x):
    torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]).start()
    return x
