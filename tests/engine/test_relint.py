"""After an edit the findings are those of a program that is read as a whole, and only a part of it is read."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies

from tests.engine.programs import HELPERS, TRAIN
from torchlint.engine import relint
from torchlint.engine.lint import Part
from torchlint.engine.notebooks import lint_documents
from torchlint.engine.run import check
from torchlint.engine.selection import catalogue
from torchlint.engine.settings import Settings
from torchlint.findings import Confidence, Finding

_SEGMENTER = Path(__file__).parents[1] / "project" / "segmenter"
_CODES = frozenset(info.code for info in catalogue())

# What people do to a file, as patterns and what takes the place of one of their matches.
_EDITS = {
    "add a function": (r"\Z", "\n\ndef added(loss):\n    return loss.item()\n"),
    "add a line on top": (r"\A", "# moved\n"),
    "read a number": (r"(?<=[\w)]) = [\w.]+\([\w., ]*\)$", r"\g<0>.item()"),
    "print it": (r"^( +)(\w+) = .*\)$", r"\g<0>\n\1print(\2)"),
    "repeat": (r"^( +)(\w[\w.]*\(.*\))$", r"\1for _ in range(9):\n\1    \2"),
    "say it twice": (r"^( +\w[\w.]*\(.*\)\n)", r"\1\1"),
    "leave out": (r"^( +)\w[\w.]*(?: =|\().*\)$", r"\1pass"),
    "keep the graph": (r"with torch\.\w+\(\):", "if True:"),
    "keep it on the host": (r"cuda", "cpu"),
    "rename a function": (r"\bdef ([a-z])(\w+)\(", r"def \1\2_now("),
    "rename a class": (r"^class (\w+)", r"class \1Now"),
    "leave out an import": (r"^from \S+ import .*\n", ""),
    "pass something on": (r"^from (\S+) import (\w+)$", r"\g<0>\nfrom torch import nn as other"),
    "override": (r"^( +)def (\w+)\(self", r"\1def on_step(self, step, loss):\n\1    print(loss)\n\n\g<0>"),
    "break": (r"^def ", "def def "),
}


@pytest.fixture(scope="module", autouse=True)
def parts() -> Iterator[None]:
    """Let a small program be read in parts as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relint, "_SMALL", 1_000_000)
        yield


def lint(root: Path, *paths: str, cache: bool = True) -> list[Finding]:
    folder = root / ".cache" if cache else None
    options = Settings(
        root=root,
        rules=_CODES,
        cache_dir=folder,
        jobs=1,
        min_confidence=Confidence.POSSIBLE,
        config_file=root / "x.toml",
    )
    result = check([root / path for path in paths or [""]], options)
    assert result.errors == []
    return result.findings


def edited(text: str, kind: str, which: int) -> str:
    pattern, replacement = _EDITS[kind]
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if not matches:
        return text
    match = matches[which % len(matches)]
    return text[: match.start()] + match.expand(replacement) + text[match.end() :]


