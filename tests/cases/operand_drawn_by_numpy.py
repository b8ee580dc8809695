"""Views are drawn by NumPy: one number is no index that is copied, several are; a count becomes a tensor to be clamped."""

import numpy as np
import torch


def fit(net, images, poses, opt, rounds):
    net = net.to("cuda")
    images = torch.Tensor(images).to("cuda")
    for k in range(rounds):
        one = np.random.choice(len(images))
        some = np.random.choice(1024, 128, replace=False)
        gold = images[one].reshape(-1, 3)[some]  # TL109
        count = torch.as_tensor([len(poses[one])], dtype=torch.float, device="cuda")  # TL207?
        loss = (net(poses[one])[: len(some)] - gold).square().mean() / count.clamp(min=1)
        opt.zero_grad()
        loss.backward()
        opt.step()
