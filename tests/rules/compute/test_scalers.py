"""TL403, TL404: scalers that are not needed, and gradients that are still scaled."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

STEP = """
import torch
from torch.nn.utils import clip_grad_norm_ as limit

def run(net, opt, feed, args, kind):
    low = torch.{dtype}
    grower = torch.amp.GradScaler({options})  {mark}
    for x in feed:
        with torch.autocast("cuda", dtype={given}):
            loss = net(x).mean()
        grower.scale(loss).backward()
        grower.step(opt)
        grower.update()
"""


@pytest.mark.parametrize(
    ("dtype", "given", "options", "mark"),
    [
        ("bfloat16", "torch.bfloat16", "", "# TL403"),
        ("bfloat16", "low", '"cuda", enabled=True', "# TL403"),
        ("float16", "low", "", ""),
        ("bfloat16", "kind", "", ""),
        ("bfloat16", "low", "enabled=args.half", ""),
        ("bfloat16", "low", "enabled=False", ""),
        ("bfloat16", "low", "**args", ""),
    ],
)
def test_a_scaler_beside_autocast(dtype: str, given: str, options: str, mark: str) -> None:
    check(STEP.format(dtype=dtype, given=given, options=options, mark=mark), "TL403")


def test_evaluation_in_bfloat16_needs_no_scaler_and_has_none() -> None:
    check(
        """
import torch

def run(net, opt, feed, x):
    grower = torch.amp.GradScaler("cuda")
    for x in feed:
        with torch.autocast("cuda"):
            loss = net(x).mean()
        grower.scale(loss).backward()
        grower.step(opt)
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        return net(x)
""",
        "TL403",
    )


CLIP = """
import torch
from torch.nn.utils import clip_grad_norm_ as limit

class Recipe:
    def __init__(self, net, opt):
        self.net, self.opt = net, opt
        self.grower = torch.amp.GradScaler("cuda")
    def back(self, loss):
        self.grower.scale(loss).backward()
    def ready(self):
        self.grower.unscale_(self.opt)
    def bound(self):
        limit(self.net.parameters(), 1.0)  {mark}
    def step(self, loss):
        {body}
        self.grower.step(self.opt)
        self.grower.update()
"""


@pytest.mark.parametrize(
    ("body", "mark"),
    [
        ("self.back(loss); self.bound()", "# TL404"),
        ("self.grower.scale(loss).backward(); self.bound()", "# TL404"),
        ("self.back(loss); self.ready(); self.bound()", ""),
        ("self.back(loss); self.grower.unscale_(self.opt); self.bound()", ""),
        ("loss.backward(); self.bound()", ""),
    ],
)
def test_clipping_in_helpers(body: str, mark: str) -> None:
    check(CLIP.format(body=body, mark=mark), "TL404")


def test_clipping_in_the_loop_and_on_the_other_branch() -> None:
    check(
        """
import torch

def run(net, opt, feed, mixed):
    grower = torch.amp.GradScaler("cuda")
    for x in feed:
        if mixed:
            grower.scale(net(x).mean()).backward()
            torch.nn.utils.clip_grad_value_(net.parameters(), 1.0)  # TL404
            grower.step(opt)
            grower.update()
        else:
            net(x).mean().backward()
            torch.nn.utils.clip_grad_value_(net.parameters(), 1.0)
            opt.step()
""",
        "TL404",
    )


def test_a_branch_for_runs_without_a_scaler() -> None:
    check(
        """
import torch

def back(loss, grower):
    if grower is not None:
        grower.scale(loss).backward()
    else:
        loss.backward()

def run(net, opt, feed, mixed):
    grower = torch.amp.GradScaler() if mixed else None
    for x in feed:
        back(net(x).mean(), grower)
        if grower is None:
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if grower is not None:
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # TL404
            grower.step(opt)
            grower.update()
        else:
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
""",
        "TL404",
    )


def test_another_sort_of_scaler() -> None:
    check(
        """
import torch
from sklearn.preprocessing import StandardScaler

def run(net, opt, rows, feed):
    grower = StandardScaler()
    rows = grower.fit_transform(rows)
    for x in feed:
        net(x).mean().backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
""",
        "TL404",
    )
