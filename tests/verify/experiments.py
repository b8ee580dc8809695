"""Experiments and plans made by hand, for the tests of --verify."""

from __future__ import annotations

from typing import Any

from torchlint.verify.inputs import sizes


def experiment(before: str, after: str | None = None, **changes: Any) -> dict[str, Any]:
    """An experiment above the template rung, whose entry is `flagged(x)`, x a small matrix."""
    x = {"name": "x", "kind": "tensor", "dtype": "float32", "shape": [4, 4], "origin": "the test"}
    return {
        "id": "one", "rung": "in place", "rule": "TL101", "label": "one", "before": before, "after": after or before,
        "inputs": None, "entry": "flagged", "arguments": [x], "globals": {},
        "sizes": sizes("small"), "dtype": "float32", "rows": None, "criterion": "time", "allow": [],
        "attributes": [], "stand_ins": [], "calls": 1, **changes,
    }  # fmt: skip


def plan(*experiments: dict[str, Any], **limits: float) -> dict[str, Any]:
    """A plan of experiments that no finding names."""
    limits = {"seconds": 60.0, "memory_bytes": 4 << 30, "pair_seconds": 0.2, "processes": 1, **limits}
    return {"version": 1, "torchlint": "0", "limits": limits, "experiments": list(experiments), "findings": []}
