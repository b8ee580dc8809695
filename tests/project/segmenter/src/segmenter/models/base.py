from torch import nn


class Network(nn.Module):
    """What all networks share: preparing an image before it is looked at."""

    def prepare(self, images):
        if images.max() > 1:  # TL102
            images = images / 255
        return images

    def summary(self, images):
        return f"{images.mean().item():.3f}"  # only asked for by hand
