"""Objects that hold tensors and have a `cpu` of their own: what such a one gives is on the host, and its like is not."""

import numpy as np
import torch
from torch import nn


class Held:
    def __init__(self, data, shape):
        self.data = data
        self.shape = shape

    def cpu(self):
        return self if isinstance(self.data, np.ndarray) else self.__class__(self.data.cpu(), self.shape)  # TL103

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.__class__(self.data[index], self.shape)


class Boxes(Held):
    @property
    def scores(self):
        return self.data[:, 4]

    @property
    def labels(self):
        return self.data[:, 5]

    def corners(self):
        return self.data[:, :4]


class Result:
    def __init__(self, data, shape):
        self.boxes = Boxes(data, shape)

    def lines(self):
        boxes = self.boxes.cpu()
        found = []
        for box in boxes:
            found.append((int(box.labels.item()), float(box.scores), *boxes.corners().tolist()))
        return found

    def best(self):
        return self.boxes.scores.max().item()  # TL101


def detect(net: nn.Module, loader):
    net = net.cuda()
    for images in loader:
        with torch.no_grad():
            result = Result(net(images.cuda(non_blocking=True)), images.shape)
        if result.best() > 0.5:
            yield result.lines()
