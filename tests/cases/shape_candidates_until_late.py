"""Boxes are filtered image by image, and the loop gives up when it is late: a deadline measures nothing."""

import time

import torch
import torchvision


def suppress(prediction, least=0.25, overlap=0.45, limit=0.5):
    candidates = prediction[..., 4] > least
    begun = time.time()
    found = []
    for i, x in enumerate(prediction):
        x = x[candidates[i]]  # TL105
        keep = torchvision.ops.nms(x[:, :4], x[:, 4], overlap)
        found.append(x[keep])
        if time.time() - begun > limit:
            break
    return found


@torch.no_grad()
def run(model, images):
    model = model.to("cuda").eval()
    for path, image in images:
        yield path, suppress(model(torch.from_numpy(image).to("cuda")[None]))
