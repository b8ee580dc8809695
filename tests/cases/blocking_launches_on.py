"""Every kernel is waited for, in all runs of the program."""

import os

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL705

import torch  # noqa: E402


def prepare():
    os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")  # TL705
    os.environ.update({"CUDA_LAUNCH_BLOCKING": "1", "OMP_NUM_THREADS": "1"})  # TL705
    os.putenv("CUDA_LAUNCH_BLOCKING", "1")  # TL705
    torch.cuda.init()
