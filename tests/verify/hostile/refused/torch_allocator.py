# refused: torch.cuda.CUDAPluggableAllocator is not on the list
import torch


def flagged(x):
    torch.cuda.CUDAPluggableAllocator("/tmp/evil.so", "malloc", "free")
    return x
