"""What follows runs every so many steps, whichever way a function is left before; a count that comes from a file."""

import torch


def sample(model, step, epoch, every, each):
    if step == 0:
        if not every:
            return
    else:
        if each is not None:
            if epoch is None or epoch % each != 0:
                return
        elif step % every != 0:
            return
    print(model.scale.norm().item())


def to_host(z):
    elsewhere = z.device.type in ["mps", "xpu"]
    if elsewhere:
        z = z.cpu()
    return torch.stft(z, 64, return_complex=True)


def train(model, opt, loader, start, every, each, last):
    model = model.cuda()
    number = start.read()
    for x in loader:
        loss = to_host(model(x.cuda())).abs().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        number += 1
        sample(model, number, 0, every, each)
        if last and (number % every == 0 or number == last):
            print(loss.item())
