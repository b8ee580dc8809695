"""A file that is linted by itself is told what linting its whole project tells, or less; never something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.engine.programs import HELPERS, TRAIN
from torchlint.engine.cache import Cache
from torchlint.engine.explain import explain
from torchlint.engine.job import Job
from torchlint.engine.run import check, with_project
from torchlint.engine.settings import Configuration
from torchlint.fixes.run import fix

CONFIGURATION = 'select = ["TL001", "TL101"]\ncache-dir = ".cache"\njobs = 1\n'
SILENCED = HELPERS.replace("item())", "item())  # torchlint: ignore[TL101]")
GATED = TRAIN.replace("        log(loss)\n", "        if step % 100 == 0:\n            log(loss)\n")

Found = list[tuple[str, int, str]]
READ: Found = [("helpers.py", 5, "TL101")]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, **{"torchlint.toml": CONFIGURATION, "helpers.py": HELPERS, "train.py": TRAIN})
    return tmp_path


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)


def found(*paths: str, **how: object) -> Found:
    result = check([Path(path) for path in paths or ["."]], Configuration(), **how)  # type: ignore[arg-type]
    assert result.errors == []
    assert set(result.files) <= {path for path in paths if path.endswith(".py")} or "." in (paths or ["."])
    return [(finding.filename, finding.start.row, finding.code) for finding in result.findings]


def test_of_a_project_that_was_never_linted_less_is_said() -> None:
    assert found("helpers.py") == []
    assert found("helpers.py", "train.py") == READ


def test_a_file_is_told_what_its_project_tells() -> None:
    assert found() == READ
    assert found("helpers.py") == READ
    assert found("train.py") == []


@pytest.mark.parametrize("many", [0, 500])
def test_what_the_project_told_is_not_worked_out_again(monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    monkeypatch.setattr("torchlint.engine.run._MANY_FILES", many)
    jobs = Configuration({"jobs": 2})
    read: list[object] = []
    first = check([Path(".")], jobs).findings
    monkeypatch.setattr("torchlint.engine.job.lint_documents", lambda *files: read.append(files))
    assert check([Path(".")], jobs).findings == first
    assert check([Path("helpers.py")], jobs).findings == first
    assert read == []


def test_what_changed_since_is_looked_up(project: Path) -> None:
    assert found() == READ
    write(project, **{"train.py": GATED})
    assert found("helpers.py") == []
    write(project, **{"more.py": TRAIN})
    assert found("helpers.py") == READ
    (project / "more.py").unlink()
    assert found("helpers.py") == []


def test_standard_input_is_read_as_the_file_that_it_will_be() -> None:
    assert found() == READ
    text = HELPERS.replace("def log", "\ndef log").encode()
    result = check([Path("-")], Configuration(), stdin=text, stdin_filename="helpers.py")
    assert [(finding.filename, finding.start.row) for finding in result.findings] == [("helpers.py", 6)]


def cells(*sources: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": source, "id": source[:2]} for source in sources]})


def test_a_notebook_makes_hot_what_it_calls_and_knows_what_that_gives(project: Path) -> None:
    imports, train = TRAIN.split("\n\n\n")
    helpers = HELPERS + "\n\ndef host(loss):\n    return loss.detach().cpu()\n"
    (project / "train.py").unlink()
    write(
        project,
        **{
            "helpers.py": helpers,
            "train.ipynb": cells(
                "!ls it's",
                f"{imports}, host\ndef broken(:",
                f"{imports}, host",
                f"%%time\n{train}        host(loss).item()\n        loss.item()",
            ),
        },
    )
    result = check([Path(".")], Configuration(overrides={"extend-select": ["TL003"]}))
    assert [(finding.filename, finding.cell, finding.start.row, finding.code) for finding in result.findings] == [
        ("helpers.py", None, 5, "TL101"),
        ("train.ipynb", 2, 3, "TL003"),
        ("train.ipynb", 4, 9, "TL101"),
    ]
    assert result.findings[-1].cell_id == "%%"
    called, loop = result.findings[0].related
    assert (called.filename, called.cell, called.start.row) == ("train.ipynb", 4, 7)
    assert (loop.cell, loop.start.row) == (4, 3)
    told = explain(Path("helpers.py"), 5, Configuration()).chain
    assert [(why.filename, why.cell, why.at and why.at.row) for why in told] == [
        ("train.ipynb", 4, 7),
        ("train.ipynb", 4, 3),
    ]


def test_a_document_is_told_what_its_project_tells_where_that_is_quick(project: Path) -> None:
    path = project / "helpers.py"

    def told(text: str, most: int) -> Found | None:
        result = with_project(Job(path, str(path), Configuration().for_file(path), text.encode()), most)
        return None if result is None else [(f.filename, f.start.row, f.code) for f in result.findings]

    assert told(HELPERS, 9999) is None
    assert found() == READ
    moved = HELPERS.replace("def log", "\ndef log")
    kept = len(list((project / ".cache").rglob("*")))
    assert told(HELPERS, 0) == [(str(path), 5, "TL101")]  # what is saved is known
    assert told(moved, 0) is None
    assert told(moved, 9999) == [(str(path), 6, "TL101")]
    assert len(list((project / ".cache").rglob("*"))) == kept
    write(project, **{"train.py": GATED})
    assert told(HELPERS, 0) is None
    assert told(HELPERS, 9999) == []


@pytest.mark.parametrize("whole", [False, True])
def test_a_suppression_that_only_a_caller_needs_is_not_called_unused(project: Path, whole: bool) -> None:
    write(project, **{"helpers.py": SILENCED})
    if whole:
        assert found() == []
    assert found("helpers.py") == []
    assert fix([Path("helpers.py")], Configuration()).fixed == []
    assert (project / "helpers.py").read_text() == SILENCED


def test_a_suppression_that_nothing_needs_is_called_unused_where_all_is_known(project: Path) -> None:
    write(project, **{"helpers.py": SILENCED, "train.py": GATED})
    assert found("helpers.py") == []
    assert found() == [("helpers.py", 5, "TL001")]
    assert found("helpers.py") == [("helpers.py", 5, "TL001")]


def test_repairs_are_judged_with_the_files_around(project: Path) -> None:
    """What a repair leaves is linted with the project as well."""
    write(project, **{"helpers.py": SILENCED + "\n\nx = 1  # torchlint: ignore[TL101]\n"})
    assert found() == [("helpers.py", 8, "TL001")]
    result = fix([Path("helpers.py")], Configuration({"fix": True}))
    assert [finding.start.row for finding in result.fixed] == [8]
    assert (project / "helpers.py").read_text() == SILENCED + "\n\nx = 1\n"


def test_without_a_configuration_what_is_named_is_all_there_is(project: Path) -> None:
    (project / "torchlint.toml").unlink()
    write(project, **{"helpers.py": SILENCED})
    result = check([Path("helpers.py")], Configuration({"select": ["TL001", "TL101"], "cache": False}))
    assert [finding.code for finding in result.findings] == ["TL001"]


@pytest.mark.parametrize("note", ["", "[]", '{"folders": 1}', '{"folders": ["gone", "\\u0000", ".."]}'])
def test_a_note_that_makes_no_sense_is_no_note(project: Path, note: str) -> None:
    assert found() == READ
    cache, name = Cache(project / ".cache"), f"project:{project}"
    assert cache.note(name) == '{"folders": ["."]}'
    cache.put_note(name, note)
    assert found("helpers.py") in ([], READ)


def test_without_a_cache_nothing_is_remembered(project: Path) -> None:
    write(project, **{"torchlint.toml": CONFIGURATION + "cache = false\n"})
    assert found() == READ
    assert found("helpers.py") == []


def test_a_configuration_that_cannot_be_used_leaves_its_folder_out_of_what_is_read_beside_a_file(project: Path) -> None:
    assert found() == READ
    write(project, **{"odd/torchlint.toml": "select = [", "odd/train.py": GATED})
    assert found("helpers.py") == READ
    assert explain(Path("helpers.py"), READ[0][1], Configuration()).together == 2
