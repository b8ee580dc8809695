"""Writing suppressions for what is found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from torchlint.engine.errors import UserError
from torchlint.engine.notebooks import Document
from torchlint.engine.run import Progress, RunResult, SettingsFor, check, recheck
from torchlint.engine.selection import META_RULES
from torchlint.findings import Edit, Finding
from torchlint.fixes.apply import edited
from torchlint.fixes.run import Change, FixResult, demand_sound, read
from torchlint.fixes.write import write
from torchlint.source import directives
from torchlint.source.directives import Directive
from torchlint.source.scan import LogicalLine, Scan, scan
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["add_suppressions", "edits_that_silence", "suppression_edits"]

_META = frozenset(rule.code for rule in META_RULES)


def add_suppressions(
    paths: Iterable[Path], settings: SettingsFor, *, dry_run: bool = False, progress: Progress | None = None
) -> FixResult:
    """Lint, and write `# torchlint: ignore[...]` for every finding; a change's `fixed` are the findings silenced.

    The comment goes to the end of a row of the finding or of its statement, never behind a backslash or into a string;
    where there is no such row, above the statement.
    """
    found = check(paths, settings, progress=progress)
    left = RunResult(errors=found.errors[:], interrupted=found.interrupted)
    result = FixResult(left)
    jobs = list(found.jobs.values())
    outcomes = dict(enumerate(found.outcomes.values()))
    silenced: dict[int, tuple[Document, Document, list[Finding]]] = {}  # before, after, what should be silent
    for number, job in enumerate(jobs):
        findings = [finding for finding in outcomes[number].findings if finding.code not in _META]
        if findings and not found.interrupted:
            try:
                source = read(job)
                edits = list(edits_that_silence(source, findings))
                after = edited(source, edits)
                demand_sound(after, edits)
                if not dry_run:
                    write(job.path, after.data, expected=source.data)
            except (UserError, UnreadableError) as error:
                left.errors.append(str(error) if isinstance(error, UserError) else f"{job.name}: {error}")
            else:
                silenced[number] = source, after, findings
                if dry_run:
                    jobs[number] = replace(job, data=after.data)
    outcomes.update(recheck([*jobs, *found.beside], silenced))
    for number, job in enumerate(jobs):
        if number in silenced:
            source, after, findings = silenced[number]
            remaining = {finding.fingerprint for finding in outcomes[number].findings}
            gone = tuple(finding for finding in findings if finding.fingerprint not in remaining)
            result.changes[job.name] = Change(source, after, outcomes[number], gone)
        left.add(job, replace(outcomes[number], errors=()))
    return result


def edits_that_silence(document: Document, findings: Sequence[Finding]) -> Iterator[Edit]:
    """The edits that silence `findings` in a file, or in the cells of a notebook."""
    if isinstance(document, SourceFile):
        yield from suppression_edits(document, scan(document.text), findings)
        return
    for cell in document.cells:
        own = [finding for finding in findings if finding.cell == cell.number]
        code = cell.code_in_place
        for edit in suppression_edits(code, scan(code.text), own):
            yield replace(edit, cell=cell.number)


def suppression_edits(source: SourceFile, scanned: Scan, findings: Iterable[Finding]) -> Iterator[Edit]:
    """The edits that silence `findings`, one for each row or statement that gets a comment."""
    at_row: dict[int, set[str]] = defaultdict(set)
    above: dict[LogicalLine, set[str]] = defaultdict(set)
    for finding in findings:
        index = scanned.index_at(source.offset(finding.start))
        if index is None:
            continue
        line = scanned.logical_lines[index]
        row = next((row for row in _rows(source, line, finding) if _takes_comment(source, scanned, row)), None)
        if row is not None:
            at_row[row].add(finding.code)
        else:
            above[line].add(finding.code)
    existing = directives.find(scanned)
    for row, codes in at_row.items():
        yield _at_end(source, existing, row, sorted(codes))
    for line, codes in above.items():
        indentation = source.text[line.start : line.code]
        yield source.edit(line.start, line.start, f"{indentation}# torchlint: ignore[{', '.join(sorted(codes))}]\n")


def _rows(source: SourceFile, line: LogicalLine, finding: Finding) -> Iterator[int]:
    """The rows where a comment would silence the finding, the best first."""
    last = source.position(line.end).row
    yield from range(finding.start.row, min(finding.end.row, last) + 1)
    yield last
    yield source.position(line.code).row


def _takes_comment(source: SourceFile, scanned: Scan, row: int) -> bool:
    """Whether a comment can stand at the end of the row: not behind a backslash, nor in a string."""
    if source.line(row).endswith("\\"):
        return False
    end = source.row_starts[row - 1] + len(source.line(row))
    comments = set(scanned.comment_spans)
    inside = (span for span in (*scanned.opaque, *scanned.formatted) if span not in comments)
    return not any(start < end < stop for start, stop in inside)


def _at_end(source: SourceFile, existing: Iterable[Directive], row: int, codes: list[str]) -> Edit:
    """The edit that silences `codes` at the end of a row, in a directive that is there already or in one of its own."""
    line = source.line(row)
    start = source.row_starts[row - 1]
    end = start + len(line.rstrip())
    for directive in existing:
        if directive.kind == "ignore" and directive.selectors and start <= directive.start < start + len(line):
            end = directive.selectors[-1].end
            return source.edit(end, end, "".join(f", {code}" for code in codes))
    return source.edit(end, end, f"  # torchlint: ignore[{', '.join(codes)}]")
