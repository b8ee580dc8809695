"""Copies to the host at the end, for a checkpoint, and for a simulator that needs them."""

import numpy as np
import torch


@torch.inference_mode()
def embed(net, feed):
    net = net.cuda().eval()
    rows = []
    for x in feed:
        rows.append(net(x.cuda()))
    return torch.cat(rows).cpu().numpy()


def save(net, path):
    state = {name: value.cpu() for name, value in net.state_dict().items()}
    torch.save(state, path)


@torch.no_grad()
def play(env, policy, steps):
    policy = policy.cuda().eval()
    obs, _ = env.reset()
    total = 0.0
    for _ in range(steps):
        act = policy(torch.as_tensor(obs, dtype=torch.float32, device="cuda")).argmax().item()
        obs, reward, done, cut, _ = env.step(act)
        total += reward
        if done or cut:
            obs, _ = env.reset()
    return np.float32(total)
