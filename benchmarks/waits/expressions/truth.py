"""Truth values of device tensors, comparisons and membership (TL102)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import operator
x = torch.randn(64, 64, device="cuda")
y = torch.randn(64, 64, device="cuda")
v = torch.rand(8, device="cuda")
a = torch.rand((), device="cuda")
b = torch.rand((), device="cuda")
yes = torch.tensor(True, device="cuda")
no = torch.tensor(False, device="cuda")
flags = [torch.tensor(False, device="cuda") for _ in range(3)]
n = torch.tensor(64, device="cuda")
host_yes = torch.tensor(True)
"""

ROWS = (
    row("if yes: pass", "truth", x="device"),
    row("if a > 0.5: pass", "truth", x="device"),
    row("if a > b: pass", "truth", x="device"),
    row("if (x > 0).any(): pass", "truth", x="device"),
    row("if torch.isnan(x).any(): pass", "truth", x="device"),
    row("if not torch.isfinite(x).all(): pass", "truth", x="device"),
    row("if host_yes: pass", "truth", x="host"),
    row("while no: pass", "truth", x="device"),
    row("assert yes", "truth", x="device"),
    row("assert (v >= 0).all()", "truth", x="device"),
    row("not yes", "truth", x="device"),
    row("operator.not_(yes)", "operator.not_"),
    row("yes and no", "truth", x="device"),
    row("no or yes", "truth", x="device"),
    row("1 if yes else 0", "truth", x="device"),
    row("bool(yes)", "bool", x="device"),
    row("bool(host_yes)", "bool", x="host"),
    row("if (a > 0) & (b > 0): pass", "truth", x="device"),
    row("if a.item() > 0.5: pass", ".item"),
    row("bool((x > 3).all())", "bool", x="device"),
    row("0 < a < 1", "truth", x="device"),
    row("[e for e in v if e > 0.5]", "truth", x="device"),
    row("list(filter(None, flags))", "filter"),
    row("if n == 64: pass", "truth", x="device"),
    row("if n % 2 == 0: pass", "truth", x="device"),
    row("if x.shape[0] == n: pass", "truth", x="device"),
    row("if x.is_cuda and yes: pass", "truth", x="device"),
    # Membership
    row("0.5 in v", "in", container="device"),
    row("a in v", "in", container="device"),
    row("n in [1, 64]", "in", container="list", item="device"),
    row("n in (n, 3)", "in", container="list", item="the same object"),
    row("n in {1, 64}", "in", container="set", item="device"),
    row("n in {n: 1}", "in", container="set", item="device"),
    row("1 in [a, b]", "in", container="list of device scalars"),
    row("[1, 64].index(n)", "list.index"),
    row("[1, 64].count(n)", "list.count"),
    # Shapes compared with device scalars
    row("x.shape == (n, 64)"),
    row("list(x.shape) == [n, n]"),
    row("tuple(x.shape) == (n, 64)"),
    row("x.size() == torch.Size([64, 64])"),
    row("x.shape == (64, 64)"),
    # Library calls that return a truth value or raise
    row("torch.equal(x, y)", "torch.equal"),
    row("torch.equal(x, x.clone())", "torch.equal"),
    row("x.equal(y)", ".equal"),
    row("torch.allclose(x, y)", "torch.allclose"),
    row("x.allclose(y)", ".allclose"),
    row('torch._assert(yes, "")', "torch._assert"),
    row("torch._assert_async(yes)", "torch._assert_async"),
    row("torch.testing.assert_close(x, x.clone())", "torch.testing.assert_close"),
    # Silent: the truth stays on the device
    row("x == y"),
    row("a > b"),
    row("a != b"),
    row("yes == True"),
    row("yes is True"),
    row("n == 64"),
    row("x.shape[0] == n"),
    row("yes & no"),
    row("~yes"),
    row("yes | no"),
    row("torch.isnan(x).any()", ".any"),
    row("torch.isfinite(x).all()", ".all"),
    row("(x > 0).any()", ".any"),
    row("torch.any(x > 0)", "torch.any"),
    row("torch.all(x > 0)", "torch.all"),
    row("torch.isnan(x)", "torch.isnan"),
    row("x.isnan()", ".isnan"),
    row("torch.isfinite(x)", "torch.isfinite"),
    row("torch.isinf(x)", "torch.isinf"),
    row("torch.logical_and(yes, no)", "torch.logical_and"),
    row("torch.logical_not(yes)", "torch.logical_not"),
    row("torch.where(yes, a, b)", "torch.where", input="given", other="device"),
    row("if x is None: pass"),
    row("if x.numel() == 0: pass"),
    row("if x.shape[0] > 0: pass"),
    row("if len(x): pass"),
    row("if x.requires_grad: pass"),
    row("if x.dtype == torch.float32: pass"),
)
