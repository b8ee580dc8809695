# refused: from_file is never allowed
import torch


def flagged(x):
    x.untyped_storage().from_file("/etc/hostname", True, 4)
    return x
