"""Python's built-in functions, iteration and containers over device tensors (TL107, TL201, TL204)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import copy
import functools
import itertools
import math
import statistics
x = torch.randn(8, 8, device="cuda")
v = torch.rand(8, device="cuda")
a = torch.rand((), device="cuda")
b = torch.rand((), device="cuda")
c = torch.rand((), device="cuda")
yes = torch.tensor(True, device="cuda")
no = torch.tensor(False, device="cuda")
count = torch.tensor(3, device="cuda")
pair = torch.rand(2, device="cuda")
weights = {"a": a, "b": b}
"""

ROWS = (
    row("max(v)", "max", iterable="device"),
    row("min(v)", "min", iterable="device"),
    row("max(a, b)", "max", iterable="device scalars"),
    row("min(a, b)", "min", iterable="device scalars"),
    row("max([a, b, c])", "max", iterable="device scalars"),
    row("max(a, 0.0)", "max", iterable="device scalars"),
    row("min(count, 5)", "min", iterable="device scalars"),
    row("max(weights.values())", "max", iterable="device scalars"),
    row("max([a, b], key=lambda e: e)", "max", iterable="device scalars"),
    row("max([a])", "max", iterable="one device scalar"),
    row("max(1, 2)", "max", iterable="numbers"),
    row("max(len(v), v.shape[0])", "max", iterable="numbers"),
    row("min(1, 2)", "min", iterable="numbers"),
    row("any([True, False])", "any", iterable="numbers"),
    row("all([True, False])", "all", iterable="numbers"),
    row("sorted([2, 1])", "sorted", iterable="numbers"),
    row("sum([1, 2])", "sum", iterable="numbers"),
    row("sorted(v)", "sorted", iterable="device"),
    row("sorted([a, b, c])", "sorted", iterable="device scalars"),
    row("[a, b, c].sort()", "list.sort"),
    row("any(v > 0.5)", "any", iterable="device"),
    row("all(v > 0.5)", "all", iterable="device"),
    row("any([no, yes])", "any", iterable="device scalars"),
    row("all([yes, yes])", "all", iterable="device scalars"),
    row("any(e > 0.5 for e in v)", "any", iterable="device scalars"),
    row("all(e > 0.5 for e in v)", "all", iterable="device scalars"),
    row("sum(v)", "sum", iterable="device"),
    row("sum([a, b, c])", "sum", iterable="device scalars"),
    row("sum(e for e in v)", "sum", iterable="device scalars"),
    row("sum(weights.values())", "sum", iterable="device scalars"),
    row("sum([a, b, c]) / 3", "sum", iterable="device scalars"),
    row("math.prod([a, b, c])", "math.prod"),
    row("math.fsum([a, b, c])", "math.fsum"),
    row("statistics.mean([a.item(), b.item()])", ".item"),
    row("functools.reduce(torch.add, [a, b, c])", "functools.reduce"),
    row("functools.reduce(lambda p, q: p + q, v)", "functools.reduce"),
    row("list(v)", "list"),
    row("tuple(v)", "tuple"),
    row("list(x)", "list"),
    row("set(v)", "set"),
    row("dict(enumerate(v))", "enumerate"),
    row("iter(v)", "iter"),
    row("next(iter(v))", "next"),
    row("p, q = pair", "iteration"),
    row("first, *rest = v", "iteration"),
    row("[*v]", "iteration"),
    row("for e in v: pass", "iteration"),
    row("for r in x: r.sum()", "iteration"),
    row("[e for e in v]", "iteration"),
    row("[e * 2 for e in v]", "iteration"),
    row("for i, e in enumerate(v): pass", "enumerate"),
    row("for e, f in zip(v, v): pass", "zip"),
    row("list(reversed(v))", "reversed"),
    row("list(map(torch.sqrt, v))", "map", func="device"),
    row("list(map(float, v))", "map", func="float"),
    row("[float(e) for e in v]", "float", x="device"),
    row("[e.item() for e in v]", ".item"),
    row("list(itertools.accumulate(v))", "itertools.accumulate"),
    row("range(count)", "range", stop="device"),
    row("for _ in range(count): pass", "range", stop="device"),
    row("range(0, count)", "range", stop="device"),
    row("range(v.shape[0])", "range", stop="number"),
    row("round(a)", raises=True),
    row("round(float(a), 2)", "float", x="device"),
    row("[0] * int(count)", "int", x="device"),
    row("copy.deepcopy(x)", "copy.deepcopy"),
    row("copy.copy(x)", "copy.copy"),
    row("v.unbind()", ".unbind"),
    row('weights["a"] += b'),
    row("a += b"),
)
