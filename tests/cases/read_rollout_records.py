"""Three reads of one step go into a record, of which the simulator wants one."""

import torch


@torch.no_grad()
def rollout(policy, value, env, n):
    obs = env.reset()
    policy.cuda(), value.cuda()
    store = []
    for _ in range(n):
        o = torch.as_tensor(obs, device="cuda")
        dist = torch.distributions.Categorical(logits=policy(o))  # TL111
        a = dist.sample()
        store.append((a.item(), dist.log_prob(a).item(), value(o).item()))  # TL101, TL111
        obs, r, done, _ = env.step(store[-1][0])
    return store
