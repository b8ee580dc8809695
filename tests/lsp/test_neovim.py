"""A real editor: headless Neovim, from the version that Debian ships (0.7), which has positions pushed in UTF-16."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lsp.conftest import LOOP, PATIENCE, ROW

NEOVIM = shutil.which("nvim")


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_neovim_shows_a_finding_explains_it_and_repairs_it(tmp_path: Path) -> None:
    file, output = tmp_path / "train.py", tmp_path / "seen.json"
    text = LOOP.replace("    total", "    '𝕏'; total")
    file.write_text(text)
    arguments = {
        "command": [sys.executable, "-m", "torchlint", "server"],
        "root": str(tmp_path),
        "output": str(output),
        "patience": int(PATIENCE * 1000),
        "choice": "Detach",
    }
    (tmp_path / "init.lua").write_text(f"ARGUMENTS = vim.fn.json_decode([==[{json.dumps(arguments)}]==])\n")
    script = Path(__file__).parent / "editor.lua"
    run = subprocess.run(
        [NEOVIM or "", "--headless", "-n", "-u", tmp_path / "init.lua", "-i", "NONE", file, "-S", script],
        capture_output=True,
        text=True,
        timeout=6 * PATIENCE,
        check=False,
    )
    assert output.exists(), run.stderr
    seen = json.loads(output.read_text())
    assert "timeout" not in seen, run.stderr
    (found,) = seen["before"]
    assert (found["code"], found["row"], found["source"]) == ("TL601", ROW, "torchlint")
    line = text.split("\n")[ROW]
    assert found["column"] == len(line[: line.index("total")].encode())  # Neovim counts bytes
    assert seen["shown"] >= 1
    assert "retained-graph-sum (TL601)" in seen["hover"]
    assert any("Suppress TL601" in choice for choice in seen["choices"])
    assert seen["text"] == text.replace("+= loss", "+= loss.detach()").rstrip("\n")
    assert seen["after"] == []
    assert seen["stopped"]
    assert file.read_text() == text.replace("+= loss", "+= loss.detach()")
