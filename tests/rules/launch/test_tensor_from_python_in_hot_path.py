"""TL207: Python data copied to the device on every step, and data that can come from nowhere else."""

from __future__ import annotations

import textwrap

import pytest

from tests.rules.helpers import check

HEAD = """
import torch
from torch import nn

def run(net, feed, opt, device):
    for u in feed:
        z = net(u.cuda())
        opt.zero_grad()
        work(z).backward()
        opt.step()
"""
FIRES = {
    "a number to compute with": """
        def work(a):
            scale = torch.tensor(0.5, device=a.device)  # TL207
            return (a * scale).sum()
        """,
    "moved afterwards": """
        def work(a):
            return (a * torch.tensor([0.1, 0.9]).cuda()).sum()  # TL207
        """,
    "new_tensor of what the constructor got": """
        class M(nn.Module):
            def __init__(self, means: list):
                super().__init__()
                self.means = means

            def forward(self, a):
                return a - a.new_tensor(self.means)  # TL207

        m = M([1.0, 2.0])

        def work(a):
            return m(a).sum()
        """,
    "in a helper, a constant of the module": """
        WEIGHTS = [0.2, 0.3, 0.5]

        def weights(where):
            return torch.as_tensor(WEIGHTS, device=where)  # TL207

        def work(a):
            return (a * weights(a.device)).sum()
        """,
    "a list that stands in a signature or a constructor, under a name that the tensor takes over": """
        def towards(a, up=[0.0, 1.0, 0.0], eye=None):
            up = torch.tensor(up, device=a.device)  # TL207
            eye = torch.tensor(list(eye), device=a.device)  # TL207
            return a @ (eye - up)

        class Camera(nn.Module):
            def __init__(self, far):
                super().__init__()
                self.eye = [0.0, 0.0, -far]

            def forward(self, a):
                return towards(a, eye=self.eye)

        camera = Camera(2.0)

        def work(a):
            return camera(a).sum()
        """,
    "one number, as often as there are samples": """
        def work(a, start=1):
            first = torch.LongTensor([[start for _ in range(a.size(0))]])
            first = first.to(a.device)  # TL207
            return (a * first).sum()
        """,
    "in a comprehension": """
        def work(a):
            return sum((a * torch.tensor(0.5, device=a.device)).sum() for _ in range(9))  # TL207
        """,
}
SILENT = {
    "factories": """
        def work(a):
            return (a + torch.zeros(3, device=a.device) + torch.full((3,), 2.0, device=a.device)).sum()
        """,
    "on the host": """
        def work(a):
            return a.sum() + torch.tensor(0.5) * torch.tensor([1.0]).sum()
        """,
    "a list that changes from step to step": """
        class Window(nn.Module):
            def __init__(self):
                super().__init__()
                self.last = [0.0, 0.0]

            def forward(self, a, new):
                self.last[0] = new
                return a * torch.tensor(self.last, device=a.device)
        """,
    "a tensor already": """
        def work(a):
            return torch.as_tensor(a, device=a.device).sum()
        """,
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(HEAD + textwrap.dedent(source), "TL207")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str) -> None:
    check(HEAD + textwrap.dedent(source), "TL207")


def test_data_that_is_new_on_every_step() -> None:
    check(
        """
        import torch

        def play(env, net, opt):
            seen = env.reset()
            shift = torch.tensor([0.5], device="cuda")
            for _ in range(1000):
                value = net(torch.tensor(seen, device="cuda") + shift)
                seen = env.step(value.argmax())
                value.sum().backward()
                opt.step()
        """,
        "TL207",
    )
