"""`torchlint baseline`: accept what an old code base has, for now."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli import console, options
from torchlint.cli.files import write_atomically
from torchlint.cli.lint import lint
from torchlint.cli.status import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_OK
from torchlint.engine.baseline import DEFAULT_NAME, Baseline
from torchlint.engine.errors import short
from torchlint.report.text import plural

if TYPE_CHECKING:
    from torchlint.engine.settings import Configuration

__all__ = ["baseline"]


@click.group("baseline")
def baseline() -> None:
    """Accept the findings that are there, so that only new ones are reported."""


def _lint_options(command: Any) -> Any:
    for option in (
        options.run_options,
        options.config_options,
        options.file_options,
        options.rule_options,
        options.paths_argument,
    ):
        command = option(command)
    return click.option("--baseline", metavar="FILE", help="The baseline's file.")(command)


def _path(configuration: Configuration) -> Path:
    settings = configuration.for_folder(configuration.cwd)
    return settings.baseline or settings.root / DEFAULT_NAME


def _write(accepted: Baseline, paths: tuple[Path, ...], configuration: Configuration, given: Mapping[str, Any]) -> int:
    """Replace what `accepted` says of the files in `paths` by what is found there now, and write it."""
    paths = paths or (Path("."),)
    linted = lint(paths, configuration, quiet=given["quiet"], name=given["stdin_filename"])
    for message in linted.errors:
        console.error(message)
    if linted.errors or linted.interrupted:
        # An incomplete run would drop entries that still hold.
        console.error(f"{short(accepted.path)}: not written, since not every file could be linted")
        return EXIT_INTERRUPTED if linted.interrupted else EXIT_ERROR
    updated = accepted.updated(linted.findings, linted.source, [*linted.files, *accepted.gone(paths)])
    write_atomically(updated.path, updated.text())
    before, after = sum(accepted.counts.values()), sum(updated.counts.values())
    if not given["quiet"]:
        console.write([f"{short(updated.path)}: accepts {plural(after, 'finding')}, before {before}.\n"])
        if configuration.for_folder(configuration.cwd).baseline is None:
            name = json.dumps(short(updated.path))
            console.write([f"It counts once the configuration says so: baseline = {name}\n"])
    return EXIT_OK


@baseline.command("create", cls=options.SectionedCommand)
@_lint_options
@click.option("--force", is_flag=True, help="Replace a baseline that is already there.")
def create(paths: tuple[Path, ...], force: bool, **given: Any) -> int:
    """Write a baseline of all findings in PATHS."""
    configuration = options.configuration(given)
    path = _path(configuration)
    if os.path.exists(path) and not force:
        raise click.ClickException(f"{short(path)}: is there already; 'torchlint baseline update' changes it")
    return _write(Baseline(path), paths, configuration, given)


@baseline.command("update", cls=options.SectionedCommand)
@_lint_options
def update(paths: tuple[Path, ...], **given: Any) -> int:
    """Write what is found in PATHS into the baseline; what it says of other files stays."""
    configuration = options.configuration(given)
    return _write(Baseline.read(_path(configuration)), paths, configuration, given)


@baseline.command("show")
@options.config_options
@click.option("--baseline", metavar="FILE", help="The baseline's file.")
def show(**given: Any) -> int:
    """Count what the baseline accepts, by file and rule."""
    accepted = Baseline.read(_path(options.configuration(given)))
    by_rule: Counter[tuple[str, str]] = Counter()
    for entry, count in accepted.counts.items():
        by_rule[entry.file, entry.code] += count
    console.write(f"{console.visible(file)}: {code} {count}\n" for (file, code), count in sorted(by_rule.items()))
    console.write([f"{plural(sum(by_rule.values()), 'finding')} accepted.\n"])
    return EXIT_OK
