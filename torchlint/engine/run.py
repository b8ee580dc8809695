"""Paths in, findings out.

Files are looked at one after the other in this process: reading, screening and asking the cache is cheap. Only when
what is left to parse is worth it are worker processes started, and given all that is still to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from torchlint.engine import project
from torchlint.engine.job import Group, Job, Linter
from torchlint.engine.linking import groups
from torchlint.engine.lint import FileResult
from torchlint.engine.notebooks import Document, read_document
from torchlint.engine.settings import Configuration, ConfigurationError, Settings
from torchlint.findings import Finding
from torchlint.source.discovery import Found, discover, is_excluded
from torchlint.source.files import read_source
from torchlint.source.notebook import Notebook, is_notebook
from torchlint.source.text import UnreadableError

__all__ = ["Progress", "RunResult", "SettingsFor", "check", "files", "jobs_below", "recheck", "with_project"]

# The work, in bytes to parse, from which workers repay their start, and the files to look at.
_WORTH_WORKERS = 150_000
_MANY_FILES = 500


class Progress(Protocol):
    """Told how many files are done, of how many."""

    def __call__(self, done: int, total: int) -> None: ...


@dataclass
class RunResult:
    """What a run found."""

    findings: list[Finding] = field(default_factory=list)  # by file, in the order of the files; then by place
    files: list[str] = field(default_factory=list)  # the names, as in findings, of the files that were linted
    errors: list[str] = field(default_factory=list)  # what went wrong that is no finding, one line each
    notes: list[str] = field(default_factory=list)  # why there is nothing to find in a file, one line each
    suppressed: int = 0  # findings that directives silenced
    interrupted: bool = False  # by Ctrl-C: the rest is what was found until then
    jobs: dict[str, Job] = field(default_factory=dict, repr=False)  # by name
    outcomes: dict[str, FileResult] = field(default_factory=dict, repr=False)  # by name, in the order of the files
    beside: list[Job] = field(default_factory=list, repr=False)  # files of the project that were only read along

    # A run reads each file once for its report; the next run, as of --watch, reads it anew.
    _read: dict[str, Document | None] = field(default_factory=dict, repr=False, compare=False)

    def source(self, filename: str, cell: int | None = None) -> Sequence[str]:
        """The lines, without their ends, of a file or of one cell of a notebook, by the name that findings carry.

        None where it cannot be read.
        """
        if filename not in self._read:
            job = self.jobs.get(filename)
            where = Path(filename) if job is None else job.path if job.data is None else job.data
            self._read[filename] = _read(where, filename)
        document = self._read[filename]
        if document is None:
            return ()
        return document.lines(cell) if isinstance(document, Notebook) else document.lines

    def add(self, job: Job, outcome: FileResult) -> None:
        """Count in what linting a file gave."""
        self.jobs[job.name] = job
        self.outcomes[job.name] = outcome
        self.files.append(job.name)
        self.findings += outcome.findings
        self.errors += outcome.errors
        self.notes += outcome.notes
        self.suppressed += outcome.suppressed


def _read(where: Path | bytes, filename: str) -> Document | None:
    try:
        return read_document(where if isinstance(where, bytes) else read_source(where), filename)
    except (OSError, UnreadableError):
        return None


SettingsFor = Settings | Configuration


def files(paths: Iterable[Path], settings: SettingsFor) -> Iterator[Found]:
    """The files that `check` would lint."""
    return discover(paths, _for_folder(settings))


def _for_folder(settings: SettingsFor) -> Callable[[Path], Settings]:
    return (lambda _: settings) if isinstance(settings, Settings) else settings.for_folder


def check(
    paths: Iterable[Path],
    settings: SettingsFor,
    *,
    stdin: bytes | None = None,
    stdin_filename: str | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Lint the files below `paths`, or `stdin` instead of all of them.

    With a Configuration each file gets the settings of the configuration that is closest to it. `stdin_filename` is
    what findings call standard input, and where its configuration is looked for. Files that are named are read together
    with the project around them, where that was linted as a whole before. Ctrl-C ends the run with what was found until
    then. Raises ConfigurationError for a configuration that cannot be used.
    """
    paths = list(paths)
    result = RunResult()
    done: dict[int, FileResult] = {}
    jobs: list[Job] = []
    try:
        jobs += (
            _jobs_of_stdin(stdin, stdin_filename, settings)
            if stdin is not None
            else _jobs(paths, _for_folder(settings), result)
        )
        beside = project.folders_beside(jobs, paths)
        jobs = project.judged(jobs, paths, beside)
        result.beside = _others(jobs, beside, settings)
        for index, found in recheck([*jobs, *result.beside], range(len(jobs))):
            if index < len(jobs):
                done[index] = found
                if progress is not None:
                    progress(len(done), len(jobs))
        if stdin is None:
            project.remember(jobs, paths)
    except KeyboardInterrupt:
        result.interrupted = True
    for index, job in enumerate(jobs):
        if (outcome := done.get(index)) is not None:
            result.add(job, outcome)
    return result


