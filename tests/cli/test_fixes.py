"""--fix and its relatives: what is written, printed and returned."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran

Call = Callable[..., Ran]

BEFORE = """\
import torch


def train(model, loader, optimizer):
    model.cuda()
    total = 0.0
    for batch in loader:
        loss = model(batch.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
        print(loss.item())
    return float(total)
"""
AFTER = BEFORE.replace("total += loss", "total += loss.detach()")
RULES = "--select=TL601,TL101"


@pytest.fixture
def file(project: Path) -> Path:
    path = project / "a.py"
    path.write_text(BEFORE)
    return path


def test_fix_repairs_and_reports_the_rest(torchlint: Call, file: Path) -> None:
    ran = torchlint(RULES, "--fix", "--output-format=concise", "--no-cache")
    assert file.read_text() == AFTER
    lines = ran.out.splitlines()
    assert lines[0].startswith("a.py:13:15: TL101")
    assert lines[1:3] == ["Fixed 1 finding in 1 file.", "Found 1 finding in 1 file."]
    assert ran.status == 1
    assert torchlint("--select=TL601", "--fix").status == 0


def test_nothing_is_written_unasked(torchlint: Call, file: Path) -> None:
    ran = torchlint(RULES, "--output-format=concise")
    assert file.read_text() == BEFORE
    assert "[*] 1 fixable with --fix.\n" in ran.out


def test_the_configuration_may_ask_and_the_command_line_may_not(torchlint: Call, file: Path, project: Path) -> None:
    (project / "torchlint.toml").write_text("fix = true\nselect = ['TL601']\n")
    torchlint("--no-fix")
    assert file.read_text() == BEFORE
    torchlint()
    assert file.read_text() == AFTER


def test_a_rule_that_is_unfixable_stays(torchlint: Call, file: Path) -> None:
    torchlint(RULES, "--fix", "--config", "unfixable = ['TL6']")
    assert file.read_text() == BEFORE


def test_diff_shows_and_writes_nothing(torchlint: Call, file: Path) -> None:
    ran = torchlint(RULES, "--diff")
    assert file.read_text() == BEFORE
    assert "-        total += loss\n+        total += loss.detach()\n" in ran.out
    assert ran.out.startswith("--- a.py\n+++ a.py\n@@ ")
    assert (ran.status, ran.err) == (1, "Would fix 1 finding in 1 file.\n")
    assert torchlint("--select=TL101", "--diff").status == 0


def test_a_diff_tells_of_repairs_that_have_to_be_asked_for(torchlint: Call, file: Path) -> None:
    file.write_text("import torch\n\nsgd = torch.optim.SGD([torch.ones(1)], lr=0.1, foreach=False)\n")
    assert torchlint("--select=TL205", "--diff") == Ran(
        0, "", "Would fix 0 findings in 0 files, 1 more with --unsafe-fixes.\n"
    )
    ran = torchlint("--select=TL205", "--diff", "--unsafe-fixes")
    assert (ran.status, ran.err) == (1, "Would fix 1 finding in 1 file.\n")


def test_a_diff_lets_no_control_character_through(torchlint: Call, file: Path) -> None:
    file.write_text(BEFORE.replace("        total += loss", '        x = "\x1b[31m\u202e\t"; total += loss'))
    ran = torchlint(RULES, "--diff")
    assert '+        x = "\\x1b[31m\\u202e\t"; total += loss.detach()\n' in ran.out
    assert not {"\x1b", "\u202e"} & set(ran.out)


def test_show_fixes_and_fix_only(torchlint: Call, file: Path) -> None:
    ran = torchlint(RULES, "--fix-only", "--show-fixes")
    said = "Fixed 1 finding in 1 file.\n- a.py:\n    1 x TL601 (retained-graph-sum)\n"
    assert ran == Ran(0, said, "")
    assert file.read_text() == AFTER
    assert torchlint(RULES, "--fix-only") == Ran(0, "Fixed 0 findings in 0 files.\n", "")


def test_a_repair_can_be_made_to_fail_the_run(torchlint: Call, file: Path) -> None:
    assert torchlint("--select=TL601", "--fix", "--exit-non-zero-on-fix").status == 1
    assert torchlint("--select=TL601", "--fix", "--exit-non-zero-on-fix").status == 0


def test_suppressions_silence_what_is_there(torchlint: Call, file: Path) -> None:
    ran = torchlint(RULES, "--add-suppressions")
    assert ran == Ran(0, "Silenced 2 findings in 1 file.\n", "")
    assert "        total += loss  # torchlint: ignore[TL601]\n" in file.read_text()
    assert torchlint(RULES, "--extend-select=TL001").status == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        assert torchlint("--add-suppressions", "-").status == 2


def test_a_file_that_cannot_be_written_is_one_line(torchlint: Call, file: Path) -> None:
    file.chmod(0o444)
    ran = torchlint(RULES, "--fix", "--output-format=concise")
    assert ran.status == 2
    assert ran.err == "error: a.py: is read-only; left as it is\n"
    assert "TL601" in ran.out


def test_changed_lines_and_fixes_exclude_each_other(torchlint: Call, file: Path) -> None:
    ran = torchlint("--fix", "--diff-base=HEAD")
    assert ran.status == 2
    assert "--diff-base reports and changes nothing" in ran.err
