"""Cutting flagged code out: what is kept, what is left out, and that rows stay what they were."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlint.findings import Edit, Finding
from torchlint.verify import extract

TEXT = '''\
"""A training script."""
import json
import os

import torch
from torch import nn

LIMIT = 3
PATHS = os.listdir(".")


def unused(x: "Foo") -> "Bar":
    return x


def helper(x: Loss) -> Tensor:
    return x * LIMIT


class Net(nn.Module):
    def forward(self, x):
        return helper(x)


def train(model: Net, loader: Loader, log_every: int = 10) -> float:
    total = 0.0
    for step, batch in enumerate(loader):
        loss = helper(model(batch)).mean()
        total += loss.item()
    print(json.dumps(total))
    return total
'''


@pytest.fixture
def cut(make_finding: Callable[..., Finding]) -> Callable[..., list[extract.Piece]]:
    def make(
        text: str, piece: str, replacement: str, whole_loops: bool = True, blocks: bool = False
    ) -> list[extract.Piece]:
        finding = make_finding(text, piece, replacement)
        assert finding.fix is not None
        lines = text.split("\n")
        after = extract.repaired(lines, finding.fix.edits)
        return list(extract.pieces(finding, lines, after, finding.fix.edits, whole_loops, blocks))

    return make


def test_a_function_comes_with_what_it_needs_and_nothing_else(cut: Callable[..., list[extract.Piece]]) -> None:
    whole = cut(TEXT, "loss.item()", "loss.detach()")[0]
    assert whole.rung == "in place"
    assert whole.before.entry == "train"
    kept = whole.before.source
    assert "def helper(x" in kept
    assert "LIMIT = 3" in kept
    assert "import json" in kept
    assert "class Net" in kept  # an object of it is what is passed
    for left_out in ("import os", "unused", "Loss", "Tensor", "Loader", "float"):
        assert left_out not in kept
    assert "loss.detach()" in whole.after.source


def test_rows_stay_what_they_were(cut: Callable[..., list[extract.Piece]]) -> None:
    row = TEXT[: TEXT.index("total += loss.item()")].count("\n")
    for piece in cut(TEXT, "loss.item()", "loss.detach()"):
        assert "loss.item()" in piece.before.source.split("\n")[row]
        assert "loss.detach()" in piece.after.source.split("\n")[row]


def test_what_a_file_reads_when_it_runs_is_not_taken_along(cut: Callable[..., list[extract.Piece]]) -> None:
    text = TEXT.replace("return x * LIMIT", "return x * len(PATHS)")
    whole = cut(text, "loss.item()", "loss.detach()")[0]
    assert "listdir" not in whole.before.source
    assert whole.before.free == ("PATHS",)


def test_a_loop_becomes_a_function_of_what_it_reads(cut: Callable[..., list[extract.Piece]]) -> None:
    loop = cut(TEXT, "loss.item()", "loss.detach()")[1]
    assert loop.rung == "extracted"
    assert loop.what == "lines 27 to 29 of train"
    assert [argument.arg for argument in loop.before.function.args.args] == ["loader", "model", "total"]
    assert "json" not in loop.before.source
    names = {"torch": None}
    exec(
        compile(loop.before.source.replace("import torch", "").replace("from torch import nn", ""), "a", "exec"), names
    )


def test_a_method_is_cut_with_its_class(cut: Callable[..., list[extract.Piece]]) -> None:
    whole = cut(TEXT, "return helper(x)", "return helper(x) + 0", whole_loops=False)[0]
    assert whole.before.entry == "Net.forward"
    assert whole.before.owner is not None
    assert "def train" not in whole.before.source


def test_code_of_a_module_is_extracted(cut: Callable[..., list[extract.Piece]]) -> None:
    text = "import torch\n\ntotal = 0\n\nfor x in batches:\n    total += x.item()\n\nprint(total)\n"
    (piece,) = cut(text, "x.item()", "x.detach()")
    assert piece.rung == "extracted"
    assert [argument.arg for argument in piece.before.function.args.args] == ["batches"]


def test_a_repair_that_adds_statements_around_the_loop_is_cut_with_them(
    cut: Callable[..., list[extract.Piece]], make_finding: Callable[..., Finding]
) -> None:
    old = "    out = None\n    for x in xs:\n        out = x if out is None else torch.cat([out, x])\n"
    text = f"import torch\n\n\ndef f(xs):\n{old}    return out\n"
    new = "    parts = []\n    for x in xs:\n        parts.append(x)\n    out = torch.cat(parts)\n"
    whole = cut(text, old, new)[0]
    assert "torch.cat(parts)" in whole.after.source


def test_statements_alone_show_nothing_of_a_cost_between_them(cut: Callable[..., list[extract.Piece]]) -> None:
    text = "import torch\n\n\ndef f(x):\n    y = x + 1\n    return y.item()\n"
    assert [piece.rung for piece in cut(text, "y.item()", "y.detach()", whole_loops=True)] == ["in place"]


def test_a_file_that_does_not_parse_after_its_repair_is_left_alone(cut: Callable[..., list[extract.Piece]]) -> None:
    with pytest.raises(extract.Uncut, match="does not parse"):
        cut(TEXT, "loss.item()", "loss.item((")


def test_edits_count_code_points(make_finding: Callable[..., Finding]) -> None:
    text = "π = 'ß'; x = a.item()\n"
    finding = make_finding(text, "a.item()", "a")
    assert finding.fix is not None
    assert extract.repaired(text.split("\n"), finding.fix.edits).startswith("π = 'ß'; x = a\n")


def test_the_rows_of_a_head_are_not_those_of_its_body() -> None:
    lines = ["if (", "    x", "):", "    y = 1", "    z = 2"]
    assert extract.statement_rows(lines, 2) == (1, 3)
    assert extract.statement_rows(lines, 4) == (4, 4)


CALLED = """\
import torch


