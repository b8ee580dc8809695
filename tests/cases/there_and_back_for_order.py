"""The order of the losses is found by NumPy."""

import numpy as np
import torch


def hard(net, loader, opt):
    net.cuda()
    for x, y in loader:
        y = y.cuda()
        per = torch.nn.functional.cross_entropy(net(x.cuda()), y, reduction="none")
        order = np.argsort(per.detach().cpu().numpy())  # TL103?
        idx = torch.from_numpy(order[-8:]).cuda()  # TL511
        loss = per[idx].mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
