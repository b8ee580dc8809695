"""`torchlint init`: a configuration and a hook to start from."""

from __future__ import annotations

import json
import os
import textwrap
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import click

from torchlint import __version__
from torchlint.cli import console
from torchlint.cli.files import write_atomically

__all__ = ["hook", "init", "requirement", "template"]

# What a project is likely to set, in this order; `torchlint config` lists the rest.
_SHOWN = (
    "extend-select",
    "ignore",
    "per-file-ignores",
    "min-confidence",
    "min-impact",
    "torch-version",
    "extend-exclude",
    "baseline",
)

_CONFIG = Path("torchlint.toml")
_HOOKS = Path(".pre-commit-config.yaml")


def template() -> str:
    """A torchlint.toml in which every key is commented out."""
    from torchlint.engine.settings import OPTIONS

    lines = ["# Configuration of torchlint. `torchlint config KEY` explains a key, `torchlint rule CODE` a rule."]
    for key in _SHOWN:
        help_lines = textwrap.wrap(OPTIONS[key].help, 118, initial_indent="# ", subsequent_indent="# ")
        lines += ["", *help_lines, f"# {OPTIONS[key].example}"]
    return "\n".join(lines) + "\n"


def requirement() -> str:
    """What pip installs this torchlint from: the place it came from, which pip recorded (PEP 610), or the index."""
    try:
        recorded = distribution("torchlint").read_text("direct_url.json")
    except PackageNotFoundError:  # run from a folder of sources
        recorded = None
    origin = json.loads(recorded or "{}")
    if "url" not in origin:
        return f"torchlint=={__version__}"
    vcs, folder = origin.get("vcs_info"), origin.get("subdirectory")
    url = f"{vcs['vcs']}+{origin['url']}@{vcs['commit_id']}" if vcs else origin["url"]
    return f"torchlint @ {url}#subdirectory={folder}" if folder else f"torchlint @ {url}"


def hook(source: str) -> str:
    """The entry of torchlint in a .pre-commit-config.yaml, below `repos`; `source` is what pip installs."""
    return f"""\
  - repo: local
    hooks:
      - id: torchlint
        name: torchlint
        entry: torchlint check --force-exclude
        language: python
        types_or: [python, jupyter]
        require_serial: true
        additional_dependencies: [{json.dumps(source)}]
"""


@click.command("init")
@click.option("--force", is_flag=True, help="Replace a torchlint.toml that is already there.")
def init(force: bool) -> None:
    """Write a commented torchlint.toml and a pre-commit hook into the current folder."""
    from torchlint.engine.settings import config_in

    present = config_in(Path.cwd())
    if present is None or (force and present.name == _CONFIG.name):
        write_atomically(_CONFIG, template())
        console.write([f"Wrote {_CONFIG}.\n"])
    else:
        console.write([f"{present.name} configures torchlint here already, and stays as it is.\n"])
    source = requirement()
    if os.path.exists(_HOOKS):
        console.write([f"To check each commit, add to {_HOOKS}:\n\n", hook(source)])
    else:
        write_atomically(_HOOKS, "repos:\n" + hook(source))
        console.write([f"Wrote {_HOOKS}; 'pre-commit install' turns it on.\n"])
    if source.startswith("torchlint @ file:"):
        place = source.removeprefix("torchlint @ ")
        console.note(f"The hook installs {place}, which only this machine has: others need an address in its place.")
