"""The variable is kept under a name, and written as a number in a string."""

import os

import torch

FLAG = "CUDA_LAUNCH_BLOCKING"
os.environ[FLAG] = str(1)  # TL705?
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL705


def main(net, x):
    return net.to("cuda")(x.to("cuda")), torch.cuda.is_available()
