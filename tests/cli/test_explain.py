"""What `torchlint explain` says of a line, on files as they are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran

Torchlint = Callable[..., Ran]

_SEGMENTER = Path(__file__).parents[1] / "project" / "segmenter"

TRAIN = """\
import torch


def train(model, loader, optimizer):
    model.cuda()
    for step, batch in enumerate(loader):
        loss = model(batch.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
        if step % 100 == 0:
            print(loss.item())
        shown = loss.detach().cpu()
        print(shown.item())
        print(loss.item())  # torchlint: ignore[TL101]


def save(model, path):
    # a comment
    torch.save(
        model.state_dict(),
        path,
    )
    try:
        pass
    except OSError as error:
        print(error)


class Net(torch.nn.Module):
    def forward(self, x, refit=False):
        if refit:
            print(x.sum().item())
        return x
"""
READ, GATED, ON_HOST, SILENCED, SAVED = 11, 13, 15, 16, 22


@pytest.fixture
def train(project: Path) -> Path:
    path = project / "train.py"
    path.write_text(TRAIN)
    return path


def told(ran: Ran) -> str:
    assert (ran.status, ran.err) == (0, "")
    return " ".join(ran.out.split())


def outcomes(ran: Ran) -> dict[str, tuple[str, str | None]]:
    assert (ran.status, ran.err) == (0, "")
    return {rule["code"]: (rule["outcome"], rule["reason"]) for rule in json.loads(ran.out)["rules"]}


def test_a_line_that_another_file_makes_hot(torchlint: Torchlint, project: Path) -> None:
    shutil.copytree(_SEGMENTER, project, dirs_exist_ok=True)
    ran = torchlint("explain", "src/segmenter/utils/metrics.py:12")
    assert ran.out.startswith(
        "src/segmenter/utils/metrics.py:12, in `Meter.update`\n"
        "12 |         self.total += value.item() * count  # TL101\n"
        "read together with 14 other files of its project\n"
        "\n"
        "Hot: it runs once per step\n"
        "  `Meter.update` is called here (src/segmenter/engine/trainer.py:26:13)\n"
        "  this loop runs backward on every step (src/segmenter/engine/trainer.py:21:9)\n"
    )
    text = told(ran)
    assert "value tensor on the device or the host, without a graph, 0 dimensions (likely)" in text
    assert "passed for `value` (src/segmenter/engine/trainer.py:26:13)" in text
    assert "TL101 sync-scalar-read: reported (" in text


@pytest.mark.parametrize(
    ("row", "hot", "why"),
    [
        (READ, True, ["this loop runs backward on every step (train.py:6:5)"]),
        (GATED, False, ["this condition holds now and then, not on every step (train.py:12:12)"]),
        (SAVED, False, ["no loop of steps is around it in `save`, and no call of it is seen (train.py:19:1)"]),
        (1, False, ["no loop of steps is around it, and a module's own code runs once"]),
        (
            34,
            False,
            ["this switch is left as it is by every call that is seen, which keeps the branch out (train.py:33:12)"],
        ),
        (28, False, ["an exception handler runs where something failed (train.py:27:5)"]),
        (4, False, ["no loop of steps is around it in `train`, and no call of it is seen (train.py:4:1)"]),
    ],
)
def test_why_it_is_hot_or_not(torchlint: Torchlint, train: Path, row: int, hot: bool, why: list[str]) -> None:
    text = told(torchlint("explain", f"train.py:{row}"))
    assert ("Hot: it runs once per step" in text) is hot
    assert ("Not hot" in text) is not hot
    assert all(reason in text for reason in why)


def test_a_header_tells_what_each_round_is(torchlint: Torchlint, train: Path) -> None:
    assert "each round of the loop here is one of steps" in told(torchlint("explain", "train.py:6"))


@pytest.mark.parametrize(
    ("row", "options", "outcome", "reason"),
    [
        (READ, (), "reported", "low impact, likely"),
        (READ, ("--ignore=TL101",), "deselected", "ignored, or not selected"),
        (READ, ("--min-confidence=sure",), "below min-confidence", "likely, and min-confidence is sure"),
        (READ, ("--min-impact=high",), "below min-impact", "low, and min-impact is high"),
        (READ, ("--per-file-ignores=train.py:TL1",), "deselected", "switched off for this file by per-file-ignores"),
        (SILENCED, (), "suppressed", f"by the comment in line {SILENCED}"),
        (GATED, (), "silent", "the line is not hot"),
        (ON_HOST, (), "silent", "`shown` is taken to be on the host"),
    ],
)
def test_what_became_of_a_rule(
    torchlint: Torchlint, train: Path, row: int, options: tuple[str, ...], outcome: str, reason: str
) -> None:
    ran = torchlint("explain", f"train.py:{row}", "--output-format=json", *options)
    assert outcomes(ran)["TL101"] == (outcome, reason)


def test_asking_changes_nothing_that_is_asked_next(torchlint: Torchlint, train: Path) -> None:
    """Rules are asked again as if the line were hot: the next question is about the line as it is."""
    both = torchlint("explain", f"train.py:{GATED}", "--output-format=json")
    assert json.loads(both.out)["hot"] is False
    assert {outcome for outcome, _ in outcomes(both).values()} == {"silent"}


def test_what_a_baseline_accepts(torchlint: Torchlint, train: Path) -> None:
    assert torchlint("baseline", "create", "--baseline=known.json", ".").status == 0
    ran = torchlint("explain", f"train.py:{READ}", "--baseline=known.json", "--output-format=json")
    assert outcomes(ran)["TL101"] == ("baseline", "accepted by known.json")


def test_json_holds_the_values_as_data(torchlint: Torchlint, train: Path) -> None:
    data = json.loads(torchlint("explain", f"train.py:{READ}", "--output-format=json").out)
    (loss,) = (value for value in data["values"] if value["text"] == "loss")
    assert (loss["kind"], loss["device"], loss["graph"]) == ("tensor", ["device"], ["attached"])
    place = {"filename": "train.py", "cell": None, "location": {"row": 7, "column": 16}}
    assert loss["sources"] == [{"message": "made here", **place}]
    assert data["chain"][0]["location"] == {"row": 6, "column": 5}


def test_a_statement_over_several_lines_is_told_as_a_whole(torchlint: Torchlint, train: Path) -> None:
    assert json.loads(torchlint("explain", f"train.py:{SAVED}", "--output-format=json").out)["rows"] == [21, 24]


def test_a_place_with_a_column_as_reports_write_it(torchlint: Torchlint, train: Path) -> None:
    assert torchlint("explain", f"train.py:{READ}:15").out == torchlint("explain", f"train.py:{READ}").out


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("train.py", "'train.py' is no place: write FILE:LINE, such as train.py:12"),
        ("train.py:99", "train.py:99: there is no such line; the file has 35"),
        ("train.py:0", "train.py:0: there is no such line; the file has 35"),
        ("train.py:2", "train.py:2: holds no code"),
        ("train.py:20", "train.py:20: holds no code"),
        ("gone.py:1", "gone.py: cannot be read: No such file or directory"),
        ("notes.txt:1", "notes.txt: is not a Python file, as its name tells"),
        ("book.ipynb:1", "book.ipynb: is a notebook; explain reads Python files"),
        ("broken.py:1", "broken.py:1: invalid syntax: '(' was never closed"),
    ],
)
def test_what_cannot_be_explained_is_said_in_a_line(
    torchlint: Torchlint, train: Path, place: str, message: str
) -> None:
    for name, text in (("notes.txt", "x\n"), ("book.ipynb", "{}"), ("broken.py", "import torch; f(\n")):
        Path(name).write_text(text)
    assert torchlint("explain", place) == Ran(2, "", f"error: {message}\n")


def test_colours_are_for_terminals_and_the_source_cannot_forge_any(
    torchlint: Torchlint, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.py").write_text("import torch\nx = torch.zeros(1); y = '\x1b[2J'; x.item()\n")
    assert "\x1b" not in torchlint("explain", "a.py:2").out
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = torchlint("explain", "a.py:2").out
    assert "\x1b[1m" in coloured
    assert "\x1b[2J" not in coloured
