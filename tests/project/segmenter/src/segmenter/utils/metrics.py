import torch


class Meter:
    """A mean over what it is given."""

    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value, count=1):
        self.total += value.item() * count  # TL101
        self.count += count

    @property
    def mean(self):
        return self.total / max(self.count, 1)


def pixel_accuracy(scores, labels):
    return (scores.argmax(1) == labels).float().mean()


def confusion(scores, labels):
    """Called on the way out only: once for a whole evaluation."""
    return torch.bincount(labels.flatten() * 2 + scores.argmax(1).flatten(), minlength=4).cpu()
