"""A factorisation that is tried again with more jitter."""

import torch


def safe_cholesky(a, tries=3):
    for i in range(tries):
        try:
            return torch.linalg.cholesky(a + 10 ** (i - 6) * torch.eye(a.size(-1), device=a.device))  # TL111
        except torch.linalg.LinAlgError:
            continue
    raise RuntimeError("not positive")


def fit(kernel, x, y, opt):
    x, y = x.cuda(), y.cuda()
    for _ in range(1000):
        opt.zero_grad()
        L = safe_cholesky(kernel(x))
        loss = torch.cholesky_solve(y[:, None], L).sum() + 2 * L.diagonal().log().sum()
        loss.backward()
        opt.step()
