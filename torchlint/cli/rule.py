"""`torchlint rule`: what a rule reports, why it costs, and what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from torchlint.cli import console
from torchlint.cli.options import completed

if TYPE_CHECKING:
    from torchlint.engine.selection import RuleInfo

__all__ = ["rule"]


def _names() -> Iterator[str]:
    from torchlint.engine.selection import catalogue

    for info in catalogue():
        yield info.code
        yield info.name


@click.command("rule")
@click.argument("rules", nargs=-1, metavar="[RULE]...", shell_complete=completed(_names))
@click.option("--all", "everything", is_flag=True, help="All rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rule(rules: tuple[str, ...], everything: bool, output_format: str) -> None:
    """Explain a rule, named by its code or its name; several by a selector such as TL1 or sync."""
    from torchlint.engine.selection import UnknownSelectorError, catalogue, expand

    if everything == bool(rules):
        raise click.UsageError("name a rule, such as TL101, or say --all")
    try:
        codes = frozenset().union(*map(expand, ("ALL",) if everything else rules))
    except UnknownSelectorError as error:
        raise click.ClickException(str(error)) from error
    chosen = [info for info in catalogue() if info.code in codes]

    if output_format == "json":
        from torchlint.report.json import dumps

        data = [
            {
                "code": info.code,
                "name": info.name,
                "bottleneck": info.bottleneck,
                "summary": info.summary,
                "set": "default" if info.default else "extended",
                "fix": info.fix,
                "since": info.since,
                "torch": info.torch,
                "explanation": _page(info.code),
            }
            for info in chosen
        ]
        single = len(rules) == 1 and len(data) == 1
        console.write([dumps(data[0] if single else data, indent=2), "\n"])
    elif everything:
        console.write(_table(chosen))
    else:
        _show([_page(info.code) for info in chosen])


def _page(code: str) -> str:
    from torchlint.rules import pages

    try:
        return pages.load(code).text
    except pages.PageError as error:
        raise click.ClickException(str(error)) from error


def _table(rules: list[RuleInfo]) -> list[str]:
    room = max(len(info.name) for info in rules)
    return [
        f"{info.code}  {info.name:<{room}}  {'default ' if info.default else 'extended'}  {info.summary}\n"
        for info in rules
    ]


def _show(texts: list[str]) -> None:
    """Markdown: rendered on a terminal, as it stands elsewhere."""
    if not sys.stdout.isatty():
        console.write(["\n".join(texts)])
        return
    from rich.console import Console
    from rich.markdown import Markdown

    screen = Console(width=min(console.style_for(sys.stdout).columns, 100))
    for text in texts:
        with screen.capture() as rendered:
            screen.print(Markdown(text))
        console.write([rendered.get(), "\n"])
