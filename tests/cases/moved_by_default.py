"""A helper moves what it is given unless it is asked not to; some give it arrays, others what the device has made."""

import numpy as np
import torch
from torch import nn


def to_tensor(data, cuda=True):
    tensor = torch.from_numpy(data) if isinstance(data, np.ndarray) else data.detach()
    if cuda:
        tensor = tensor.cuda()
    return tensor


class Detector(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.head = nn.Linear(256, classes)

    def forward(self, x):
        return self.head(x)

    def keep(self, scores, limit):
        return [scores[:, k][scores[:, k] > limit] for k in range(scores.shape[1])]  # TL105

    def predict(self, images):
        self.cuda().eval()
        found = []
        with torch.no_grad():
            for image in images:
                made = self(to_tensor(image))
                weights = np.exp(to_tensor(made, cuda=False).cpu().numpy())  # TL103?
                found.append(self.keep(to_tensor(weights), 0.5))
        return found


def run(model, folder):
    return model.predict([np.load(path) for path in folder])
