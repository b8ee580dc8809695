"""Notebooks from end to end: findings in cells, repairs that touch nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from torchlint.engine.run import RunResult, check
from torchlint.engine.settings import Settings
from torchlint.findings import Confidence
from torchlint.fixes import add_suppressions, fix

SETUP = "import torch\nmodel = torch.nn.Linear(4, 1).cuda()\nloader = [torch.ones(4, 4)] * 8\n"
LOOP = "total = 0.0\nfor x in loader:\n    loss = model(x).mean()\n    loss.backward()\n    total += loss"
ROW = 5  # where LOOP pays
BROKEN = "def f(:\n"
RULES = frozenset({"TL001", "TL003", "TL601"})


def settings(folder: Path, **more: Any) -> Settings:
    rules = more.pop("rules", RULES)
    return Settings(root=folder, rules=rules, fixable=rules, min_confidence=Confidence.POSSIBLE, jobs=1, **more)


def write(path: Path, sources: Sequence[Any], **more: Any) -> Path:
    cells = [
        source
        if isinstance(source, dict)
        else {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for source in sources
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4, **more}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def places(result: RunResult) -> list[tuple[str, int | None, int]]:
    assert not result.errors
    return [(finding.code, finding.cell, finding.start.row) for finding in result.findings]


def lint(tmp_path: Path, sources: Sequence[Any], **more: Any) -> RunResult:
    return check([write(tmp_path / "a.ipynb", sources)], settings(tmp_path, **more))


MARKDOWN = {"cell_type": "markdown", "metadata": {}, "source": LOOP}


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([SETUP, MARKDOWN, LOOP], [("TL601", 3, ROW)]),
        ([SETUP.splitlines(keepends=True), LOOP.splitlines(keepends=True)], [("TL601", 2, ROW)]),
        ([SETUP, BROKEN, LOOP], [("TL003", 2, 1), ("TL601", 3, ROW)]),
        ([SETUP, "x = (\n", ")", LOOP], [("TL003", 2, 1), ("TL003", 3, 1), ("TL601", 4, ROW)]),
        ([SETUP, "'''", "'''", LOOP], [("TL003", 2, 1), ("TL003", 3, 1), ("TL601", 4, ROW)]),
        ([SETUP, "x = '\0'", LOOP], [("TL003", 2, 1), ("TL601", 3, ROW)]),
        ([SETUP, "%%bash\nfor it's", '%%time\n!ls "\n' + LOOP], [("TL601", 3, ROW + 2)]),
        ([SETUP, LOOP.replace("\n", "\r\n")], [("TL601", 2, ROW)]),
        ([SETUP, indent(LOOP, "  ")], [("TL601", 2, ROW)]),
        ([SETUP, "\n\t\n%%time\n \n" + indent(LOOP, "\t")], [("TL601", 2, ROW + 4)]),
        ([SETUP, " x = 1\n  y = 2\n", LOOP], [("TL003", 2, 2), ("TL601", 3, ROW)]),
        ([SETUP, indent("%%bash\nfor it's", "  "), LOOP], [("TL601", 3, ROW)]),
        ([SETUP, indent(LOOP + "  # torchlint: ignore[TL601]", "  ")], []),
        ([SETUP, LOOP + "  # torchlint: ignore[TL601]"], []),
        ([SETUP, "x = 1  # torchlint: ignore[TL601]"], [("TL001", 2, 1)]),
        (["# torchlint: file-ignore[TL601]", SETUP, LOOP], []),
        (["# -*- coding: utf-7 -*-\nä = 1\n" + SETUP, LOOP], [("TL601", 2, ROW)]),
        ([], []),
    ],
)
def test_findings_name_their_cell(
    tmp_path: Path, sources: Sequence[Any], expected: list[tuple[str, int | None, int]]
) -> None:
    assert places(lint(tmp_path, sources)) == expected


def code_cell(source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source, **more}


def document(*cells: Any, minor: int = 4, **more: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor, **more}


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


PLAIN = document(code_cell(SETUP), code_cell(LOOP))
OLD = [{"cell_type": "code", "language": "python", "outputs": [], "input": text} for text in (SETUP, LOOP)]
IMAGE = [{"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo" * 400_000}, "metadata": {}}]
FOUND = [("TL601", 2, ROW)]
TEXT = json.dumps(PLAIN, indent=1)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(TEXT, FOUND, id="without ids"),
        pytest.param(document(code_cell(SETUP, id="a"), code_cell(LOOP, id="b"), minor=5), FOUND, id="with ids"),
        pytest.param(document(code_cell(SETUP, id="a"), code_cell(LOOP, id="a"), minor=5), FOUND, id="one id twice"),
        pytest.param(document(code_cell(SETUP, id=7), code_cell(LOOP, id=None), minor=5), FOUND, id="odd ids"),
        pytest.param({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": OLD}]}, FOUND, id="nbformat 3"),
        pytest.param({"nbformat": 3, "worksheets": [{"cells": [one]} for one in OLD]}, FOUND, id="worksheets"),
        pytest.param({"cells": PLAIN["cells"]}, FOUND, id="nothing but cells"),
        pytest.param({**PLAIN, "nbformat": 9, "more": {"cells": [7]}}, FOUND, id="a format to come"),
        pytest.param({**PLAIN, "metadata": None}, FOUND, id="no metadata"),
        pytest.param({**PLAIN, "metadata": {"kernelspec": {"language": "python"}}}, FOUND, id="a kernel"),
        pytest.param({**PLAIN, "metadata": {"kernelspec": {"language": "R"}}}, [], id="R"),
        pytest.param({**PLAIN, "metadata": {"language_info": {"name": "julia"}}}, [], id="Julia"),
        pytest.param(document(code_cell(SETUP, outputs=IMAGE), code_cell(LOOP)), FOUND, id="huge outputs"),
        pytest.param(document(code_cell(SETUP, outputs=nested(300)), code_cell(LOOP)), FOUND, id="deep outputs"),
        pytest.param(json.dumps(PLAIN, separators=(",", ":")), FOUND, id="on one row"),
        pytest.param(json.dumps(PLAIN, indent="\t").replace("\n", "\r\n"), FOUND, id="tabs and carriage returns"),
        pytest.param(TEXT.encode("utf-8-sig"), FOUND, id="a byte order mark"),
        pytest.param(TEXT.encode("utf-16"), "cannot be decoded as utf-8", id="utf-16"),
        pytest.param("", [], id="empty"),
        pytest.param(document(), [], id="no cells"),
        pytest.param(TEXT[:-20], "is no JSON", id="cut off"),
        pytest.param(TEXT.replace("\n", "\n<<<<<<< HEAD\n", 1), "is no JSON", id="a conflict"),
        pytest.param("version https://git-lfs.github.com/spec/v1\n", "is no JSON", id="a pointer to large files"),
        pytest.param([PLAIN], "the file holds no object", id="a list"),
    ],
)
def test_notebooks_of_all_sorts(tmp_path: Path, data: Any, expected: list[tuple[str, int, int]] | str) -> None:
    text = data if isinstance(data, (str, bytes)) else json.dumps(data)
    before = text if isinstance(text, bytes) else text.encode()
    path = tmp_path / "a.ipynb"
    path.write_bytes(before)
    result = check([path], settings(tmp_path))
    if isinstance(expected, str):
        (finding,) = result.findings
        assert (finding.code, finding.cell) == ("TL003", None)
        assert expected in finding.message
        assert "\n" not in finding.message
    else:
        assert places(result) == expected
    fix([path], settings(tmp_path, unsafe_fixes=True))
    written = before.replace(b"total += loss", b"total += loss.detach()") if expected == FOUND else before
    assert path.read_bytes() == written


def test_what_explains_a_finding_names_its_cell(tmp_path: Path) -> None:
    rules = frozenset({"TL101"})
    step = "def step(x):\n    loss = model(x).mean()\n    loss.backward()\n    return loss.item()"
    result = lint(tmp_path, [SETUP, step, "for x in loader:\n    step(x)"], rules=rules)
    (finding,) = result.findings
    assert finding.cell == 2
    assert {(related.cell, related.start.row) for related in finding.related} >= {(3, 1)}


def test_the_lines_of_a_cell_are_those_that_are_shown(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", [SETUP, "!ls\n" + LOOP])
    result = check([path], settings(tmp_path))
    (finding,) = result.findings
    assert list(result.source(finding.filename, 2)) == ["!ls", *LOOP.split("\n")]
    assert list(result.source(finding.filename, 7)) == []
    assert list(result.source(finding.filename, None)) == path.read_text().split("\n")


def test_findings_come_out_of_the_cache_as_they_went_in(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", [SETUP, LOOP, BROKEN])
    cached = settings(tmp_path, cache_dir=tmp_path / "cache")
    first, second = check([path], cached), check([path], cached)
    assert first.findings
    assert first.findings == second.findings


def test_another_kernel_is_skipped_and_a_reason_given(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", [LOOP], metadata={"kernelspec": {"language": "R"}})
    result = check([path], settings(tmp_path))
    assert (result.findings, result.errors) == ([], [])
    assert len(result.notes) == 1
    assert "in R, skipped" in result.notes[0]


def test_a_fingerprint_stays_when_cells_move(tmp_path: Path) -> None:
    (before,) = lint(tmp_path, [SETUP, LOOP]).findings
    (after,) = lint(tmp_path, ["import math", SETUP, MARKDOWN, LOOP]).findings
    assert before.fingerprint == after.fingerprint


def test_an_id_tells_equal_cells_apart_wherever_they_stand(tmp_path: Path) -> None:
    def found(*numbers: int) -> dict[int, list[str]]:
        own = [{"cell_type": "code", "source": text, "id": f"c{at}"} for at, text in enumerate([LOOP, LOOP, BROKEN])]
        (tmp_path / "a.ipynb").unlink(missing_ok=True)
        by_cell: dict[int, list[str]] = {number: [] for number in numbers}
        for finding in lint(tmp_path, [SETUP, *(own[number] for number in numbers)]).findings:
            by_cell[numbers[(finding.cell or 0) - 2]].append(finding.fingerprint)
        return by_cell

    first = found(0, 1, 2)
    assert len({fingerprint for (fingerprint,) in first.values()}) == 3
    assert found(2, 1, 0) == first
    assert found(1)[1] == first[1]


def test_a_fix_writes_into_an_indented_cell_as_it_is_indented(tmp_path: Path) -> None:
    clock = "import time\nt = time.perf_counter()\ny = model(torch.ones(4, 4).cuda())\nspent = time.perf_counter() - t"
    rules = frozenset({"TL701"})
    path = write(tmp_path / "a.ipynb", [SETUP, indent(clock, "   ")])
    plain = write(tmp_path / "b.ipynb", [SETUP, clock])
    fix([path, plain], settings(tmp_path, rules=rules, unsafe_fixes=True))
    (_, written), (_, expected) = (
        ["".join(cell["source"]) for cell in json.loads(one.read_bytes())["cells"]] for one in (path, plain)
    )
    assert expected != clock
    assert written == indent(expected, "   ")


def test_a_suppression_in_an_indented_cell_stands_at_the_end_of_its_row(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", [SETUP, indent(LOOP, "  ")])
    add_suppressions([path], settings(tmp_path))
    (_, cell) = json.loads(path.read_bytes())["cells"]
    assert "".join(cell["source"]) == indent(LOOP, "  ") + "  # torchlint: ignore[TL601]"


def test_a_fix_changes_one_line_of_one_cell(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", [SETUP, "%%time\n" + LOOP, "é = '\u2028'", BROKEN])
    before = path.read_bytes()
    result = fix([path], settings(tmp_path))
    assert places(result.run) == [("TL003", 4, 1)]
    assert path.read_bytes() == before.replace(b"total += loss", b"total += loss.detach()")
    assert re.search(r"a\.ipynb:cell 2$", next(iter(result.changes[str(path)].diff())).strip())


def test_standard_input_gets_a_notebook_back(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", [SETUP, LOOP])
    result = fix([], settings(tmp_path), stdin=path.read_bytes(), stdin_filename="b.ipynb")
    (change,) = result.changes.values()
    assert change.after.data == path.read_bytes().replace(b"total += loss", b"total += loss.detach()")


@pytest.mark.parametrize(
    "sources", [[SETUP], [SETUP, BROKEN], [SETUP, LOOP + "  # noqa"], [SETUP, LOOP, {"source": 7}]]
)
@pytest.mark.parametrize("end", ["", "\n", "\r\n\r\n"])
def test_a_notebook_that_needs_no_fix_stays_as_it_is(tmp_path: Path, sources: Sequence[Any], end: str) -> None:
    path = write(tmp_path / "a.ipynb", sources)
    path.write_bytes(path.read_bytes().rstrip() + end.encode())
    before, modified = path.read_bytes(), path.stat().st_mtime_ns
    fix([path], settings(tmp_path))
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, modified)


def test_an_import_goes_to_the_imports_even_in_another_cell(tmp_path: Path) -> None:
    rules = frozenset({"TL210"})
    make = "rows = [np.zeros(3) for _ in range(4)]\nbatch = torch.tensor(rows)"
    sources = ["import numpy as np\nimport torch", "x = 1", make]
    path = write(tmp_path / "a.ipynb", sources)
    found = check([path], settings(tmp_path, rules=rules))
    for finding in found.findings:
        for edit in finding.fix.edits if finding.fix else ():
            assert edit.cell in (1, 3)
    fix([path], replace(settings(tmp_path, rules=rules), unsafe_fixes=True))
    texts = [cell["source"] for cell in json.loads(path.read_bytes())["cells"]]
    assert texts[1] == "x = 1"
    for text in texts:
        compile(text, "cell", "exec")


def test_suppressions_are_written_into_cells(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", [SETUP, "%%time\n!it's\n" + LOOP])
    before = path.read_bytes()
    result = add_suppressions([path], settings(tmp_path))
    assert result.run.findings == []
    assert path.read_bytes() == before.replace(b"total += loss", b"total += loss  # torchlint: ignore[TL601]")


def test_notebooks_below_a_folder_are_found(tmp_path: Path) -> None:
    (tmp_path / ".ipynb_checkpoints").mkdir()
    write(tmp_path / ".ipynb_checkpoints" / "a-checkpoint.ipynb", [SETUP, LOOP])
    write(tmp_path / "a.ipynb", [SETUP, LOOP])
    assert [Path(finding.filename).name for finding in check([tmp_path], settings(tmp_path)).findings] == ["a.ipynb"]
