"""Fixing files: rounds until nothing more can be repaired, then one write."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from torchlint.engine.errors import UserError
from torchlint.engine.job import Job
from torchlint.engine.lint import FileResult
from torchlint.engine.notebooks import Document, lint_document, read_document
from torchlint.engine.run import Progress, RunResult, SettingsFor, check, recheck
from torchlint.engine.settings import Settings
from torchlint.findings import Edit, Finding
from torchlint.fixes.apply import choose, edited, is_applicable
from torchlint.fixes.diff import unified_diff
from torchlint.fixes.imports import drop_unused
from torchlint.fixes.write import write
from torchlint.source.files import read_source
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

    All files are repaired in rounds, and what was repaired is linted together with the files that it is read with, so
    that a second run finds nothing more to repair. Files are written at the end. With `dry_run` nothing is written; nor
    is standard input, whose new text is in the result's change. Files that cannot be written are named in the run's
    errors, and their findings stay.
    """
    started = time.time_ns()
    found = check(paths, settings, stdin=stdin, stdin_filename=stdin_filename, progress=progress)
    left = RunResult(errors=found.errors[:], interrupted=found.interrupted)
    result = FixResult(left)
    jobs = list(found.jobs.values())
    outcomes = dict(enumerate(found.outcomes.values()))
    repairs = {} if found.interrupted else _repaired(jobs, found.beside, outcomes, started, left.errors)
    for number, (name, first) in enumerate(found.outcomes.items()):
        job, outcome, repair = jobs[number], first, repairs.get(number)
        if repair is not None and repair.fixed:
            try:
                if not dry_run and job.data is None:
                    write(job.path, repair.now.data, expected=repair.before.data)
            except UserError as error:
                left.errors.append(str(error))
            else:
                outcome = outcomes[number]
                left.errors += outcome.errors
                result.changes[name] = repair.change(outcome)
                if dry_run or job.data is not None:
                    job = replace(job, data=repair.now.data)
        left.errors += repair.errors if repair is not None else ()
        left.add(job, replace(outcome, errors=()))
    return result


def _repaired(
    jobs: Sequence[Job], beside: Sequence[Job], outcomes: dict[int, FileResult], started: int, errors: list[str]
) -> dict[int, _Repair]:
    """The files of jobs, by number, repaired in rounds; `outcomes` becomes what is found in all of them then.

    `beside` are files that are read along and stay as they are.
    `started` is when linting began, in nanoseconds: what was written later is linted again first. What goes wrong with
    reading is added to `errors`.
    """
    repairs: dict[int, _Repair] = {}
    unreadable: set[int] = set()
    jobs = list(jobs)
    moved: set[int] = set()
    for _ in range(_MOST_ROUNDS):
        moved = set()
        for number, job in enumerate(jobs):
            if number not in repairs:
                if number in unreadable or not any(is_applicable(f, job.settings) for f in outcomes[number].findings):
                    continue
                try:
                    repairs[number] = _Repair(read(job), job.settings)
                    if job.data is None and job.path.stat().st_mtime_ns > started:
                        moved.add(number)
                        continue
                except (UserError, UnreadableError, OSError) as error:
                    errors.append(str(error) if isinstance(error, UserError) else f"{job.name}: {error}")
                    unreadable.add(number)
                    continue
            if repairs[number].round(outcomes[number]):
                moved.add(number)
        if not moved:
            return repairs
        for number in moved:
            jobs[number] = replace(jobs[number], data=repairs[number].now.data)
        outcomes.update(recheck([*jobs, *beside], moved))
    for number in moved:
        repairs[number].undo()
    return repairs


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
        return read_document(read_source(job.path) if job.data is None else job.data, job.name)
    except OSError as error:
        raise UserError(f"{job.name}: cannot be read again: {error.strerror or error}") from error


def fix_source(source: Document, job: Job) -> Change:
    """Repair a file that is read by itself, in rounds."""
    repair = _Repair(source, job.settings)
    first = result = lint_document(source, job.settings, job.path)
    for _ in range(_MOST_ROUNDS):
        if not repair.round(result):
            return repair.change(result)
        result = lint_document(repair.now, job.settings, job.path)
    repair.undo()
    return repair.change(first)


class _Repair:
    """A file that is repaired round by round: what one uncovers, or leaves since it met another repair, the next does.

    A repair after which the file would no longer parse, or could not be written in its encoding, is left out; it is a
    fault of torchlint and stands among the `errors`.
    """

    def __init__(self, before: Document, settings: Settings) -> None:
        self.before = before
        self.now = before
        self.fixed: list[Finding] = []
        self.errors: list[str] = []
        self._settings = settings
        self._broken: set[tuple[str, str]] = set()  # fixes that did harm: (code, fingerprint)
        self._last: tuple[Finding, ...] = ()

    def round(self, result: FileResult) -> bool:
        """Repair what was found in the file as it is now; False where there is nothing to do."""
        wanted = [
            finding
            for finding in result.findings
            if is_applicable(finding, self._settings) and (finding.code, finding.fingerprint) not in self._broken
        ]
        done = _sound_round(self.now, wanted, self._broken, self.errors)
        if done is not None:
            self.now, self._last = done
            self.fixed += self._last
            return True
        if self.fixed and isinstance(self.before, SourceFile) and isinstance(self.now, SourceFile):
            # In a notebook nobody knows what is still to be typed, or stands behind a magic.
            cleaned = drop_unused(self.before, self.now)
            if cleaned is not self.now:
                self.now = cleaned
                return True
        return False

    def undo(self) -> None:
        """Take back repairs that never come to an end, which is a fault of torchlint as well."""
        codes = " and ".join(sorted({finding.code for finding in self._last}))
        self.errors.append(
            f"{self.before.path}: internal error: the fixes of {codes} never come to an end; left as it is"
        )
        self.now, self.fixed = self.before, []

    def change(self, result: FileResult) -> Change:
        """What became of the file, in which `result` is found now."""
        return Change(self.before, self.now, _with_errors(result, self.errors), tuple(self.fixed))


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