class Meter:
    def __init__(self):
        self.total = torch.zeros(())

    def push(self, value):
        self.total = self.total + value

    def save(self, path):
        torch.save(self.total, path)


def epoch(model, loader):
    meter = Meter()
    for x in loader:
        meter.push(model(x).mean())
    return meter.total
"""


def test_a_cost_between_statements_is_measured_where_the_loop_is(cut: Callable[..., list[extract.Piece]]) -> None:
    entries = [piece.before.entry for piece in cut(CALLED, "self.total + value", "self.total + value.detach()")]
    assert entries == ["epoch", "Meter.push"]


def test_a_block_is_measured_without_its_object_where_it_shows_the_cost(
    cut: Callable[..., list[extract.Piece]],
) -> None:
    text = CALLED.replace(
        "        self.total = self.total + value\n",
        '''\
        """Add it up."""
        if self.on:
            kept = value * 2
            self.total = self.total + kept.item()
''',
    )
    pieces = cut(text, "kept.item()", "kept.detach()", blocks=True)
    *_, method, branch = (piece for piece in pieces if "needs of" not in piece.what)
    assert (method.before.entry, branch.before.entry, branch.around) == ("flagged", "flagged", "Meter.push")
    assert [argument.arg for argument in method.before.function.args.args] == ["self", "value"]
    assert "if self.on" in method.before.source
    assert "if self.on" not in branch.before.source
    assert [argument.arg for argument in branch.before.function.args.args] == ["value", "self"]


def test_a_constructor_is_measured_by_what_uses_the_object(cut: Callable[..., list[extract.Piece]]) -> None:
    pieces = cut(CALLED, "torch.zeros(())", "torch.zeros(1)", whole_loops=False)
    assert [piece.before.entry for piece in pieces] == ["epoch"]


def test_methods_that_nothing_reaches_are_left_out(cut: Callable[..., list[extract.Piece]]) -> None:
    assert "torch.save" not in cut(CALLED, "self.total + value", "self.total + value.detach()")[0].before.source


def test_a_class_of_which_nothing_is_reached_keeps_a_body(cut: Callable[..., list[extract.Piece]]) -> None:
    mark = "class Mark:\n    def save(self, path):\n        torch.save(self, path)\n\n\n"
    text = CALLED.replace("def epoch", f"{mark}def epoch").replace("meter = Meter()", "meter = Meter() or Mark()")
    piece = cut(text, "self.total + value", "self.total + value.detach()")[0]
    assert "class Mark:\n    pass" in piece.before.source


def test_a_flag_of_a_module_is_measured_in_what_runs_under_it(cut: Callable[..., list[extract.Piece]]) -> None:
    text = f"import torch\n\ntorch.backends.cudnn.benchmark = True\n\n\n{CALLED[len('import torch') :].lstrip()}"
    piece = cut(text, "benchmark = True", "benchmark = False")[0]
    assert piece.before.entry == "epoch"
    assert "benchmark = True" in piece.before.source
    assert "benchmark = False" in piece.after.source


def test_names_of_the_function_around_are_its_own_whatever_python_calls_so(
    cut: Callable[..., list[extract.Piece]],
) -> None:
    text = "def train(input, steps):\n    for _ in steps:\n        input = input + 1\n        input.sum().item()\n"
    *_, region = cut(text, "input.sum().item()", "input.sum()")
    assert [argument.arg for argument in region.before.function.args.args] == ["steps", "input"]


THINNED = """\
import torch


