"""`torchlint check`: lint, and say what was found."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli import console, options
from torchlint.cli.files import write_atomically
from torchlint.cli.lint import files, lint
from torchlint.cli.status import EXIT_ERROR, EXIT_FINDINGS, EXIT_INTERRUPTED, EXIT_OK
from torchlint.engine import evidence
from torchlint.engine.baseline import Baseline
from torchlint.engine.changed_lines import changed_since
from torchlint.engine.errors import UserError, short
from torchlint.engine.selection import nearest
from torchlint.engine.settings import ConfigurationError
from torchlint.report import statistics, summary
from torchlint.report.formats import FORMATS, Format
from torchlint.report.outcome import Outcome

if TYPE_CHECKING:
    from torchlint.engine.run import RunResult
    from torchlint.engine.settings import Configuration, Settings
    from torchlint.findings import Finding

__all__ = ["check"]

_WATCHED = (".py", ".ipynb", ".toml")


@click.command("check", cls=options.SectionedCommand)
@options.paths_argument
@options.rule_options
@options.fix_options
@options.report_options
@options.file_options
@options.config_options
@options.run_options
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes.")
@click.option("--show-files", is_flag=True, help="List the files that would be linted, and stop.")
@click.option("--show-settings", is_flag=True, help="Print the settings that hold, and stop.")
def check(paths: tuple[Path, ...], **given: Any) -> int:
    """Lint files and folders, by default the current one; - reads standard input."""
    paths = paths or (Path("."),)
    if given["watch"]:
        return _watch(paths, given)
    run = _Run(paths, options.configuration(given), given)
    if given["show_settings"]:
        console.write(_settings_text(run.settings))
        return EXIT_OK
    if given["show_files"]:
        return _show_files(paths, run.configuration)
    return run.once()


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a report goes: a file, or standard output."""

    format: Format
    file: Path | None


def targets(settings: Settings, output_file: Path | None) -> list[_Target]:
    """The reports to write. Of those without a file of their own at most one can go to standard output.

    Raises ConfigurationError for names that no format has.
    """
    found = []
    for text in settings.output_format:
        name, _, file = text.partition("=")
        if name not in FORMATS:
            raise ConfigurationError(f"output-format: no format is called {name!r}{nearest(name, FORMATS)}")
        found.append(_Target(FORMATS[name], Path(file) if file else output_file))
    shared = [target for target in found if target.file == output_file]
    if len(shared) > 1:
        names = " and ".join(target.format.name for target in shared)
        raise ConfigurationError(
            f"output-format: {names} would go to the same place; write FORMAT=FILE for all but one"
        )
    return found


class _Run:
    """One invocation: what is linted, under which settings, and what is to become of the findings."""

    def __init__(self, paths: Sequence[Path], configuration: Configuration, given: Mapping[str, Any]) -> None:
        self.paths = paths
        self.configuration = configuration
        self.given = given
        # What holds for the run as a whole, such as its reports, is said where the user stands.
        self.settings = configuration.for_folder(configuration.cwd)
        self.targets = targets(self.settings, given["output_file"])

    def once(self) -> int:
        """Lint, report, and return the exit status."""
        linted = lint(self.paths, self.configuration, quiet=self.given["quiet"], name=self.given["stdin_filename"])
        if self.given["verbose"]:
            self._tell(linted)
        linted = self._excused(linted)
        outcome = Outcome(
            findings=linted.findings,
            files=len(linted.files),
            suppressed=linted.suppressed,
            unsafe_fixes=self.settings.unsafe_fixes,
            source=linted.source,
        )
        self._report(outcome)
        for message in linted.errors:
            console.error(message)
        if linted.interrupted:
            return EXIT_INTERRUPTED
        if linted.errors:
            return EXIT_ERROR
        found = any(map(self._fails, outcome.findings)) and not self.given["exit_zero"]
        return EXIT_FINDINGS if found else EXIT_OK

    def _tell(self, linted: RunResult) -> None:
        """What -v adds: what held for the run, and what it went through."""
        settings = self.settings
        config = settings.config_file
        console.note(f"configuration: {'defaults' if config is None else short(config)}")
        console.note(f"rules: {len(settings.rules)}")
        console.note(f"cache: {'none' if settings.cache_dir is None else short(settings.cache_dir)}")
        console.note(f"files: {len(linted.files)}, suppressed findings: {linted.suppressed}")

    def _excused(self, linted: RunResult) -> RunResult:
        """The findings that neither the baseline nor unchanged lines excuse, with their evidence."""
        findings, suppressed = linted.findings, linted.suppressed
        settings = self.settings
        if settings.evidence is not None:
            findings = evidence.attach(findings, evidence.load(settings.evidence), linted.source)
        if settings.baseline is not None:
            split = Baseline.read(settings.baseline).split(findings, linted.source, linted.files, settings.rules)
            findings = [*split.new, *split.unused]
            suppressed += len(split.known)
        if self.given["diff_base"] is not None:
            changed = changed_since(self.given["diff_base"], self.configuration.cwd)
            findings = [finding for finding in findings if changed.touches(finding)]
        return replace(linted, findings=findings, suppressed=suppressed)

    def _fails(self, finding: Finding) -> bool:
        """Whether the finding alone makes the exit status 1."""
        if self.settings.fail_on == "confirmed" and evidence.verdict_of(finding) != "confirmed":
            return False
        return not self.settings.min_speedup or evidence.gain_of(finding) >= self.settings.min_speedup

    def _report(self, outcome: Outcome) -> None:
        for target in self.targets:
            if target.file is None:
                shown = replace(outcome, style=console.style_for(sys.stdout))
                console.write(self._text(target.format, shown))
            else:
                write_atomically(target.file, "".join(self._text(target.format, outcome)))

    def _text(self, shape: Format, outcome: Outcome) -> Iterator[str]:
        if self.given["statistics"]:
            yield from statistics.render(outcome) if shape.human else statistics.render_json(outcome)
        else:
            yield from shape.render(outcome)
        if shape.human and not self.given["quiet"]:
            yield from summary.render(outcome)


def _watch(paths: Sequence[Path], given: Mapping[str, Any]) -> int:
    """Lint, and again whenever something below the paths changes, until Ctrl-C."""
    try:
        from watchfiles import watch
    except ModuleNotFoundError as error:
        hint = "pip install 'torchlint[watch]'"
        raise click.ClickException(f"--watch needs watchfiles, which is not installed: {hint}") from error
    if Path("-") in paths:
        raise click.UsageError("--watch has nothing to watch on standard input")
    _round(paths, given)
    for _ in watch(*paths, watch_filter=lambda _change, path: path.endswith(_WATCHED)):
        console.clear()
        _round(paths, given)
    return EXIT_OK


def _round(paths: Sequence[Path], given: Mapping[str, Any]) -> None:
    """One run of a watch, which no mistake that can be put right ends; the configuration may have changed."""
    try:
        _Run(paths, options.configuration(given), given).once()
    except UserError as error:
        console.error(str(error))
    except click.ClickException as error:
        console.error(error.format_message())


def _show_files(paths: Sequence[Path], configuration: Configuration) -> int:
    found, problems = files(paths, configuration)
    console.write(f"{console.visible(name)}\n" for name in found)
    for problem in problems:
        console.error(problem)
    return EXIT_ERROR if problems else EXIT_OK


def _settings_text(settings: Settings) -> Iterator[str]:
    for field in fields(settings):
        value = getattr(settings, field.name)
        shown = sorted(value) if isinstance(value, frozenset) else value
        yield f"{field.name} = {console.visible(str(shown))}\n"
