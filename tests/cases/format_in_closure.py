"""A closure that an optimizer runs prints the loss."""

import torch


def style(net, target, image):
    image = image.cuda().requires_grad_()
    optimizer = torch.optim.Adam([image])
    for k in range(300):

        def closure():
            optimizer.zero_grad()
            loss = (net(image) - target).square().mean()
            loss.backward()
            print("loss", loss)  # TL104
            return loss

        optimizer.step(closure)
    return image
