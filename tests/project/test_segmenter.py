"""A project of a dozen files, linted as a whole: what one file makes hot or wrong is found in another, and traps stay
silent. The lines that must be reported end in their code."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.engine.run import RunResult, check
from torchlint.engine.selection import catalogue
from torchlint.engine.settings import Settings

_HERE = Path(__file__).parent / "segmenter"
_PACKAGE = Path("src", "segmenter")
_MARK = re.compile(r"# (TL\d{3})$")

Found = set[tuple[str, int, str]]


def marks(root: Path) -> Found:
    return {
        (path.relative_to(root).as_posix(), row, mark[1])
        for path in root.rglob("*.py")
        for row, line in enumerate(path.read_text().splitlines(), 1)
        if (mark := _MARK.search(line))
    }


def lint(root: Path, *paths: Path, cache: Path | None = None) -> RunResult:
    rules = frozenset(info.code for info in catalogue() if info.default or info.code == "TL603")
    settings = Settings(root=root, rules=rules, cache_dir=cache, jobs=1)
    result = check([root / path for path in paths or [Path()]], settings)
    assert result.errors == []
    return result


def found(result: RunResult, root: Path) -> Found:
    return {
        (Path(finding.filename).absolute().relative_to(root).as_posix(), finding.start.row, finding.code)
        for finding in result.findings
    }


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return shutil.copytree(_HERE, tmp_path / "segmenter")


@pytest.fixture
def edit(copy: Path) -> Callable[[str, str, str], None]:
    def change(name: str, before: str, after: str) -> None:
        path = copy / _PACKAGE / name
        text = path.read_text()
        assert text.count(before) == 1
        path.write_text(text.replace(before, after))

    return change


def test_what_is_marked_is_found_and_nothing_else() -> None:
    assert len(marks(_HERE)) == 9
    assert found(lint(_HERE), _HERE) == marks(_HERE)


def test_a_file_by_itself_shows_only_what_it_tells_itself() -> None:
    alone = set.union(*(found(lint(_HERE, path.relative_to(_HERE)), _HERE) for path in _HERE.rglob("*.py")))
    assert alone < marks(_HERE)
    assert {code for _, _, code in marks(_HERE) - alone} >= {"TL101", "TL104", "TL502", "TL503", "TL602"}


@pytest.mark.parametrize(
    ("code", "at", "way"),
    [
        ("TL101", "utils/metrics.py", ["engine/trainer.py", "engine/trainer.py"]),
        ("TL104", "engine/callbacks.py", ["engine/trainer.py", "engine/trainer.py"]),
        ("TL102", "models/base.py", ["models/unet.py", "models/unet.py"]),
        ("TL105", "utils/shapes.py", ["models/unet.py", "models/unet.py"]),
        ("TL102", "engine/segmentation.py", ["engine/trainer.py", "engine/trainer.py"]),
        ("TL502", "data.py", ["engine/evaluation.py"]),
    ],
)
def test_a_finding_names_the_way_over_the_files(code: str, at: str, way: list[str]) -> None:
    place = (_HERE / _PACKAGE / at).as_posix()
    (finding,) = (f for f in lint(_HERE).findings if f.code == code and Path(f.filename).absolute().as_posix() == place)
    names = [Path(related.filename).absolute().relative_to(_HERE / _PACKAGE).as_posix() for related in finding.related]
    assert names[: len(way)] == way


def test_a_gate_in_the_loop_silences_the_helper_in_another_file(
    copy: Path, edit: Callable[[str, str, str], None]
) -> None:
    edit(
        "engine/trainer.py",
        "            self.meter.update(loss.detach())\n",
        "            if step % 100 == 0:\n                self.meter.update(loss.detach())\n",
    )
    assert not any(code == "TL101" for _, _, code in found(lint(copy), copy))


def test_a_caller_that_keeps_gradients_is_reported_where_the_others_do_not(
    copy: Path, edit: Callable[[str, str, str], None]
) -> None:
    """The helper that evaluation runs has no guard of its own: without that of its caller it builds graphs."""
    edit("engine/evaluation.py", "@torch.inference_mode()\n", "")
    assert any(code == "TL603" and name.endswith("evaluation.py") for name, _, code in found(lint(copy), copy))


def test_options_of_a_loader_are_seen_from_the_file_that_uses_it(
    copy: Path, edit: Callable[[str, str, str], None]
) -> None:
    edit("data.py", ", pin_memory=True", "")
    codes = [code for name, _, code in found(lint(copy), copy) if name.endswith("data.py")]
    assert codes == ["TL502", "TL502"]
    assert not any(code == "TL503" for _, _, code in found(lint(copy), copy))


class TestCache:
    def test_what_is_kept_is_what_was_found(self, copy: Path, tmp_path: Path) -> None:
        first = lint(copy, cache=tmp_path / "cache")
        assert found(lint(copy, cache=tmp_path / "cache"), copy) == found(first, copy) == marks(copy)

    def test_a_change_in_one_file_is_seen_in_the_findings_of_another(
        self, copy: Path, tmp_path: Path, edit: Callable[[str, str, str], None]
    ) -> None:
        lint(copy, cache=tmp_path / "cache")
        edit("engine/trainer.py", "self.meter.update(loss.detach())", "pass")
        again = found(lint(copy, cache=tmp_path / "cache"), copy)
        assert not any(name.endswith("metrics.py") for name, _, _ in again)

    def test_a_file_that_appears_is_seen_in_the_findings_of_another(self, copy: Path, tmp_path: Path) -> None:
        trainer = copy / _PACKAGE / "engine/trainer.py"
        text = trainer.read_text()
        trainer.unlink()
        without = found(lint(copy, cache=tmp_path / "cache"), copy)
        assert not any(name.endswith("metrics.py") for name, _, _ in without)
        trainer.write_text(text)
        assert found(lint(copy, cache=tmp_path / "cache"), copy) == marks(copy)

    def test_a_file_by_itself_is_given_what_the_project_shows(self, copy: Path, tmp_path: Path) -> None:
        metrics = _PACKAGE / "utils/metrics.py"
        whole = found(lint(copy, cache=tmp_path / "cache"), copy)
        alone = found(lint(copy, metrics, cache=tmp_path / "cache"), copy)
        assert alone == {place for place in whole if place[0] == metrics.as_posix()} != set()
