"""TL205: foreach switched off."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires_where_foreach_is_off() -> None:
    check(
        """
        import functools
        from torch import optim

        OPTIONS = dict(lr=0.1, foreach=False)
        make = functools.partial(optim.SGD, foreach=False)  # TL205

        class Trainer:
            def __init__(self, net):
                self.opt = optim.RMSprop(net.parameters(), **OPTIONS)  # TL205
                self.all = [optim.Adam(p, foreach=False) for p in net]  # TL205
        """,
        "TL205",
    )


def test_silent_where_it_is_not_known_or_does_not_matter() -> None:
    check(
        """
        import torch
        from somewhere import AdamW

        def make(params, options, fast):
            torch.optim.AdamW(params, foreach=False, fused=True)
            torch.optim.AdamW(params, foreach=False, fused=fast)
            torch.optim.AdamW(params, foreach=False, **options)
            torch.optim.LBFGS(params)
            return AdamW(params, foreach=False), torch.optim.SGD(params, foreach=fast)
        """,
        "TL205",
    )


def test_unfused_on_a_device_is_only_possible() -> None:
    check(
        """
        import torch
        from torch import nn

        net = nn.Linear(8, 8).cuda()
        opt = torch.optim.AdamW(net.parameters())  # TL205
        """,
        "TL205",
        possible=True,
    )
