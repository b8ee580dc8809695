"""A closure that prints every fifty runs."""

import torch


def style(net, target, image):
    image = image.cuda().requires_grad_()
    optimizer = torch.optim.LBFGS([image])
    run = [0]
    while run[0] <= 300:

        def closure():
            optimizer.zero_grad()
            loss = (net(image) - target).square().mean()
            loss.backward()
            run[0] += 1
            if run[0] % 50 == 0:
                print("run {}: loss {:4f}".format(run[0], loss))
            return loss

        optimizer.step(closure)
    return image
