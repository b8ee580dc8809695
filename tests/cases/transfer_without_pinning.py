"""The copy is said not to block, from memory that is not pinned."""

import numpy as np
import torch
from torch.utils.data import DataLoader


def fit(net, opt, data):
    net = net.cuda()
    feed = DataLoader(data, batch_size=16, num_workers=4, pin_memory=False)  # TL502
    for x, y in feed:
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)  # TL504
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()


@torch.inference_mode()
def serve(net, queue):
    net = net.cuda().eval()
    for request in queue:
        ids = torch.tensor(request.ids)
        lengths = torch.from_numpy(np.array(request.lengths))
        yield net(ids.to("cuda", non_blocking=True), lengths.to("cuda", non_blocking=True))  # TL504
