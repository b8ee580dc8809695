"""Linting a piece of source in a test."""

from __future__ import annotations

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from torchlint.rules.registry import all_rules, run
from torchlint.semantics.build import build_model


def lint(source: str, *codes: str) -> set[tuple[int, str]]:
    """The rows, from 1, and codes of what the rules `codes` find in `source`."""
    wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    rules = [rule for rule in all_rules() if rule.code in codes]
    assert len(rules) == len(codes), "an unknown code"
    return {(positions[report.node].start.line, rule.code) for rule, report in run(build_model(wrapper.module), rules)}
