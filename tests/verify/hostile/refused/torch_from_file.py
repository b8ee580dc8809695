# refused: torch.from_file is not on the list
import torch


def flagged(x):
    return torch.from_file("/etc/hostname", shared=True, size=4, dtype=torch.uint8)
