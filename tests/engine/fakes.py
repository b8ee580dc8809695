"""A rule for tests of the engine: it reports each call of `slow`, and repairs it in the way that a test asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import libcst as cst

from torchlint.engine import selection
from torchlint.engine.settings import Settings
from torchlint.findings import Confidence
from torchlint.rules.base import NodeFix, Report, Rule

CODE = "TL101"

Repair = Callable[[cst.CSTNode, cst.CSTNode], NodeFix | None]  # (call, statement) -> fix


def fake_rule(
    repair: Repair = lambda _call, _statement: None,
    *,
    code: str = CODE,
    name: str = "slow",
    confidence: Confidence = Confidence.SURE,
    whole_statement: bool = False,
    failing: bool = False,
) -> type[Rule]:
    """A rule that reports calls of the function `name`, or the statements around them."""

    class Fake(Rule):
        words = (name,)

        def on_module(self, model: Any) -> Iterator[Report]:
            if failing:
                raise ZeroDivisionError("by design")
            for statement, call in _calls(model.module, name):
                node = statement if whole_statement else call
                yield Report(node, f"{name} is slow", "do without", confidence, fix=repair(call, statement))

    Fake.code, Fake.name, Fake.bottleneck, Fake.summary = code, f"fake-{code.lower()}", "sync", "fake"
    return Fake


def _calls(module: cst.Module, name: str) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    """Each call of `name` with the statement around it, in the order of the text."""
    found: list[tuple[cst.CSTNode, cst.CSTNode]] = []

    class Visitor(cst.CSTVisitor):
        def __init__(self) -> None:
            super().__init__()
            self.statements: list[cst.CSTNode] = []

        def on_visit(self, node: cst.CSTNode) -> bool:
            if isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                self.statements.append(node)
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == name:
                found.append((self.statements[-1], node))
            return True

        def on_leave(self, original_node: cst.CSTNode) -> None:
            if self.statements and self.statements[-1] is original_node:
                self.statements.pop()

    module.visit(Visitor())
    return found


def use_rules(monkeypatch: Any, *rules: type[Rule]) -> None:
    """Let these be all the rules that lint, within this process. The catalogue of names stays the real one."""
    selection.expand("ALL")  # it is made once and kept: not of fakes
    monkeypatch.setattr("torchlint.rules.registry.all_rules", lambda: rules)


def settings(root: Path = Path(), **changes: Any) -> Settings:
    """Settings with the fake rule and the engine's own on."""
    values = {
        "rules": frozenset({CODE, "TL001", "TL002", "TL003"}),
        "fixable": frozenset({CODE, "TL001"}),
        "jobs": 1,
    }
    return Settings(root=root, **{**values, **changes})
