"""Which file a module's name means, told from where the files lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.source.modules import Modules

LAYOUT = """
/w/train.py
/w/logging.py
/w/torch/tensors.py
/w/src/net/__init__.py
/w/src/net/layers.py
/w/src/net/logging.py
/w/src/net/train.py
/w/src/net/parts/block.py
/w/src/other/__init__.py
/w/tests/test_net.py
/w/tests/helpers.py
/w/tools/deep/run.py
/w/tools/helpers.py
/w/space/inner/code.py
/w/libs/far/src/distant/__init__.py
/w/libs/far/src/distant/work.py
/w/libs/far/src/loose.py
""".split()

MODULES = Modules.of((number, Path(path)) for number, path in enumerate(LAYOUT))


def where(found: tuple[tuple[str, ...], tuple[str, ...]] | None) -> tuple[str, str] | None:
    """The file that was found, and the rest of the name."""
    return None if found is None else (LAYOUT[MODULES.numbers[found[0]]], ".".join(found[1]))


def asking(path: str) -> tuple[str, ...]:
    return MODULES.places[LAYOUT.index(path)]


@pytest.mark.parametrize(
    ("path", "name", "file", "rest"),
    [
        pytest.param("/w/train.py", "net.layers.Linear", "/w/src/net/layers.py", "Linear", id="below src"),
        pytest.param("/w/tests/test_net.py", "net", "/w/src/net/__init__.py", "", id="below src, from the tests"),
        pytest.param("/w/src/net/layers.py", "net.train", "/w/src/net/train.py", "", id="the package by its own name"),
        pytest.param("/w/src/net/layers.py", "other", "/w/src/other/__init__.py", "", id="the package beside it"),
        pytest.param("/w/train.py", "net.parts.block.Block", "/w/src/net/parts/block.py", "Block", id="namespace part"),
        pytest.param("/w/train.py", "space.inner.code", "/w/space/inner/code.py", "", id="namespace package"),
        pytest.param("/w/tests/test_net.py", "helpers", "/w/tests/helpers.py", "", id="the nearest of two"),
        pytest.param("/w/tools/deep/run.py", "tools.helpers.f", "/w/tools/helpers.py", "f", id="from the root"),
        pytest.param("/w/train.py", "distant.work", "/w/libs/far/src/distant/work.py", "", id="installed from afar"),
        pytest.param("/w/train.py", "net.missing.f", "/w/src/net/__init__.py", "missing.f", id="no such module"),
    ],
)
def test_an_absolute_name(path: str, name: str, file: str, rest: str) -> None:
    assert where(MODULES.absolute(name, asking(path))) == (file, rest)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        pytest.param("/w/src/net/train.py", "layers", id="a module of its package is not imported without it"),
        pytest.param("/w/train.py", "layers", id="what is in a package is not imported without it"),
        pytest.param("/w/train.py", "helpers", id="what lies in another folder"),
        pytest.param("/w/train.py", "loose", id="a module without a package, from afar"),
        pytest.param("/w/train.py", "torch.tensors", id="torch is torch"),
        pytest.param("/w/train.py", "torch", id="a folder that is named as it"),
        pytest.param("/w/train.py", "space", id="a folder of which no module is named"),
        pytest.param("/w/train.py", "sklearn.linear_model", id="what is not here"),
    ],
)
def test_a_name_that_means_no_file(path: str, name: str) -> None:
    assert MODULES.absolute(name, asking(path)) is None


def test_a_script_finds_what_lies_beside_it_and_a_package_does_not() -> None:
    assert where(MODULES.absolute("logging", asking("/w/train.py"))) == ("/w/logging.py", "")
    found = where(MODULES.absolute("logging", asking("/w/src/net/train.py")))
    assert found != ("/w/src/net/logging.py", "")


@pytest.mark.parametrize(
    ("path", "level", "name", "file", "rest"),
    [
        ("/w/src/net/train.py", 1, "layers.Linear", "/w/src/net/layers.py", "Linear"),
        ("/w/src/net/train.py", 1, "", "/w/src/net/__init__.py", ""),
        ("/w/src/net/__init__.py", 1, "layers", "/w/src/net/layers.py", ""),
        ("/w/src/net/parts/block.py", 2, "layers", "/w/src/net/layers.py", ""),
        ("/w/tools/deep/run.py", 2, "helpers.f", "/w/tools/helpers.py", "f"),
    ],
)
def test_a_relative_name(path: str, level: int, name: str, file: str, rest: str) -> None:
    assert where(MODULES.relative(level, name, asking(path))) == (file, rest)


def test_a_relative_name_that_leaves_the_tree_means_nothing() -> None:
    assert MODULES.relative(9, "layers", asking("/w/src/net/train.py")) is None


def test_a_place_is_found_again_by_its_name_and_by_no_import() -> None:
    place = asking("/w/src/net/layers.py")
    name = MODULES.name(place)
    assert MODULES.absolute(f"{name}.Linear", asking("/w/tools/deep/run.py")) == (place, ("Linear",))
    assert MODULES.absolute(name.lstrip("/"), asking("/w/tools/deep/run.py")) is None


def test_a_part_knows_its_files_only() -> None:
    numbers = [LAYOUT.index("/w/src/net/layers.py"), LAYOUT.index("/w/train.py")]
    part = MODULES.part(numbers)
    place = asking("/w/src/net/layers.py")
    assert part.absolute("net.layers.Linear", asking("/w/train.py")) == (place, ("Linear",))
    assert part.numbers[place] == 0
    assert part.absolute("net.train", asking("/w/train.py")) is None
