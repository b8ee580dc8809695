"""A decoding loop gives a compiled model one token more on each round."""

import torch


@torch.inference_mode()
def write(net, ids, budget):
    net = torch.compile(net.cuda().eval())
    ids = ids.cuda()
    for _ in range(budget):
        nxt = net(ids)[:, -1].argmax(-1, keepdim=True)  # TL805?
        ids = torch.cat([ids, nxt], dim=1)  # TL203
    return ids
