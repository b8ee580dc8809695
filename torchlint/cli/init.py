"""`torchlint init`: a configuration to start from."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click

from torchlint.cli import console

__all__ = ["init", "template"]

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

_HOOK = """\
# The same check before each commit:
#
#   repos:
#     - repo: local
#       hooks:
#         - id: torchlint
#           name: torchlint
#           entry: torchlint check --force-exclude
#           language: python
#           types_or: [python, jupyter]
"""


def template() -> str:
    """A torchlint.toml in which every key is commented out."""
    from torchlint.engine.settings import OPTIONS

    lines = ["# Configuration of torchlint. `torchlint config KEY` explains a key, `torchlint rule CODE` a rule.", ""]
    for key in _SHOWN:
        lines += textwrap.wrap(OPTIONS[key].help, 118, initial_indent="# ", subsequent_indent="# ")
        lines += [f"# {OPTIONS[key].example}", ""]
    return "\n".join(lines) + "\n" + _HOOK


@click.command("init")
@click.option("--force", is_flag=True, help="Replace a torchlint.toml that is already there.")
def init(force: bool) -> None:
    """Write torchlint.toml, with its keys explained and commented out, into the current folder."""
    from torchlint.engine.settings import config_in

    present = config_in(Path.cwd())
    if present is not None and not (force and present.name == "torchlint.toml"):
        raise click.ClickException(f"{present.name} configures torchlint here already")
    path = Path("torchlint.toml")
    try:
        path.write_text(template(), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror or error}") from error
    console.write([f"Wrote {path}\n"])
