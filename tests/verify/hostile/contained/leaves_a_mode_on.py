# not run: it leaves inference mode on
import contextlib

import torch

KEPT = [torch.nn.functional.relu][0]


def flagged(x):
    KEPT.stack = contextlib.ExitStack()
    KEPT.stack.enter_context(torch.inference_mode())
    return x
