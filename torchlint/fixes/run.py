"""Fixing files: rounds until nothing more can be repaired, then one write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from torchlint.engine.errors import UserError
from torchlint.engine.job import Job
from torchlint.engine.lint import FileResult
from torchlint.engine.notebooks import Document, lint_document, read_document
from torchlint.engine.run import Progress, RunResult, SettingsFor, check
from torchlint.findings import Edit, Finding
from torchlint.fixes.apply import choose, edited, is_applicable
from torchlint.fixes.diff import unified_diff
from torchlint.fixes.imports import drop_unused
from torchlint.fixes.write import write
from torchlint.source.parse import parse
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["Change", "FixResult", "fix", "fix_source", "read"]

_MOST_ROUNDS = 10


@dataclass(frozen=True)
class Change:
    """A file before and after; `result` is what is found in it now."""

    before: Document
    after: Document
    result: FileResult
    fixed: tuple[Finding, ...]

    def diff(self) -> Iterator[str]:
        """The lines, with their ends, of the unified diff."""
        for (name, before), (_, after) in zip(_texts(self.before), _texts(self.after), strict=True):
            yield from unified_diff(before, after, name)


@dataclass
class FixResult:
    """What a run with fixes did. `run` is what is left to report, in the files as they are now, or would be."""

    run: RunResult
    changes: dict[str, Change] = field(default_factory=dict)  # by the names of the files that changed

    @property
    def fixed(self) -> list[Finding]:
        """The findings that were repaired, by file."""
        return [finding for change in self.changes.values() for finding in change.fixed]


def fix(
    paths: Iterable[Path],
    settings: SettingsFor,
    *,
    stdin: bytes | None = None,
    stdin_filename: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> FixResult:
    """Lint as `torchlint.engine.run.check` does, and repair what the settings let be repaired.

    With `dry_run` nothing is written; nor is standard input, whose new text is in the result's change. Files that
    cannot be written are named in the run's errors, and their findings stay.
    """
    found = check(paths, settings, stdin=stdin, stdin_filename=stdin_filename, progress=progress)
    left = RunResult(errors=found.errors[:], interrupted=found.interrupted)
    result = FixResult(left)
    for name, outcome in found.outcomes.items():
        job = found.jobs[name]
        if not found.interrupted and any(is_applicable(finding, job.settings) for finding in outcome.findings):
            try:
                change = fix_source(read(job), job, outcome)
                if change.fixed and not dry_run and job.data is None:
                    write(job.path, change.after.data, expected=change.before.data)
            except (UserError, UnreadableError) as error:
                left.errors.append(str(error) if isinstance(error, UserError) else f"{name}: {error}")
            else:
                left.errors += change.result.errors
                if change.fixed:
                    outcome = change.result
                    result.changes[name] = change
                    if dry_run or job.data is not None:
                        job = replace(job, data=change.after.data)
        left.add(job, replace(outcome, errors=()))
    return result


def _texts(document: Document) -> Iterator[tuple[str, str]]:
    """What the document and its parts are called, and their texts."""
    if isinstance(document, SourceFile):
        yield document.path, document.written
    else:
        for cell in document.cells:
            yield f"{document.path}:cell {cell.number}", cell.source.written


def read(job: Job) -> Document:
    """The file of a job as it is now. Raises UserError or UnreadableError."""
    try:
        return read_document(job.path.read_bytes() if job.data is None else job.data, job.name)
    except OSError as error:
        raise UserError(f"{job.name}: cannot be read again: {error.strerror or error}") from error


def fix_source(source: Document, job: Job, outcome: FileResult | None = None) -> Change:
    """Repair a file in rounds: what one round uncovers, or had to leave because it met another repair, the next does.

    `outcome` is what was found in `source`, where that is known. A repair after which the file would no longer parse,
    or could not be written in its encoding, is left out, and one that never comes to an end is undone; both are faults
    of torchlint and stand among the errors of the change's result.
    """
    before = source
    result = lint_document(source, job.settings, job.path) if outcome is None else outcome
    fixed: list[Finding] = []
    errors: list[str] = []
    broken: set[tuple[str, str]] = set()  # fixes that did harm: (code, fingerprint)
    for _ in range(_MOST_ROUNDS):
        wanted = [
            finding
            for finding in result.findings
            if is_applicable(finding, job.settings) and (finding.code, finding.fingerprint) not in broken
        ]
        round_ = _sound_round(source, wanted, broken, errors)
        if round_ is None:
            if fixed and isinstance(before, SourceFile) and isinstance(source, SourceFile):
                # In a notebook nobody knows what is still to be typed, or stands behind a magic.
                if (cleaned := drop_unused(before, source)) is not source:
                    source = cleaned
                    result = lint_document(source, job.settings, job.path)
            return Change(before, source, _with_errors(result, errors), tuple(fixed))
        source, applied = round_
        fixed += applied
        result = lint_document(source, job.settings, job.path)
    codes = " and ".join(sorted({finding.code for finding in applied}))
    errors.append(f"{source.path}: internal error: the fixes of {codes} never come to an end; left as it is")
    result = lint_document(before, job.settings, job.path) if outcome is None else outcome
    return Change(before, before, _with_errors(result, errors), ())


def _with_errors(result: FileResult, errors: list[str]) -> FileResult:
    return replace(result, errors=(*result.errors, *errors))


def _sound_round(
    source: Document, wanted: list[Finding], broken: set[tuple[str, str]], errors: list[str]
) -> tuple[Document, tuple[Finding, ...]] | None:
    """One round whose result parses; none where there is nothing to do."""
    edits, applied = choose(wanted)
    if not applied:
        return None
    if (changed := _readable(source, edits)) is not None:
        return changed, applied
    # Something is wrong with one of them: take them one by one.
    good: list[Finding] = []
    for finding in applied:
        alone = _readable(source, choose([finding])[0])
        together = None if alone is None else _readable(source, choose([*good, finding])[0])
        if together is not None:
            good.append(finding)
        if alone is None:
            broken.add((finding.code, finding.fingerprint))
            place = f"{source.path}:{finding.start.row}:{finding.start.column}"
            errors.append(f"{place}: internal error: the fix of {finding.code} would not parse; left as it is")
    if not good:
        return None
    edits, applied = choose(good)
    changed = _readable(source, edits)
    assert changed is not None
    return changed, applied


def _readable(source: Document, edits: list[Edit]) -> Document | None:
    """The file as it would be, where it can be encoded and what is changed in it parsed."""
    try:
        changed = edited(source, edits)
        demand_sound(changed, edits)
    except (UnicodeEncodeError, UnreadableError):
        return None
    return changed


def demand_sound(document: Document, edits: Iterable[Edit]) -> None:
    """Raises UnreadableError where a file, or a cell of a notebook, that was edited does not parse."""
    if isinstance(document, SourceFile):
        parse(document)
    else:
        for number in {edit.cell for edit in edits}:
            parse(document.cell(number or 0).code)