class Probe:
    def report(self, batch, writer):
        hidden = self.encode(batch)
        writer.open("x")
        norm = torch.norm(hidden)
        norm = norm + 1
        for name in batch:
            writer.write(name)
        if norm.item() > 3:
            writer.write("large")
        return hidden
"""


def test_what_the_flagged_line_needs_nothing_of_can_go(cut: Callable[..., list[extract.Piece]]) -> None:
    made = {piece.what: piece for piece in cut(THINNED, "norm.item()", "norm", whole_loops=False, blocks=True)}
    thin = made["what line 12 needs of lines 6 to 14 of Probe.report"]
    assert "writer" not in thin.before.source.split("if norm.item()")[0].split("def flagged")[1].partition("\n")[2]
    assert "self.encode(batch)" in thin.before.source
    plain = made["what line 12 needs of lines 6 to 14 of Probe.report, from what torch computes alone"]
    assert [argument.arg for argument in plain.before.function.args.args] == ["hidden"]
    assert "norm = torch.norm(hidden)" in plain.before.source
    assert "if norm > 3:" in plain.after.source


def test_of_a_statement_its_flagged_expression_is_enough(cut: Callable[..., list[extract.Piece]]) -> None:
    text = "import torch\n\n\ndef report(self, x):\n    self.open(1)\n    self.log(\n        torch.sum(x).item(), 1)\n"
    last = cut(text, "torch.sum(x).item()", "torch.sum(x)", blocks=True)[-1]
    assert last.what.endswith("from what torch computes alone")
    rows = [row.rstrip() for row in last.before.source.split("\n")]
    assert rows[3:7] == ["def flagged(x):", "    pass", "", "    return (torch.sum(x).item())"]
    assert last.after.source.split("\n")[6] == "    return (torch.sum(x))"


def test_a_value_is_not_read_where_nothing_is_computed(make_finding: Callable[..., Finding]) -> None:
    text = "def f(self, loss):\n    self.step()\n    if self.on:\n        self.total += loss.item()\n    self.step()\n"
    for code, stands in (("TL101", False), ("TL103", True)):
        finding = make_finding(text, "loss.item()", code=code)
        edits = [Edit(finding.start, finding.end, "loss.detach()")]
        lines = text.split("\n")
        pieces = extract.pieces(finding, lines, extract.repaired(lines, edits), edits, whole_loops=True, blocks=True)
        assert any(piece.what.startswith("lines 4 to 4") for piece in pieces) == stands


def test_a_backward_stays_where_graphs_are_kept(make_finding: Callable[..., Finding]) -> None:
    text = (
        "def f(self, xs):\n    for x in xs:\n        y = self.net(x)\n        self.log(y)\n        y.sum().backward()\n"
    )
    text += "        kept = y.norm()\n        self.kept.append(kept)\n"
    finding = make_finding(text, "self.kept.append(kept)", code="TL602")
    edits = [Edit(finding.start, finding.end, "self.kept.append(kept.detach())")]
    lines = text.split("\n")
    last = list(extract.pieces(finding, lines, extract.repaired(lines, edits), edits, whole_loops=True))[-1]
    assert last.what == "what line 7 needs of lines 2 to 7 of f"
    assert "backward()" in last.before.source
    assert "log" not in last.before.source


def test_a_value_that_is_read_and_nothing_else_is_not_cut_out_alone(cut: Callable[..., list[extract.Piece]]) -> None:
    text = "def report(self, batch):\n    loss = self.loss(batch)\n    self.log(1)\n    return loss.item()\n"
    pieces = cut(text, "loss.item()", "loss", whole_loops=False, blocks=True)
    assert not any("alone" in piece.what or "own expression" in piece.what for piece in pieces)


def test_what_is_done_where_an_import_fails_is_left_out(cut: Callable[..., list[extract.Piece]]) -> None:
    text = "try:\n    import torch\nexcept ImportError:\n    stop(1)\n\n\ndef f(x):\n    return torch.sum(x).item()\n"
    first = cut(text, "torch.sum(x).item()", "torch.sum(x)")[0].before
    assert first.source.split("\n")[:4] == ["try:", "    import torch", "except ImportError:", "    pass"]
    assert first.free == ()
