"""`torchlint check`: lint, and say what was found."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli import console, options
from torchlint.cli.files import write_atomically
from torchlint.cli.lint import files, lint, repair, silence
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
    from torchlint.fixes import FixResult

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
        if self.settings.evidence is None and (self.settings.fail_on == "confirmed" or self.settings.min_speedup):
            raise ConfigurationError(
                "fail-on and min-speedup judge what was measured: name its file, as evidence = FILE"
            )
        self.targets = targets(self.settings, given["output_file"])
        self.stream = sys.stdout

    def once(self) -> int:
        """Do what was asked, and return the exit status."""
        given, quiet, name = self.given, self.given["quiet"], self.given["stdin_filename"]
        if not (given["diff"] or given["add_suppressions"] or self.settings.fix):
            return self._report(lint(self.paths, self.configuration, quiet=quiet, name=name))
        if given["diff_base"] is not None:
            raise click.UsageError(
                "--diff-base reports and changes nothing: it goes with neither fixes nor suppressions"
            )
        if given["add_suppressions"]:
            changed = silence(self.paths, self.configuration, dry_run=given["diff"], quiet=quiet)
            return self._show_diff(changed) if given["diff"] else self._report_silenced(changed)
        changed = repair(self.paths, self.configuration, dry_run=given["diff"], quiet=quiet, name=name)
        return self._show_diff(changed) if given["diff"] else self._report_fixed(changed)

    def _show_diff(self, changed: FixResult) -> int:
        """What would change, and 1 where anything would."""
        console.write(_diff_line(line) for change in changed.changes.values() for line in change.diff())
        if not self.given["quiet"]:
            silences = self.given["add_suppressions"]
            line = summary.fixed_line(changed.fixed, "Would silence" if silences else "Would fix")
            unsafe = 0 if silences or self.settings.unsafe_fixes else summary.unsafe_fixes(changed.run.findings)
            console.note(f"{line[:-1]}, {unsafe} more with --unsafe-fixes." if unsafe else line)
        return self._status(changed.run, EXIT_FINDINGS if changed.fixed and not self.given["exit_zero"] else EXIT_OK)

    def _report_silenced(self, changed: FixResult) -> int:
        if not self.given["quiet"]:
            console.write([summary.fixed_line(changed.fixed, "Silenced") + "\n"])
        return self._status(changed.run, EXIT_OK)

    def _report_fixed(self, changed: FixResult) -> int:
        """What is left after fixes; the repaired text of standard input takes standard output."""
        if Path("-") in self.paths:
            for job in changed.run.jobs.values():
                console.write_bytes(job.data or b"")
            self.stream = sys.stderr
        if self.settings.show_fixes and changed.fixed:
            console.write([summary.fixed_line(changed.fixed) + "\n", *summary.fixes(changed.fixed)], self.stream)
        if self.settings.fix_only:
            if not self.settings.show_fixes and not self.given["quiet"]:
                console.write([summary.fixed_line(changed.fixed) + "\n"], self.stream)
            status = self._status(changed.run, EXIT_OK)
        else:
            status = self._report(changed.run, changed.fixed)
        return status or (EXIT_FINDINGS if changed.fixed and self.given["exit_non_zero_on_fix"] else EXIT_OK)

    def _report(self, linted: RunResult, fixed: Sequence[Finding] = ()) -> int:
        """Report what is found, beside what was repaired before."""
        if self.given["verbose"]:
            self._tell(linted)
        linted = self._excused(linted)
        outcome = Outcome(
            findings=linted.findings,
            files=len(linted.files),
            suppressed=linted.suppressed,
            fixed=fixed,
            unsafe_fixes=self.settings.unsafe_fixes,
            source=linted.source,
        )
        self._write(outcome)
        found = any(map(self._fails, outcome.findings)) and not self.given["exit_zero"]
        return self._status(linted, EXIT_FINDINGS if found else EXIT_OK)

    def _status(self, linted: RunResult, status: int) -> int:
        """The exit status that `status` becomes by what went wrong, which is said."""
        for message in linted.errors:
            console.error(message)
        return EXIT_INTERRUPTED if linted.interrupted else EXIT_ERROR if linted.errors else status

    def _tell(self, linted: RunResult) -> None:
        """What -v adds: what held for the run, and what it went through."""
        settings = self.settings
        config = settings.config_file
        console.note(f"configuration: {'defaults' if config is None else short(config)}")
        console.note(f"rules: {len(settings.rules)}")
        console.note(f"cache: {'none' if settings.cache_dir is None else short(settings.cache_dir)}")
        console.note(f"files: {len(linted.files)}, suppressed findings: {linted.suppressed}")
        for note in linted.notes:
            console.note(note)

    def _excused(self, linted: RunResult) -> RunResult:
        """The findings that neither the baseline nor unchanged lines excuse, with their evidence."""
        findings, suppressed = linted.findings, linted.suppressed
        settings = self.settings
        if settings.evidence is not None:
            findings = evidence.attach(findings, evidence.load(settings.evidence), linted.source)
        if settings.baseline is not None:
            judged = [name for name, job in linted.jobs.items() if "TL001" in job.settings.rules]
            split = Baseline.read(settings.baseline).split(findings, linted.source, judged, settings.rules)
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

    def _write(self, outcome: Outcome) -> None:
        for target in self.targets:
            if target.file is None:
                shown = replace(outcome, style=console.style_for(self.stream))
                console.write(self._text(target.format, shown), self.stream)
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
    here = os.getcwd()
    watched = [os.path.abspath(path) for path in paths]
    for path, place in zip(paths, watched, strict=True):
        if not os.path.exists(place):
            raise click.ClickException(f"{path}: there is nothing to watch")
    while True:
        changed = True  # what changes from here on is told, so that none is missed while the first round lasts
        try:
            for changes in watch(*watched, watch_filter=_is_watched, yield_on_timeout=True, rust_timeout=_TICK):
                if not all(map(os.path.exists, (here, *watched))):
                    break  # of what is made anew in its place nothing would be told
                if changed or changes:
                    console.clear()
                    if _round(paths, given) == EXIT_INTERRUPTED:
                        return EXIT_INTERRUPTED
                    changed = False
                if console.is_gone():
                    return EXIT_OK
        except OSError as error:
            raise click.ClickException(f"--watch: files cannot be watched: {error.strerror or error}") from error
        while not all(map(os.path.exists, (here, *watched))):
            time.sleep(_TICK / 1000)
        os.chdir(here)  # it may be another folder of that name


_TICK = 200  # milliseconds


def _is_watched(_change: object, path: str) -> bool:
    return path.endswith(_WATCHED)


def _round(paths: Sequence[Path], given: Mapping[str, Any]) -> int:
    """One run of a watch, which no mistake that can be put right ends; the configuration may have changed.

    Returns the exit status that the run would have by itself.
    """
    try:
        return _Run(paths, options.configuration(given), given).once()
    except UserError as error:
        console.error(str(error))
    except click.ClickException as error:
        console.error(error.format_message())
    except OSError as error:  # as where the working folder goes
        console.error(str(error))
    return EXIT_ERROR


def _diff_line(line: str) -> str:
    """A line of a diff, safe to print: only what ends it stays as it is."""
    body = line.rstrip("\r\n")
    return "\t".join(map(console.visible, body.split("\t"))) + "\n"


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
