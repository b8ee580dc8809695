"""The terms of a loss, which a model gives as a dictionary, are formatted in a helper."""

import torch


def report(parts):
    return ", ".join(f"{name}={value:.3f}" for name, value in parts.items())  # TL104


def optimise(net, feed, optimiser):
    net.to("cuda")
    for images, boxes in feed:
        parts = net(images.to("cuda"), boxes.to("cuda"))
        total = sum(parts.values())
        optimiser.zero_grad()
        total.backward()
        optimiser.step()
        print(report(parts))
