"""Rounds of fixes over files, with rules that repair in ways that are easy and ways that are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import libcst as cst
import pytest

from tests.engine.fakes import fake_rule, settings, use_rules
from torchlint.engine.settings import Settings
from torchlint.findings import Applicability
from torchlint.fixes import FixResult, fix
from torchlint.rules.base import NodeEdit, NodeFix, Rule


def replacing(content: str, applicability: Applicability = Applicability.SAFE, **of_rule: Any) -> type[Rule]:
    """A rule that replaces calls by text in which `{}` stands for their first argument."""

    def repair(call: cst.CSTNode, _: cst.CSTNode) -> NodeFix:
        assert isinstance(call, cst.Call)
        argument = cst.Module([]).code_for_node(call.args[0].value) if call.args else ""
        return NodeFix(applicability, "repair", (NodeEdit(call, content.format(argument)),))

    return fake_rule(repair, **of_rule)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "a.py"


def fixed(file: Path, data: str | bytes, **changes: Any) -> FixResult:
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return fix([file], own(file, **changes))


def own(file: Path, **changes: Any) -> Settings:
    return settings(file.parent, **changes)


def test_a_file_is_repaired_and_what_is_left_reported(file: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, replacing("fast({})"), fake_rule(code="TL102", name="slower"))
    codes = frozenset({"TL101", "TL102"})
    result = fixed(file, "loader = slow(1)\nslower()\n", rules=codes, fixable=codes)
    assert file.read_text() == "loader = fast(1)\nslower()\n"
    assert [finding.code for finding in result.fixed] == ["TL101"]
    assert [finding.code for finding in result.run.findings] == ["TL102"]
    assert result.run.errors == []


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfloader = slow(1)\r\nx = 1\ry = 2\n",
        b"# coding: latin-1\nloader = slow(1)  # \xe9\n",
        b"loader = slow(1)",
        b"loader = '\x0b\x1c'; slow(1)  \n\x0c\n\n\n",
        b"if loader:\n    a\n\\\nslow(1)\n",
        b"if loader:\n\x0c    slow(1)\n",
    ],
)
def test_every_other_byte_stays(file: Path, monkeypatch: Any, data: bytes) -> None:
    use_rules(monkeypatch, replacing("fast({})"))
    assert fixed(file, data).run.errors == []
    assert file.read_bytes() == data.replace(b"slow", b"fast")


def test_nested_repairs_take_rounds_and_end(file: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, replacing("fast({})"))
    result = fixed(file, "loader = slow(slow(slow(slow(1)))) + slow(2)\n")
    assert file.read_text() == "loader = fast(fast(fast(fast(1)))) + fast(2)\n"
    assert len(result.fixed) == 5
    assert fix([file], own(file)).changes == {}


def test_repairs_without_end_are_undone_and_named(file: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, replacing("slower({})"), replacing("slow({})", code="TL102", name="slower"))
    codes = frozenset({"TL101", "TL102"})
    result = fixed(file, "loader = slow(1)\n", rules=codes, fixable=codes)
    assert file.read_text() == "loader = slow(1)\n"
    (error,) = result.run.errors
    assert "TL101" in error or "TL102" in error
    assert "never come to an end" in error
    assert result.fixed == []


def test_a_repair_that_would_not_parse_is_left_out_and_named(file: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, replacing("fast({}"), replacing("good({})", code="TL102", name="slower"))
    codes = frozenset({"TL101", "TL102"})
    result = fixed(file, "loader = slow(1)\nslower(2)\n", rules=codes, fixable=codes)
    assert file.read_text() == "loader = slow(1)\ngood(2)\n"
    (error,) = result.run.errors
    assert "a.py:1:10" in error
    assert "TL101" in error
    assert [finding.code for finding in result.run.findings] == ["TL101"]


def test_a_repair_that_the_encoding_cannot_hold_is_left_out(file: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, replacing("'∑'"))
    data = b"# coding: latin-1\nloader = slow(1)  # \xe9\n"
    assert fixed(file, data).fixed == []
    assert file.read_bytes() == data


@pytest.mark.parametrize(
    ("applicability", "unsafe", "fixable", "expected"),
    [
        (Applicability.SAFE, False, {"TL101"}, "fast(1)"),
        (Applicability.SAFE, False, set(), "slow(1)"),
        (Applicability.UNSAFE, False, {"TL101"}, "slow(1)"),
        (Applicability.UNSAFE, True, {"TL101"}, "fast(1)"),
        (Applicability.DISPLAY, True, {"TL101"}, "slow(1)"),
    ],
)
def test_only_what_is_allowed_is_applied(
    file: Path, monkeypatch: Any, applicability: Applicability, unsafe: bool, fixable: set[str], expected: str
) -> None:
    use_rules(monkeypatch, replacing("fast({})", applicability))
    fixed(file, "loader = slow(1)\n", unsafe_fixes=unsafe, fixable=frozenset(fixable))
    assert file.read_text() == f"loader = {expected}\n"


def test_suppressed_findings_are_not_repaired(file: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, replacing("fast({})"))
    fixed(file, "loader = slow(1)  # noqa: TL101\n")
    assert file.read_text() == "loader = slow(1)  # noqa: TL101\n"


def test_a_dry_run_shows_a_diff_and_writes_nothing(file: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, replacing("fast({})"))
    file.write_text("import torch\n\nloader = slow(1)")
    result = fix([file], own(file), dry_run=True)
    assert file.read_text() == "import torch\n\nloader = slow(1)"
    (change,) = result.changes.values()
    assert "".join(change.diff()) == (
        "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n import torch\n \n-loader = slow(1)\n\\ No newline at end of file\n"
        "+loader = fast(1)\n\\ No newline at end of file\n"
    )
    assert result.run.findings == []
    assert list(result.run.source("a.py")) == ["import torch", "", "loader = fast(1)"]


def test_standard_input_is_repaired_in_the_result(file: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, replacing("fast({})"))
    result = fix([Path("-")], own(file), stdin=b"loader = slow(1)\n", stdin_filename="a.py")
    assert result.changes["a.py"].after.data == b"loader = fast(1)\n"
    assert not file.exists()


def test_a_file_that_cannot_be_written_keeps_its_findings(file: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, replacing("fast({})"))
    file.write_text("loader = slow(1)\n")
    file.chmod(0o444)
    result = fix([file], own(file))
    assert [finding.code for finding in result.run.findings] == ["TL101"]
    assert ["read-only" in error for error in result.run.errors] == [True]
    assert result.changes == {}


def test_what_is_repaired_is_linted_with_the_files_it_is_read_with(tmp_path: Path) -> None:
    helper = """import torch


def read(t):
    start = torch.zeros(3).to("cuda")
    return t.item(), start  # torchlint: ignore[TL101] where it is called on every step
"""
    (tmp_path / "helper.py").write_text(helper)
    (tmp_path / "train.py").write_text(
        """import torch
from helper import read

net = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(net.parameters())


def train(loader):
    for x in loader:
        loss = net(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        read(loss)
"""
    )
    codes = frozenset({"TL001", "TL101", "TL508"})
    result = fix([tmp_path], settings(tmp_path, rules=codes, fixable=codes))
    assert [finding.code for finding in result.fixed] == ["TL508"]
    assert (tmp_path / "helper.py").read_text() == helper.replace(
        'torch.zeros(3).to("cuda")', 'torch.zeros(3, device="cuda")'
    )
    assert result.run.findings == []
