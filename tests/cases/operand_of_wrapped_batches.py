"""A wrapper hands on what it is given, batches or rows of scores; labels are compared with classes that NumPy counted."""

import numpy as np
import torch
from torch.utils.data import DataLoader


def counted(things, every):
    for thing in things:
        yield thing
        if every:
            print(every)


def encode(net, texts):
    net.cuda().eval()
    with torch.no_grad():
        loader = DataLoader(texts, num_workers=2, pin_memory=True)
        return torch.cat([net(text.cuda(non_blocking=True)) for text in counted(loader, 0)])


def rerank(net, texts, ids):
    found, ids = encode(net, texts), ids.cuda()
    with torch.no_grad():
        for row in counted(found @ found.t(), 50):
            best, index = row.topk(8)
            best += net(ids[index])  # no TL109


def by_class(net, texts, seed):
    drawn = np.random.RandomState(seed)
    net.cuda().eval()
    with torch.no_grad():
        for x, y in counted(DataLoader(texts, num_workers=2, pin_memory=True), 50):
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            y[:, drawn.randint(4)] = 1  # no TL109
            said = net(x).argmax(1)
            for name in np.unique(y.cpu()):  # TL103
                print(name, (said[y == name] == y[y == name]).sum())  # TL105, TL104
            print(said[drawn.permutation(len(said))[:8]])  # TL109, TL104
