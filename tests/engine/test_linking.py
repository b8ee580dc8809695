"""Which files are linted together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from torchlint.engine import linking
from torchlint.engine.job import Job
from torchlint.engine.linking import groups
from torchlint.engine.settings import Settings

TORCH = "import torch\n"


def write(root: Path, **files: str) -> list[Job]:
    """Files by name, `__` for a slash, in order; an `init` is the `__init__` of its folder."""
    jobs = []
    for name, source in files.items():
        *folders, last = name.split("__")
        path = root.joinpath(*folders, ("__init__" if last == "init" else last) + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        jobs.append(Job(path, str(path), Settings(root=root)))
    return jobs


def together(jobs: list[Job]) -> set[frozenset[str]]:
    """The groups of several files, by their names."""
    return {
        frozenset(jobs[number].path.stem for number in group.numbers)
        for group in groups(jobs)
        if len(group.numbers) > 1
    }


@pytest.mark.parametrize(
    "line",
    [
        "import helpers",
        "import helpers as h",
        "import os, helpers",
        "from helpers import f",
        "from helpers import *",
        "from helpers import (\n    f,  # comment\n    g,\n)",
        "def late():\n    from helpers import f",
        "from . import helpers",
        "from .helpers import f as g",
        "from.helpers import(f)",
        "from . import \\\n    helpers",
        "import os; from helpers import f",
        "if True: import helpers",
    ],
)
def test_a_file_goes_with_what_it_imports(tmp_path: Path, line: str) -> None:
    jobs = write(tmp_path, helpers=TORCH, train=f"{line}\n", other=TORCH)
    assert together(jobs) == {frozenset({"helpers", "train"})}


def test_imports_of_imports_go_together_and_circles_end(tmp_path: Path) -> None:
    jobs = write(tmp_path, a=TORCH + "import b\n", b="import c\n", c="import a\n", alone=TORCH)
    assert together(jobs) == {frozenset("abc")}


def test_every_file_is_in_one_group(tmp_path: Path) -> None:
    jobs = write(tmp_path, a=TORCH + "import b\n", b="x = 1\n", c="import missing\n", d="")
    numbers = [number for group in groups(jobs) for number in group.numbers]
    assert sorted(numbers) == list(range(len(jobs)))


def test_files_without_torch_are_linted_alone(tmp_path: Path) -> None:
    assert together(write(tmp_path, a="import b\n", b="x = 1\n")) == set()


def test_a_namespace_package_and_a_source_folder_are_looked_into(tmp_path: Path) -> None:
    jobs = write(
        tmp_path,
        src__net__init="",
        src__net__parts__block=TORCH,
        scripts__train="from net.parts.block import Block\n",
        other__block=TORCH,
    )
    (group,) = (group for group in groups(jobs) if len(group.numbers) > 1)
    assert [jobs[number].path.relative_to(tmp_path).as_posix() for number in group.numbers] == [
        "scripts/train.py",
        "src/net/parts/block.py",
    ]


def test_a_package_is_known_by_its_init_also_where_that_is_not_linted(tmp_path: Path) -> None:
    jobs = write(tmp_path, net__init="", net__logging=TORCH, net__train=TORCH + "import logging\n")
    assert together(jobs[1:]) == set()


def test_a_notebook_goes_with_what_it_imports_and_nothing_imports_it(tmp_path: Path) -> None:
    helpers, other, same = write(tmp_path, helpers=TORCH, other=TORCH + "import a\n", a=TORCH)
    notebook = Job(tmp_path / "a.ipynb", "a.ipynb", helpers.settings)
    cells = [{"cell_type": "code", "source": source} for source in ("!ls it's\nimport sys", "%time\nimport helpers")]
    notebook.path.write_text(json.dumps({"cells": cells}))
    jobs = [helpers, other, same, notebook]
    assert {frozenset(jobs[number].path.name for number in group.numbers) for group in groups(jobs)} == {
        frozenset({"helpers.py", "a.ipynb"}),
        frozenset({"other.py", "a.py"}),
    }


def test_of_a_notebook_code_and_ids_decide_and_outputs_do_not(tmp_path: Path) -> None:
    (helpers,) = write(tmp_path, helpers=TORCH)

    def digest(**more: object) -> bytes:
        data = json.dumps({"cells": [{"cell_type": "code", "source": "import helpers", **more}]}).encode()
        (group,) = groups([helpers, Job(tmp_path / "a.ipynb", "a.ipynb", helpers.settings, data)])
        return group.digest

    assert digest(outputs=[1]) == digest(outputs=[2])
    assert len({digest(), digest(id="a"), digest(source="import helpers as h")}) == 3


def test_what_is_no_notebook_hinders_no_other(tmp_path: Path) -> None:
    jobs = write(tmp_path, helpers=TORCH, train="import helpers\n")
    jobs.append(Job(tmp_path / "a.ipynb", "a.ipynb", jobs[0].settings, b"{"))
    assert together(jobs) == {frozenset({"helpers", "train"})}


def test_content_that_is_not_yet_written_counts_for_the_file(tmp_path: Path) -> None:
    helpers, train = write(tmp_path, helpers=TORCH, train="x = 1\n")
    assert together([helpers, replace(train, data=b"import helpers\n")]) == {frozenset({"helpers", "train"})}


def test_a_file_that_cannot_be_read_hinders_no_other(tmp_path: Path) -> None:
    jobs = write(tmp_path, a=TORCH + "import b\nimport gone\n", b="x = 1\n", gone=TORCH)
    jobs[2].path.unlink()
    assert together(jobs) == {frozenset("ab")}


def test_a_large_group_is_divided_by_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = write(
        tmp_path,
        one__a=TORCH + "from one import b\nfrom two import c\n",
        one__b=TORCH,
        two__c=TORCH + "from two import d\n",
        two__d=TORCH,
    )
    assert together(jobs) == {frozenset("abcd")}
    monkeypatch.setattr(linking, "_LARGEST", sum(len(job.path.read_bytes()) for job in jobs) - 1)
    assert together(jobs) == {frozenset("ab"), frozenset("cd")}
    monkeypatch.chdir(tmp_path)
    jobs[0] = Job(Path("one/a.py"), "one/a.py", jobs[0].settings)
    assert together(jobs) == {frozenset("ab"), frozenset("cd")}


def test_the_digest_follows_content_and_layout_and_not_where_the_project_lies(tmp_path: Path) -> None:
    def digest(root: str, **files: str) -> bytes:
        (group,) = groups(write(tmp_path / root, **files))
        return group.digest

    files = {
        "net__init": "",
        "net__a": TORCH + "from . import b\n",
        "net__b": "x = 1\n",
        "train": "import net.a, net.b\n",
    }
    files["net__init"] = "from . import a\n"
    first = digest("first", **files)
    assert digest("second", **files) == first
    assert digest("third", **{**files, "net__b": "x = 2\n"}) != first
    moved = {name.replace("net__", "lib__net__"): source for name, source in files.items()}
    assert digest("fourth", **moved) != first


def test_files_named_from_here_go_with_files_named_from_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = write(tmp_path, helpers=TORCH, train="import helpers\n")
    monkeypatch.chdir(tmp_path)
    assert together([Job(Path("helpers.py"), "helpers.py", first.settings), second]) == {
        frozenset({"helpers", "train"})
    }