@settings(max_examples=12, deadline=None)
@given(
    strategies.lists(
        strategies.tuples(
            strategies.integers(0, 99), strategies.sampled_from(sorted(_EDITS)), strategies.integers(0, 9)
        ),
        min_size=1,
        max_size=2,
    )
)
@example([(82, "leave out", 3), (34, "leave out an import", 0)])  # a name goes that others import through a third file
def test_the_findings_are_those_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, str, int]]
) -> None:
    root = shutil.copytree(_SEGMENTER, tmp_path_factory.mktemp("edits") / "project")
    lint(root)
    files = sorted(root.rglob("*.py"))
    for number, kind, which in edits:
        path = files[number % len(files)]
        path.write_text(edited(path.read_text(), kind, which))
        assert lint(root) == lint(root, cache=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return shutil.copytree(_SEGMENTER, tmp_path / "project")


@pytest.fixture
def read_in_parts(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The files that are linted in each part that is read; a program must not be read as a whole."""
    parts: list[set[str]] = []
    lint_part = lint_documents

    def note(documents: relint.Documents, modules: object, part: Part, *, tell: bool) -> object:
        parts.append({documents[number][2].name for number in part.linted})
        return lint_part(documents, modules, part, tell=tell)  # type: ignore[arg-type]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("all of it is read")

    monkeypatch.setattr(relint, "lint_documents", note)
    monkeypatch.setattr("torchlint.engine.job.lint_documents", refuse)
    return parts


@pytest.mark.parametrize("named", ["", "scripts/train.py"])
def test_a_file_that_tells_nothing_new_is_linted_alone(
    project: Path, request: pytest.FixtureRequest, named: str
) -> None:
    lint(project)
    parts = request.getfixturevalue("read_in_parts")
    path = project / "scripts/train.py"
    path.write_text(path.read_text() + "\n\ndef show(loss):\n    print(loss.item())\n")
    lint(project, named)
    assert parts[-1] == {"train.py"}


OTHER = "import torch\nfrom helpers import log\n\n\ndef show(path):\n    log(torch.load(path))\n"


def test_what_a_file_makes_hot_elsewhere_is_linted_with_it(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for name, text in (("helpers.py", HELPERS), ("train.py", TRAIN), ("other.py", OTHER)):
        (tmp_path / name).write_text(text)
    before = lint(tmp_path)
    parts = request.getfixturevalue("read_in_parts")
    (tmp_path / "train.py").write_text(
        TRAIN.replace("        log(loss)", "        if step % 100 == 0:\n            log(loss)")
    )
    after = lint(tmp_path)
    assert [(Path(finding.filename).name, finding.related != ()) for finding in before] == [("helpers.py", True)]
    assert [(Path(finding.filename).name, finding.related != ()) for finding in after] == [("helpers.py", False)]
    assert parts[-1] == {"helpers.py", "train.py"}


HOOKS = """\
class Hook:
    def on_step(self, loss):
        pass


class Shown(Hook):
    def on_step(self, loss):
        print(1)


def call(hooks, name, loss):
    for hook in hooks:
        getattr(hook, name)(loss)
"""
CALLS = TRAIN.replace("import log", "import call").replace("helpers", "hooks").replace("log(", "call([], 'on_step', ")
METER = """\
from hooks import Hook


class Meter(Hook):
    def on_step(self, loss):
        self.last = 0
"""


def test_a_hook_called_by_its_name_is_read_again(tmp_path: Path) -> None:
    for name, text in (("hooks.py", HOOKS), ("train.py", CALLS), ("meter.py", METER)):
        (tmp_path / name).write_text(text)
    assert lint(tmp_path) == []
    (tmp_path / "meter.py").write_text(METER.replace("= 0", "= loss.item()"))
    hot = lint(tmp_path)
    assert [(Path(finding.filename).name, finding.code) for finding in hot] == [("meter.py", "TL101")]
    (tmp_path / "train.py").write_text(CALLS.replace("'on_step'", "'on_end'"))
    assert lint(tmp_path) == lint(tmp_path, cache=False)


def test_a_place_that_explains_moves_with_its_line(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for name, text in (("helpers.py", HELPERS), ("train.py", TRAIN)):
        (tmp_path / name).write_text(text)
    rows = [related.start.row for finding in lint(tmp_path) for related in finding.related]
    parts = request.getfixturevalue("read_in_parts")
    (tmp_path / "train.py").write_text("# moved\n\n" + TRAIN)
    assert rows
    assert [related.start.row for finding in lint(tmp_path) for related in finding.related] == [row + 2 for row in rows]
    assert parts[-1] == {"train.py"}


_STEPS = """\
    for batch in loader:
        loss = net(batch.cuda()).mean()
        loss.backward()
        optimizer.step()
"""
_STATE = """\
import torch


class State:
    def __init__(self):
        self.x = torch.zeros(1)

    def show(self):
        print(self.x.item())


class Other:
    def __init__(self):
        self.y = torch.zeros(1)


S = State()
T = Other()
"""
_LOOP = "def train(net, loader, optimizer):\n" + _STEPS
_SHOWN = f"import torch\nimport feed, there, back\nfrom state import S\n\n\n{_LOOP}        S.show()\n"
_USE = _LOOP + "        print(torch.ones(3, device={}).item())\n"
_CONF = 'import torch\nDEVICE = "cuda"\n'
_DEEP = f"import torch\nimport lab.sub.low\n\n\n{_LOOP}        print(lab.sub.low.log)\n"

# What an edit reached and the part that was read did not see: the files, and what is written in one of them instead.
_SUBTLE = {
    "an import behind a semicolon": (
        {
            "conf.py": _CONF,
            "use.py": "import torch; from conf import DEVICE\nimport conf\n\n\n" + _USE.format("DEVICE"),
        },
        ("conf.py", "cuda", "cpu"),
    ),
    "an import on the line of its condition": (
        {
            "conf.py": _CONF,
            "use.py": "import torch, other\nif True: from conf import DEVICE\n\n\n" + _USE.format("DEVICE"),
        }
        | {"other.py": "import conf\n"},
        ("conf.py", "cuda", "cpu"),
    ),
    "an import in a function": (
        {
            "conf.py": _CONF,
            "use.py": "import torch\n\n\n"
            + _USE.format("c.DEVICE").replace("    for", "    import conf as c\n    for"),
        },
        ("conf.py", "cuda", "cpu"),
    ),
    "a module that is passed on": (
        {
            "conf.py": _CONF,
            "top.py": "import conf\nfrom use import train\n\n\ndef main(n, l, o):\n    train(n, l, o, conf)\n",
            "use.py": "import torch\n\n\n" + _USE.format("c.DEVICE").replace("optimizer)", "optimizer, c)"),
        },
        ("conf.py", "cuda", "cpu"),
    ),
    "a package on the way to a name": (
        {"lab/__init__.py": "", "lab/sub/__init__.py": "", "lab/sub/low.py": HELPERS, "train.py": _DEEP},
        ("train.py", "        print(lab.sub.low.log)", "        lab.sub.low.log(loss)"),
    ),
    "an attribute that goes round, and comes from a module as it runs": (
        {
            "state.py": _STATE,
            "train.py": _SHOWN,
            "feed.py": "import torch\nfrom state import S\nS.x = torch.ones(1).cuda()\n",
            "there.py": "from state import S, T\n\n\ndef there():\n    T.y = S.x\n",
            "back.py": "from state import S, T\n\n\ndef back():\n    S.x = T.y\n",
        },
        ("feed.py", ".cuda()", ""),
    ),
    "a field of a data class": (
        {
            "conf.py": "import dataclasses\n\n\n@dataclasses.dataclass\nclass Conf:\n    device: str\n",
            "make.py": 'from conf import Conf\n\n\ndef make():\n    return Conf("cuda")\n',
            "top.py": "from make import make\nfrom use import train\n\n\ndef run(n, l, o): train(n, l, o, make())\n",
            "use.py": "import torch\nfrom conf import Conf\n\n\n"
            + _USE.format("c.device").replace("optimizer)", "optimizer, c: Conf)"),
        },
        ("make.py", "cuda", "cpu"),
    ),
    "a name that an empty package does not bind": (
        {
            "lab/__init__.py": "",
            "lab/low.py": HELPERS,
            "lab/top.py": "import torch\nfrom lab import missing\nfrom lab.low import log\n\n\n"
            "def run(x: torch.Tensor, net, flag):\n    for y in net.layers:\n"
            "        missing(x, flag=flag)\n        print(log)\n",
        },
        ("lab/top.py", "print(log)", "log(x)"),
    ),
    "a module that is gone, and all of which is imported": (
        {
            "lab/__init__.py": "from .gone import *\nfrom .low import *\n",
            "lab/low.py": HELPERS,
            "train.py": TRAIN.replace("from helpers", "from lab"),
        },
        ("train.py", "        log(loss)", "        print(log)"),
    ),
    "a row that ends as on an old Macintosh": (
        {"helpers.py": HELPERS + "# a\rx = 1\n", "train.py": TRAIN},
        ("train.py", "        log(loss)", "        print(log)"),
    ),
    "the workers of a loader, by their number": (
        {
            "rows.py": "import torch\nfrom torch.utils.data import Dataset\n\n\nclass Rows(Dataset):\n"
            "    def __getitem__(self, at):\n        return torch.ones(at).cuda()\n",
            "feed.py": "from torch.utils.data import DataLoader\nfrom rows import Rows\n\n\n"
            "def feed(workers):\n    return DataLoader(Rows(), num_workers=workers)\n",
            "top.py": "from feed import feed\n\n\ndef top():\n    return feed(4)\n",
        },
        ("top.py", "4", "0"),
    ),
    "a mixin of a class below": (
        {
            "base.py": "class Base:\n    def fit(self, net, loader, optimizer):\n"
            + _STEPS.replace("    ", "        ", 1).replace("\n    ", "\n        ")
            + "            self.after(loss)\n",
            "logs.py": "import torch\n\n\nclass Logs:\n    def after(self, loss):\n        print(loss.item())\n",
            "main.py": "from base import Base\nfrom logs import Logs\n\n\nclass Trainer(Logs, Base):\n    pass\n",
        },
        ("main.py", "Logs, ", ""),
    ),
    "what a clock in another file times": (
        {
            "ticks.py": "import time\nfrom contextlib import contextmanager\n\n\n@contextmanager\ndef timed():\n"
            "    start = time.time()\n    yield\n    print(time.time() - start)\n",
            "work.py": "import torch\n\n\ndef work(a):\n    a @ a\n",
            "main.py": "import torch\nfrom ticks import timed\nfrom work import work\n\n\ndef main():\n"
            "    a = torch.ones(9, 9).cuda()\n    work(a)\n    with timed():\n        work(a)\n",
        },
        ("work.py", "a @ a", "a.tolist()"),
    ),
    "a class named within quotes": (
        {
            "hooks.py": "class Hook:\n    def run(self, x):\n        return x\n",
            "use.py": "import torch\nfrom typing import Optional\nfrom hooks import Hook\n\n\n"
            f"def train(net, loader, optimizer, hook: 'Optional[Hook]'):\n{_STEPS}        hook.run(loss)\n",
        },
        ("hooks.py", "return x", "print(x.item())"),
    ),
}


@pytest.mark.parametrize("name", _SUBTLE)
def test_no_way_from_file_to_file_is_missed(tmp_path: Path, name: str) -> None:
    files, (edited_file, before, after) = _SUBTLE[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    first = lint(tmp_path)
    text = files[edited_file]
    assert before in text
    (tmp_path / edited_file).write_bytes(text.replace(before, after).encode())
    assert lint(tmp_path) == lint(tmp_path, cache=False) != first
