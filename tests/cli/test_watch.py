"""--watch: lint again when something changes, whatever goes wrong in between."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Linter, Ran, finding

Call = Callable[..., Ran]


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What happens to the files between rounds; after the last one the user presses Ctrl-C."""
    steps: list[Callable[[], None]] = []

    def watch(*paths: str, watch_filter: Callable[[object, str], bool], **_: object) -> Iterator[set[object]]:
        assert paths == (os.getcwd(),)
        assert watch_filter(None, "/x/a.py")
        assert watch_filter(None, "/x/pyproject.toml")
        assert not watch_filter(None, "/x/.torchlint_cache/entry")
        yield set()  # a while in which nothing happened
        while steps:
            steps.pop(0)()
            yield {"a change"}
            yield set()
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "watchfiles", types.SimpleNamespace(watch=watch))  # type: ignore[arg-type]
    return steps


def test_each_change_is_a_round(torchlint: Call, linter: Linter, changes: list[Callable[[], None]]) -> None:
    changes.append(lambda: linter.findings.append(finding()))
    ran = torchlint("--watch", "--output-format=concise")
    assert ran.status == 130
    assert ran.out == "All checks passed in 1 file.\na.py:3:5: TL101 `loss.item()` waits\nFound 1 finding in 1 file.\n"


def test_a_broken_configuration_ends_nothing(
    torchlint: Call, linter: Linter, project: Path, changes: list[Callable[[], None]]
) -> None:
    changes.append(lambda: (project / "torchlint.toml").write_text("selct = []") and None)
    changes.append(lambda: (project / "torchlint.toml").write_text("select = ['TL101']") and None)
    ran = torchlint("--watch")
    assert ran.err.count("unknown key 'selct'") == 1
    assert len(linter.asked) == 2
    assert linter.configuration is not None
    assert linter.configuration.for_folder(project).rules == {"TL101"}


def test_a_folder_that_is_gone_for_a_while_is_waited_for(
    torchlint: Call, linter: Linter, project: Path, changes: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    away = project.with_name("away")
    monkeypatch.setattr("time.sleep", lambda _: away.rename(project))
    changes.append(lambda: project.rename(away) and None)
    changes.append(lambda: None)
    ran = torchlint("--watch")
    assert (ran.status, ran.err.strip()) == (130, "")
    assert len(linter.asked) == 3  # at first, when it is back, and the change after that


def test_ctrl_c_within_a_round_ends_all(torchlint: Call, linter: Linter, changes: list[Callable[[], None]]) -> None:
    changes.append(lambda: setattr(linter, "interrupted", True))
    changes.append(lambda: pytest.fail("it went on"))
    assert torchlint("--watch").status == 130


def test_what_is_not_there_cannot_be_watched(
    torchlint: Call, linter: Linter, changes: list[Callable[[], None]]
) -> None:
    ran = torchlint("--watch", "nowhere")
    assert (ran.status, ran.err) == (2, "error: nowhere: there is nothing to watch\n")


def test_standard_input_cannot_be_watched(torchlint: Call, linter: Linter, changes: list[Callable[[], None]]) -> None:
    assert "nothing to watch" in torchlint("--watch", "-").err


def test_it_needs_its_package(torchlint: Call, linter: Linter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    said = "error: --watch needs watchfiles, which is not installed: pip install 'torchlint[watch]'\n"
    assert torchlint("--watch") == Ran(2, "", said)
