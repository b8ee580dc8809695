"""The variable is read, switched off, or set when debugging is asked for."""

import os

import torch


def prepare(options):
    if os.environ.get("CUDA_LAUNCH_BLOCKING") == "1":
        print("slow run")
    os.environ["CUDA_LAUNCH_BLOCKING"] = "0"
    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
    if options.debug:
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    torch.cuda.init()
