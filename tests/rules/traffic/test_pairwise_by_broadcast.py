"""TL311: all pairs by broadcasting."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        import torch as th

        class M:
            def near(self, a, b):
                gap = a.unsqueeze(1) - b.unsqueeze(0)
                sq = gap**2
                return sq.sum(dim=-1).argmin(1)  # TL311

        def city(a, b):
            return (a[:, None, :] - b[None, :, :]).abs().sum(-1)  # TL311

        def lists(parts):
            return [th.norm(p[:, None] - p[None], dim=-1) for p in parts]  # TL311
        """,
        "TL311",
    )


def test_silent() -> None:
    check(
        """
        import numpy as np
        import torch

        def f(a, b, rows):
            gap = a[:, None] - b[None]
            force = (gap / gap.pow(2).sum(-1, keepdim=True)).sum(1)
            mean = (a[:, None] - b[None]).pow(2).mean(-1)
            return force, mean, (a - b).pow(2).sum(-1), (a[:, None] - b[:, None]).pow(2).sum(-1)

        def host(a: np.ndarray, b: np.ndarray):
            return ((a[:, None] - b[None]) ** 2).sum(-1)
        """,
        "TL311",
    )
