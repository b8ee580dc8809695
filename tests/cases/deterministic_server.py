"""A server switches the deterministic kernels on when its module is loaded."""

import torch
from torch.backends import cudnn

cudnn.deterministic = True  # TL406
torch.set_deterministic_debug_mode("warn")  # TL406?


@torch.inference_mode()
def serve(net, queue):
    net = net.cuda().eval()
    for x in queue:
        yield net(x.cuda(non_blocking=True))
