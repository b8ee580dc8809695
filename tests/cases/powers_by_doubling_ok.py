"""What a tensor is joined with is as long as itself: it doubles, and few rounds make it."""

import torch


def powers(a, b, length):
    x, done = b.unsqueeze(0), length == 1
    while not done:
        if length - x.shape[0] <= x.shape[0]:
            done = True
            part = x[: length - x.shape[0]]
        else:
            part = x
        spectrum = torch.fft.rfft(a) * torch.fft.rfft(part)
        further = torch.fft.irfft(spectrum)
        x = torch.cat([x, further], dim=0)
        a = torch.fft.irfft(torch.fft.rfft(a) * torch.fft.rfft(a))
    return x
