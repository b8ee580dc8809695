"""The guide to writing a rule: its module is a rule, and works as the guide says."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from torchlint.rules.base import Rule
from torchlint.rules.registry import run
from torchlint.semantics.build import build_model
from torchlint.source.parse import parse
from torchlint.source.text import SourceFile

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "writing-a-rule.md").read_text(encoding="utf-8")

LINTED = textwrap.dedent("""
    import torch

    torch.manual_seed(0)


    def train(model, optimizer, batches):
        for step, x in enumerate(batches):
            torch.manual_seed(step)
            model(x).mean().backward()
            optimizer.step()
    """)


def test_the_module_of_the_guide_is_a_rule() -> None:
    module = re.search(r'```python title="torchlint/rules/(.+)\.py"\n(.*?)```', GUIDE, re.DOTALL)
    assert module is not None
    names: dict[str, object] = {"__name__": "torchlint.rules." + module[1].replace("/", ".")}
    exec(compile(module[2], module[1], "exec"), names)
    rules = [item for item in names.values() if isinstance(item, type) and issubclass(item, Rule) and item is not Rule]
    (rule,) = rules
    assert module[1] == f"{rule.bottleneck}/{rule.name.replace('-', '_')}"
    tree = parse(SourceFile.from_text(LINTED, "train.py"))
    ((found, report),) = run(build_model(tree.module), rules)
    assert (found, tree.locate([report.node])[report.node][0].row) == (rule, 9)
