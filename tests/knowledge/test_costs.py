"""What was measured for the rules: pages, levels and impact agree with the result files."""

from __future__ import annotations

import json

from benchmarks import rule_costs_to_pages as generator
from tests.rules.helpers import reports
from torchlint.findings import Impact
from torchlint.rules import pages


def test_levels_and_pages_show_what_was_measured() -> None:
    costs = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(generator.COSTS.glob("*.json"))]
    assert generator.LEVELS.read_text(encoding="utf-8") == generator.levels(costs)
    for code in pages.codes():
        assert generator.table(code, costs) in pages.load(code).text, code


def test_impact_is_how_often_times_what_was_measured() -> None:
    source = """
        import torch
        from torch import nn

        class Block(nn.Module):
            def forward(self, q, k, v):
                scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
                return torch.softmax(scores, dim=-1) @ v

        def train(net, loader, opt, state):
            for x, y in loader:
                loss = net(x.cuda()).mean()
                loss.backward()
                opt.step()
                opt.zero_grad()
                print(loss.item())
                for p in net.parameters():
                    print(p.grad.norm().item())
        """
    (_, attention) = reports(source, "TL302")[0]
    once, each = (report for _, report in reports(source, "TL101"))
    assert (attention.impact, once.impact, each.impact) == (Impact.HIGH, Impact.LOW, Impact.HIGH)
