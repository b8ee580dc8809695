"""`torchlint explain`: why a line is or is not hot, what its values are taken for, and what became of the rules."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click

from torchlint.cli import console, options
from torchlint.cli.status import EXIT_OK

__all__ = ["explain"]

_PLACE = re.compile(r"(?P<file>.+?):(?P<row>\d+)(?::\d+)?:?")  # with a column as reports write it, which says no more


@click.command("explain", cls=options.SectionedCommand)
@click.argument("place", metavar="FILE:LINE")
@options.rule_options
@options.config_options
@click.option("--baseline", metavar="FILE", help="Say which findings this baseline accepts.")
@click.option("--output-format", "shape", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(place: str, shape: str, **given: Any) -> int:
    """Why a line is or is not hot, what its values are taken for, and why each rule speaks or is silent."""
    match = _PLACE.fullmatch(place)
    if match is None:
        raise click.ClickException(f"{place!r} is no place: write FILE:LINE, such as train.py:12")
    from torchlint.engine.explain import explain as look
    from torchlint.report import explanation

    told = look(Path(match["file"]), int(match["row"]), options.configuration(given))
    style = console.style_for(sys.stdout)
    console.write(explanation.render_json(told) if shape == "json" else explanation.render(told, style))
    return EXIT_OK
