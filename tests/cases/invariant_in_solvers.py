"""Work that no round changes: in a helper, in a solver, in a filter of frames."""

import torch
import torch.nn.functional as F


@torch.no_grad()
def ista(A, y, lam, rounds=200):
    A, y = A.cuda(), y.cuda()
    x = torch.zeros(A.shape[1], device="cuda")
    L = torch.linalg.matrix_norm(A, 2) ** 2
    for _ in range(rounds):
        grad = A.t() @ A @ x - A.t() @ y  # TL202
        x = torch.sign(x - grad / L) * torch.relu((x - grad / L).abs() - lam / L)
    return x


class Tracker:
    def __init__(self, F_, H, Q, R):
        self.F, self.H, self.Q, self.R = (m.cuda() for m in (F_, H, Q, R))

    @torch.no_grad()
    def run(self, frames, x, P):
        for z in frames:
            Rinv = torch.linalg.inv(self.R)  # TL202
            x = self.F @ x
            P = self.F @ P @ self.F.T + self.Q
            S = torch.linalg.inv(self.H @ P @ self.H.T + self.R)
            K = P @ self.H.T @ S
            x = x + K @ (z - self.H @ x)
            P = P - K @ self.H @ P + 0 * Rinv.sum()
        return x


class Blur(torch.nn.Module):
    def __init__(self, k):
        super().__init__()
        self.register_buffer("k", k)

    def forward(self, frames):
        out = []
        for i in range(frames.size(1)):  # TL201
            k2 = torch.outer(self.k, self.k)  # TL202
            out.append(F.conv2d(frames[:, i], k2[None, None]))
        return torch.stack(out, 1)


class Solver(torch.nn.Module):
    def forward(self, A, b, n):
        x = torch.zeros_like(b)
        for _ in range(n):
            x = x + torch.linalg.solve(A, b - A @ x)  # TL111
        return x
