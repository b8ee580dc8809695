"""TL101: which reads of numbers are reported, and which are not."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports
from torchlint.findings import Confidence, Impact

LOOP = """
import math
import torch
from torch.nn import functional as F

def run(net, feed, opt):
    kept = []
    for k, (a, b) in enumerate(feed):
        q = F.mse_loss(net(a), b)
        opt.zero_grad()
        q.backward()
        opt.step()
        {line}
    return kept
"""


@pytest.mark.parametrize(
    "line",
    [
        "kept.append(q.item())",
        "kept.append(float(q))",
        "kept.append(int(q))",
        "kept.append(math.sqrt(q))",
        "kept.append(q.detach().mean().item())",
        "kept.append(b.sum().item())",
        "kept.append(float(next(net.parameters()).grad.norm()))",
        "value = q; kept.append(value.item())",
        "kept += [v.item() for v in (q, q * 2)]",
        "kept.append(q.cpu().item() + q.item())",
        "kept.append(dict(q=q.item()))",
        "(kept if k else kept).append(q.item())",
    ],
)
def test_reads_in_a_training_loop(line: str) -> None:
    check(LOOP.format(line=f"{line}  # TL101"), "TL101")


@pytest.mark.parametrize(
    "line",
    [
        "kept.append(q.detach())",
        "kept.append(q.cpu().item())",
        "kept.append(int(a.shape[0]) + len(b) + b.numel() + int(b.dim()))",
        "kept.append(torch.tensor([1.0, 2.0]).sum().item())",
        "kept.append(float('nan'))",
        "kept.append({'x': 1}.items())",
        "kept.append(q.item()) if k % 100 == 0 else None",
        "kept += [q.item()] if k == 0 else []",
    ],
)
def test_numbers_of_the_host_and_rare_reads(line: str) -> None:
    check(LOOP.format(line=line), "TL101")


@pytest.mark.parametrize("test", ["k % 50 == 0", "not k % 50", "k == 0", "self_debug", "verbose"])
def test_gates(test: str) -> None:
    check(LOOP.format(line=f"if {test}: kept.append(q.item())"), "TL101")


@pytest.mark.parametrize("test", ["k % 50", "rank == 0", "q is not None", "k > 0"])
def test_what_is_no_gate(test: str) -> None:
    check(LOOP.format(line=f"if {test}: kept.append(q.item())  # TL101"), "TL101")


def test_gates_by_what_the_command_line_says() -> None:
    check(
        """
        import argparse
        import torch

        def run(args, net, feed, opt):
            for k, a in enumerate(feed):
                q = net(a).mean()
                q.backward()
                opt.step()
                if k % args.every == 0:
                    print(q.item())

        def main(net, feed, opt):
            parser = argparse.ArgumentParser()
            parser.add_argument("--every", type=int, default=10)
            run(parser.parse_args(), net.cuda(), feed, opt)
        """,
        "TL101",
    )


def test_what_only_another_backend_runs_waits_for_none_here() -> None:
    check(
        """
        from torch import nn

        class Head(nn.Module):
            def forward(self, x):
                if x.device.type == "mps":
                    return x.mean().item()
                if x.device.type != "npu":
                    return x.max().item()  # TL101
                return x.min().item()
        """,
        "TL101",
    )


def test_a_number_is_no_tensor_because_it_is_asked_whether_it_is() -> None:
    check(
        """
        import torch
        from torch import nn

        def pad(size: int):
            if isinstance(size, torch.Tensor):
                return size.item() // 2
            return size // 2

        class Up(nn.Module):
            def forward(self, x, scale):
                factor = 1.0 + 1.0 * (x.size(2) > 1) + pad(x.size(3))
                if isinstance(factor, torch.Tensor):
                    factor = factor.item()
                if isinstance(scale, torch.Tensor):
                    scale = scale.item()  # TL101
                return x * factor * scale
        """,
        "TL101",
    )


def test_in_a_helper_and_a_method() -> None:
    check(
        """
        import torch
        from torch import nn

        def as_number(v):
            return v.item()  # TL101

        class Runner:
            def __init__(self, net, opt):
                self.net, self.opt = net.cuda(), opt

            def one(self, a):
                q = self.net(a).mean()
                q.backward()
                self.opt.step()
                self.opt.zero_grad()
                return float(q)  # TL101

            def all(self, feed):
                return [self.one(a) + as_number(a.sum()) for a in feed]
        """,
        "TL101",
    )


def test_aliases() -> None:
    check(
        """
        import torch as th
        import torch.nn as nn
        from math import sqrt as root

        class Gate(nn.Module):
            def forward(self, x):
                read = x.abs().max().item  # bound, not called
                return x * root(x.detach().square().sum())  # TL101
        """,
        "TL101",
    )


def test_names_say_nothing() -> None:
    check(
        """
        import numpy as np
        import pandas as pd
        import torch

        def train(model, batches, optimizer, loss: np.ndarray, frame: pd.DataFrame, tensor: dict):
            for batch in batches:
                out = model(batch).mean()
                out.backward()
                optimizer.step()
                optimizer.zero_grad()
                total = loss.sum().item() + float(loss[0]) + sum(v for _, v in tensor.items())
                best = frame["a"].max().item()
        """,
        "TL101",
    )


def test_unknown_receivers_are_possible_at_most() -> None:
    source = """
        import numpy as np
        import torch

        def train(model, batches, optimizer, stats):
            for batch in batches:
                model(batch).mean().backward()
                optimizer.step()
                optimizer.zero_grad()
                print(stats.read().item())  # TL101
        """
    check(source, "TL101", possible=True)


def test_a_function_that_nothing_calls_is_possible() -> None:
    source = """
        import torch

        def hits(scores, truth):
            return scores.argmax(-1).eq(truth).float().mean().item()  # TL101
        """
    check(source, "TL101", possible=True)


@pytest.mark.parametrize(
    "source",
    [
        """
        import torch
        def play(policy, world, steps):
            seen = world.reset()
            for _ in range(steps):
                move = policy(torch.as_tensor(seen).cuda()).argmax()
                seen, reward, done, _ = world.step(move.item())
        """,
        """
        import torch
        class Agent:
            def choose(self, seen):
                return self.policy(seen.cuda()).argmax().item()
            def play(self, world, steps):
                seen = world.reset()
                for _ in range(steps):
                    self.policy(seen)
                    seen, gain, *rest = world.step(self.choose(seen))
        """,
        """
        import torch
        @torch.no_grad()
        def talk(net, ids, end):
            for _ in range(100):
                nxt = net(ids.cuda())[:, -1].argmax(-1)
                ids = torch.cat([ids, nxt[None]], 1)
                if nxt.item() == end:
                    break
            return ids
        """,
        """
        import torch
        @torch.no_grad()
        def talk(net, ids, words):
            for _ in range(100):
                nxt = net(ids.cuda())[:, -1].argmax(-1)
                ids = torch.cat([ids, nxt[None]], 1)
                print(words.decode([nxt.item()]))
        """,
    ],
    ids=["simulator", "simulator through a method", "the end of decoding", "tokenizer"],
)
def test_inherent_reads(source: str) -> None:
    check(source, "TL101")


def test_a_scheduler_is_no_simulator() -> None:
    check(LOOP.format(line="sched.step(q.item())  # TL101"), "TL101")


def test_loggers_that_read() -> None:
    check(
        """
        import torch
        import wandb
        from torch.utils.tensorboard import SummaryWriter

        def run(net, feed, opt):
            board = SummaryWriter()
            for k, a in enumerate(feed):
                q = net(a.cuda()).mean()
                q.backward()
                opt.step()
                opt.zero_grad()
                board.add_scalar("q", q, k)  # TL101
                board.add_scalar("lr", 0.1, k)
                wandb.log({"q": q, "k": k})  # TL101
                wandb.log({"k": k})
        """,
        "TL101",
    )


def test_impact_follows_the_rate() -> None:
    source = """
        import torch

        def run(net, feed, opt):
            for a in feed:
                q = net(a.cuda()).mean()
                q.backward()
                opt.step()
                opt.zero_grad()
                once = q.item()
                each = [p.grad.norm().item() for p in net.parameters()]
        """
    once, each = (report for _, report in reports(source, "TL101"))
    assert (once.impact, each.impact) == (Impact.LOW, Impact.HIGH)
    assert once.confidence >= Confidence.LIKELY
    assert "`q.item()`" in once.message
    assert "every step" in once.message
    assert "every parameter" in each.message
    assert any("backward" in why for why, _ in once.related)


@pytest.mark.parametrize(
    "line",
    [
        "d[0] = d",
        "d['a'] = {'b': [d]}; d['c'] = [d['a']]",
        "d.update({k: range(1, 2, 3, 4, 5)})",
        "d[k] = range(0, 5, 0)",
        "d[k] = range(0, 10000000000000000000000000000, 1)",
    ],
)
def test_what_python_refuses_or_ties_into_a_knot_hides_nothing(line: str) -> None:
    check(
        f"""
        import torch

        def run(net, feed, opt):
            d = {{}}
            for k, a in enumerate(feed):
                e = d
                {line}
                d = e or {{0: d}}
                q = net(a.cuda()).mean()
                q.backward()
                opt.step()
                opt.zero_grad()
                print(q.item())  # TL101
        """,
        "TL101",
    )
