"""Detection: images stay apart, each of its own size, and convolutions are tuned for each."""

import torch
from torch.utils.data import DataLoader
from torchvision.datasets import CocoDetection
from torchvision.models.detection import retinanet_resnet50_fpn


def together(batch):
    return tuple(zip(*batch))


def main(root, notes, epochs):
    torch.backends.cudnn.benchmark = True  # TL405
    net = retinanet_resnet50_fpn().to("cuda")
    opt = torch.optim.SGD(net.parameters(), 0.01)
    feed = DataLoader(CocoDetection(root, notes), 2, num_workers=4, pin_memory=True, collate_fn=together)
    for _ in range(epochs):
        for images, targets in feed:
            images = [image.to("cuda", non_blocking=True) for image in images]
            losses = net(images, targets)
            opt.zero_grad()
            sum(losses.values()).backward()
            opt.step()
