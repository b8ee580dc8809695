"""The difference between two runs over a tree of files."""

from __future__ import annotations

from pathlib import Path

from benchmarks.lintcheck import difference, entries, read, write
from benchmarks.packages import findings

STEP = """
def train(net, loader, optimizer):
    for x, y in loader:
        loss = (net(x.cuda()) - y.cuda()).square().mean()
        loss.backward()
        optimizer.step()
        {last}
"""
READ = "history.append(loss.item())"
WAIT = "torch.cuda.synchronize()"


def linted(tree: Path, **files: str) -> list[tuple[str, str]]:
    """Write `files` and say what is found in the tree, by file and code."""
    for name, text in files.items():
        (tree / f"{name}.py").write_text("import torch\nhistory = []\n" + text)
    return [(entry.file, entry.code) for entry in found(tree)]


def found(tree: Path) -> list:
    return entries(findings(tree, ["TL101", "TL110"]))


def test_what_appears_and_what_goes_is_told_apart(tmp_path: Path) -> None:
    assert linted(tmp_path, a=STEP.format(last=READ), b=STEP.format(last="pass")) == [("a.py", "TL101")]
    before = found(tmp_path)
    linted(tmp_path, a=STEP.format(last="pass"), b=STEP.format(last=WAIT))
    changed = difference(before, found(tmp_path))
    assert [(entry.file, entry.code) for entry in changed.appeared] == [("b.py", "TL110")]
    assert [(entry.file, entry.code) for entry in changed.went] == [("a.py", "TL101")]
    assert changed.regraded == []


def test_a_finding_that_moves_stays_the_same(tmp_path: Path) -> None:
    linted(tmp_path, a=STEP.format(last=READ))
    before = found(tmp_path)
    linted(tmp_path, a="\n\nlimit = 3\n" + STEP.format(last=READ))
    after = found(tmp_path)
    assert after[0].line == before[0].line + 3
    assert difference(before, after) == ([], [], [])


def test_another_confidence_is_no_other_finding(tmp_path: Path) -> None:
    linted(tmp_path, a=STEP.format(last=READ))
    before = found(tmp_path)
    after = [entry._replace(confidence="possible") for entry in before]
    assert difference(before, after) == ([], [], [(before[0], after[0])])


def test_a_snapshot_gives_back_what_was_written(tmp_path: Path) -> None:
    linted(tmp_path, a=STEP.format(last=READ))
    snapshot = tmp_path / "kept" / "package.jsonl"
    assert read(snapshot) == []
    write(snapshot, found(tmp_path))
    assert read(snapshot) == found(tmp_path) != []
    assert [path.name for path in snapshot.parent.iterdir()] == ["package.jsonl"]
