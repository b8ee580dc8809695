"""The batch is fetched before the loop and in it: it is data, and carries no graph into the next round."""

import torch


def endless(loader):
    while True:
        yield from loader


def train(critic, generator, opt, loader, rounds, device="cuda"):
    critic.to(device)
    feed = endless(loader)
    real = next(feed).to(device)
    for _ in range(rounds):
        with torch.no_grad():
            fake = generator(torch.randn(real.size(0), 128, device=device))
        loss = critic(fake).mean() - critic(real).mean()
        opt.zero_grad()
        loss.backward(retain_graph=True)  # TL604
        opt.step()
        real = next(feed).to(device)
        score = -critic(generator(torch.randn(real.size(0), 128, device=device))).mean()
        score.backward()
