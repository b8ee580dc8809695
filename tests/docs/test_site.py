"""The documentation site: it builds without a broken link, and what it tells people to paste works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.lsp.conftest import LOOP, PATIENCE
from torchlint.engine.selection import catalogue
from torchlint.engine.settings import OPTIONS
from torchlint.rules import pages

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SNIPPETS = ROOT / "docs" / "snippets"
NEOVIM = shutil.which("nvim")
EMACS = shutil.which("emacs")
WITH_TORCHLINT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return folder


def test_every_rule_has_its_page(site: Path) -> None:
    for rule in catalogue():
        page = site / "rules" / f"{rule.code}-{rule.name}" / "index.html"
        assert rule.code not in pages.codes() or page.is_file(), rule.code
    listed = (site / "rules" / "index.html").read_text(encoding="utf-8")
    assert all(rule.name in listed for rule in catalogue())


def test_the_blocks_of_a_page_are_highlighted_code(site: Path) -> None:
    (page,) = (site / "rules").glob("TL601-*/index.html")
    text = page.read_text(encoding="utf-8")
    assert "```" not in text
    assert text.count(">Reported<") >= 1
    assert text.count(">Repaired<") >= 1


def test_every_key_and_the_schema_are_there(site: Path) -> None:
    text = (site / "reference" / "configuration" / "index.html").read_text(encoding="utf-8")
    assert all(f"<code>{key}</code>" in text for key in OPTIONS)
    schema = json.loads((site / "schema.json").read_text(encoding="utf-8"))
    assert set(schema["properties"]) == set(OPTIONS)


def test_the_site_is_searchable_and_loads_nothing_from_elsewhere(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert {"guide/questions/", "rules/"} <= {entry["location"].split("#")[0] for entry in index["docs"]}
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', page.read_text(encoding="utf-8"))
        assert not loaded, page


def test_every_snippet_is_shown_and_parses() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    for snippet in SNIPPETS.iterdir():
        assert f'--8<-- "{snippet.name}"' in shown
        text = snippet.read_text(encoding="utf-8")
        match snippet.suffix:
            case ".yml" | ".yaml":
                assert yaml.safe_load(text)
            case ".json":
                assert json.loads(text)
            case ".toml":
                assert tomllib.loads(text)
            case ".el":
                assert text.count("(") == text.count(")")


WAIT = """
local ok = vim.wait({patience}, function() return #vim.diagnostic.get(0) > 0 end, 20)
print(ok and vim.diagnostic.get(0)[1].code or "nothing")
for _, client in ipairs(vim.lsp.get_active_clients()) do client.stop() end
vim.cmd("qa!")
"""


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_the_set_up_for_old_neovim_attaches(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LOOP)
    (tmp_path / "wait.lua").write_text(WAIT.format(patience=int(PATIENCE * 1000)))
    run = subprocess.run(
        [
            NEOVIM or "",
            "--headless",
            "-n",
            "-i",
            "NONE",
            "-u",
            SNIPPETS / "neovim_07.lua",
            "-c",
            "filetype on",
            "-c",
            "edit a.py",
            "-S",
            "wait.lua",
        ],
        cwd=tmp_path,
        env=WITH_TORCHLINT,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    assert "TL601" in run.stdout + run.stderr


def emacs(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EMACS or "", "--batch", "--eval", "(package-initialize)", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )


@pytest.mark.skipif(EMACS is None, reason="Emacs is not installed")
@pytest.mark.parametrize("client", ["eglot", "lsp-mode"])
def test_the_set_up_for_emacs_shows_a_finding_and_repairs_it(tmp_path: Path, client: str) -> None:
    if emacs(tmp_path, "--eval", f"(require '{client})").returncode:
        pytest.skip(f"{client} is not installed")
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(LOOP)
    given = f"(setq client '{client} patience {PATIENCE:.0f} lsp-auto-guess-root t)"
    script = Path(__file__).parent / "editor.el"
    run = emacs(tmp_path, "--load", SNIPPETS / f"{client}.el", "--eval", given, "--load", script)
    assert run.returncode == 0, run.stderr
    assert re.search(r"found \(.*TL601", run.stderr)
    assert (tmp_path / "train.py").read_text() == LOOP.replace("+= loss", "+= loss.detach()")