def with_project(job: Job, most: int) -> FileResult | None:
    """What is found in a file that is read with the project around it, as `check` would say.

    None where that was never linted as a whole, or where more than `most` bytes would have to be read anew.
    """
    beside = _others([job], project.folders_beside([job], ()), job.settings)
    saved = _is_saved(job)
    if not beside:
        return None
    jobs = [replace(job, name=_name(job.path, os.getcwd())), *beside]
    group = next(group for group in groups(jobs) if 0 in group.numbers)
    own = [jobs[number] for number in group.numbers]
    linter = Linter()
    results = linter.look_together(own, group, most, keep=saved)  # what is being typed is not asked for again
    if isinstance(results, int):
        if results > most:
            return None
        if not saved:
            own = [replace(one, settings=replace(one.settings, cache_dir=None)) for one in own]
        results = linter.lint_together(own, group)
    result = results[group.numbers.index(0)]
    return replace(result, findings=tuple(_renamed(finding, jobs[0].name, job.name) for finding in result.findings))


def _renamed(finding: Finding, before: str, after: str) -> Finding:
    """The finding, its file called otherwise."""
    related = (replace(one, filename=after) if one.filename == before else one for one in finding.related)
    return replace(finding, filename=after, related=tuple(related))


def _is_saved(job: Job) -> bool:
    """Whether a job's content is that of its file; of a notebook, its code."""
    if job.data is None:
        return True
    try:
        saved = read_source(job.path)
        if not is_notebook(job.path.name):
            return saved == job.data
        one, other = (Notebook.from_bytes(data, job.name) for data in (saved, job.data))
    except (OSError, UnreadableError):
        return False
    return one.cells == other.cells


def _others(jobs: Sequence[Job], folders: Sequence[Path], settings: SettingsFor) -> list[Job]:
    """The files below some folders that are not among the jobs."""
    if not folders:
        return []
    own = {os.path.abspath(job.path) for job in jobs}
    return [job for job in jobs_below(folders, settings) if os.path.abspath(job.path) not in own]


def jobs_below(paths: Iterable[Path], settings: SettingsFor) -> list[Job]:
    """The files that `check` would lint, as jobs; what cannot be looked at, or how is not clear, is left out."""
    for_folder = _for_folder(settings)

    def usable(folder: Path) -> Settings:
        try:
            return for_folder(folder)
        except ConfigurationError:  # of a folder that nobody named
            return Settings(folder, exclude=("*",))

    return list(_jobs(paths, usable, RunResult()))


def recheck(jobs: Sequence[Job], changed: Collection[int]) -> Iterator[tuple[int, FileResult]]:
    """The results, by number, of the jobs whose content changed, and of those that are linted together with them."""
    return _outcomes(jobs, [group for group in groups(jobs) if any(number in changed for number in group.numbers)])


def _jobs(paths: Iterable[Path], for_folder: Callable[[Path], Settings], result: RunResult) -> Iterator[Job]:
    cwd = os.getcwd()
    for found in discover(paths, for_folder):
        if found.problem:
            result.errors.append(f"{_name(found.path, cwd)}: {found.problem}")
        else:
            yield Job(found.path, _name(found.path, cwd), for_folder(found.path.parent))


def _jobs_of_stdin(data: bytes, filename: str | None, settings: SettingsFor) -> Iterator[Job]:
    path = Path(filename or "-")
    own = settings if isinstance(settings, Settings) else settings.for_file(path)
    if not (own.force_exclude and is_excluded(path, own)):
        yield Job(path, _name(path, os.getcwd()), own, data)


def _name(path: Path, cwd: str) -> str:
    """What findings call a file: relative to the working folder when it lies below it, else absolute."""
    absolute = os.path.normpath(os.path.join(cwd, path))
    prefix = cwd if cwd.endswith(os.sep) else cwd + os.sep
    return absolute[len(prefix) :] if absolute.startswith(prefix) else absolute


def _outcomes(jobs: Sequence[Job], together: Sequence[Group]) -> Iterator[tuple[int, FileResult]]:
    """The result of each job in the groups with its number, in any order."""
    workers = _workers(jobs)
    left: list[Group] = []
    weight = 0
    linter = Linter()
    count = sum(len(group.numbers) for group in together)
    for index, group in enumerate(together):
        if workers > 1 and (weight > _WORTH_WORKERS or count > _MANY_FILES):
            left += together[index:]
            break
        outcome = linter.look_together([jobs[number] for number in group.numbers], group)
        if isinstance(outcome, int):
            left.append(group)
            weight += outcome
        else:
            yield from zip(group.numbers, outcome, strict=True)
    if workers > 1 and len(left) > 1 and (weight > _WORTH_WORKERS or len(left) > _MANY_FILES):
        from torchlint.engine.pool import run

        yield from run(jobs, left, workers)
    else:
        for group in left:
            yield from zip(
                group.numbers, linter.lint_together([jobs[number] for number in group.numbers], group), strict=True
            )
    linter.close()


def _workers(jobs: Sequence[Job]) -> int:
    wanted = max((job.settings.jobs for job in jobs), default=1)
    if wanted == 0:
        wanted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(wanted, len(jobs)))
