import torch

from ..utils.metrics import confusion, pixel_accuracy


def run(network, batch):
    """No gradients are wanted of it: all its callers say so."""
    images, mask, labels = batch
    return network(images, mask), labels


@torch.inference_mode()
def evaluate(network, loader, device):
    network.eval()
    total = torch.zeros((), device=device)
    count = 0
    for batch in loader:
        scores, labels = run(network, [part.to(device, non_blocking=True) for part in batch])  # TL504
        total += pixel_accuracy(scores, labels)
        count += 1
    return (total / count).item(), confusion(scores, labels)
