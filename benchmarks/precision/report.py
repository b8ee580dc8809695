"""What reading the findings in real packages gave, rule by rule.

    python benchmarks/precision/report.py                 of all that was read
    python benchmarks/precision/report.py --now FILE...   of what is still reported, by files that run.py wrote
    python benchmarks/precision/report.py --reader fresh  of packages that had no part in the development
    python benchmarks/precision/report.py --reader unseen of twelve more of those, read a day later
    python benchmarks/precision/report.py --reader fresh3 of 31 more, most of them research repositories
    python benchmarks/precision/report.py --reader fresh5 of 25 more, most of them programs that train
    python benchmarks/precision/report.py --reader fresh6 of 26 more, of robots, molecules, speech and language models
    python benchmarks/precision/report.py --reader fresh7 of 27 more, of images, cells, texts, simulators and samplers
    python benchmarks/precision/report.py --reader fresh8 of 34 more, of networks in all sizes, and tutorials
    python benchmarks/precision/report.py --reader fresh9 of 16 more, libraries of images, attacks and optimizers
    python benchmarks/precision/report.py --reader fresh10 of 16 more, each finding as likely as any other

`data/*.jsonl` holds one verdict a line: package, version, file, line, code, verdict, reason and reader. Precision is
the share of true ones among the true and the false; debatable ones are counted apart. A rule with fewer than 15
findings read is unproven. The figures are of the first reader unless another one is asked for; where a second one read
the same finding, the two are compared.

`linking` is "added" on a finding that only files read as one program show, and "removed" on one that only a file read
by itself shows; the latter are not among a rule's figures, since they are not reported. They were read with each
project as one program, also where it is so large that it is linked folder by folder otherwise.

The reader `fresh` took up to 30 findings of each rule, spread over twelve packages that nobody had looked at while the
rules were written, as torchlint reported them at 03f17d9: before any of these findings was acted upon. Rare rules weigh
more in that figure for all of them than they do in what a user sees.

The reader `unseen` took a random sample of each rule, larger where there was more and 12 at most, of what torchlint
reported at fb494b8 in twelve packages more, and judged it before anything was changed.

The reader `fresh3` took up to ten findings of each rule, spread over 21 repositories of research code, whose version is
a commit, and ten packages, as torchlint reported them at a32a3c6, and judged them before anything was changed.

The reader `fresh5` took up to eight findings of each rule, spread over 18 repositories and seven packages, as torchlint
reported them at 3911e31, and judged them before anything was changed. Under trl it judged what was reported there that
had not been when others read it.

The reader `fresh6` took up to eight findings of each rule, spread over 13 repositories and 13 packages, as torchlint
reported them at e29f7e2, and judged them before anything was changed.

The reader `fresh7` took up to eight findings of each rule and 15 of each package, spread over 13 repositories and 14
packages, as torchlint reported them at c0d6371, and judged them before anything was changed.

The reader `fresh8` took up to eight findings of each rule and 15 of each package, spread over 25 repositories and nine
packages, as torchlint reported them at ff3ef28, and judged them before anything was changed.

The reader `fresh9` took a random sample of eight or nine findings of each of 16 packages, three of a rule at most, as
torchlint reported them at 632e075, and judged them before anything was changed. Rules weigh in it about as they do in
what a user sees. Of transformers it read the trainer, the generation and 25 models that were drawn.

The reader `fresh10` took a random sample of 136 findings of 16 packages, 13 of each at most, as torchlint reported them
at 632e075, and judged them before anything was changed. It draws from findings, not from rules: common rules weigh
more, as they do in what a user sees.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent / "data"
ENOUGH = 15  # findings read, below which a rule is unproven


class Verdict(NamedTuple):
    """What one reader made of one finding."""

    package: str
    version: str
    file: str
    line: int
    code: str
    verdict: str  # "true", "false" or "debatable"
    reason: str
    reader: str
    linking: str = ""  # "added" or "removed" where reading the files of the package together made or unmade it

    @property
    def place(self) -> tuple[str, str, int, str]:
        """The finding that it is about."""
        return self.package, self.file, self.line, self.code


def verdicts(folder: Path = DATA) -> list[Verdict]:
    """All verdicts, by package."""
    return [
        Verdict(**json.loads(line))
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def reported(files: Iterable[Path]) -> set[tuple[str, str, int, str]]:
    """The places of the findings that are shown by default, of files that run.py wrote."""
    rows = (json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return {(row["package"], row["file"], row["line"], row["code"]) for row in rows if row["confidence"] != "possible"}


def table(read: Iterable[Verdict]) -> list[str]:
    """A line for each rule, and one for all of them."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in read:
        if verdict.linking == "removed":
            continue
        counts[verdict.code][verdict.verdict] += 1
        counts["all"][verdict.verdict] += 1
    lines = [f"{'rule':6} {'read':>5} {'true':>5} {'false':>5} {'debatable':>9}  precision"]
    for code in sorted(counts, key=lambda code: (code == "all", code)):
        count = counts[code]
        judged = count["true"] + count["false"]
        precision = f"{count['true'] / judged:.2f}" if judged else "-"
        note = "  unproven" if count.total() < ENOUGH else ""
        figures = f"{count.total():5} {count['true']:5} {count['false']:5} {count['debatable']:9}  {precision:>9}"
        lines.append(f"{code:6} {figures}{note}")
    return lines


def linking(read: Iterable[Verdict]) -> list[str]:
    """What reading files together added and removed, by package."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for verdict in read:
        if verdict.linking:
            counts[verdict.linking][verdict.package][verdict.verdict] += 1
            counts[verdict.linking]["all"][verdict.verdict] += 1
    lines = []
    for how, packages in sorted(counts.items()):
        for package in sorted(packages, key=lambda package: (package == "all", package)):
            says = ", ".join(f"{packages[package][what]} {what}" for what in ("true", "false", "debatable"))
            lines.append(f"linking {how} {package}: {says}")
    return lines


def agreement(read: Sequence[Verdict]) -> list[str]:
    """How often two readers of a finding agree: over all three verdicts, and where neither calls it debatable."""
    by_place: dict[tuple[str, str, int, str], dict[str, str]] = defaultdict(dict)
    for verdict in read:
        by_place[verdict.place][verdict.reader] = verdict.verdict
    twice = [
        (readers["first"], readers["second"]) for readers in by_place.values() if {"first", "second"} <= readers.keys()
    ]
    if not twice:
        return ["no finding was read twice"]
    decided = [pair for pair in twice if "debatable" not in pair]
    return [
        f"{len(twice)} findings were read twice; {_agreed(twice)}",
        f"of these, both readers call {len(decided)} true or false; {_agreed(decided)}",
    ]


def _agreed(pairs: Sequence[tuple[str, str]]) -> str:
    """The share of equal pairs, and Cohen's kappa: how far it exceeds what the readers' habits alone would give."""
    if not pairs:
        return "nothing to compare"
    same = sum(one == other for one, other in pairs)
    share = same / len(pairs)
    habits = [Counter(says) for says in zip(*pairs, strict=True)]
    chance = sum(habits[0][says] * habits[1][says] for says in habits[0]) / len(pairs) ** 2
    kappa = "not defined" if chance == 1 else f"{(share - chance) / (1 - chance):.2f}"
    return f"they agree on {same} of them ({share:.0%}), Cohen's kappa {kappa}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--now", nargs="+", type=Path, metavar="FILE", help="only what these findings still hold")
    parser.add_argument(
        "--reader",
        default="first",
        help="whose verdicts count: first, second, or one of those above",
    )
    args = parser.parse_args()
    read = verdicts()
    counted = [verdict for verdict in read if verdict.reader == args.reader]
    if not counted:
        parser.error(f"no verdict is by the reader {args.reader}")
    if args.now:
        still = reported(args.now)
        counted = [verdict for verdict in counted if verdict.place in still]
    print("\n".join(table(counted)))
    print()
    packages = Counter(verdict.package for verdict in counted)
    print(", ".join(f"{package} {count}" for package, count in sorted(packages.items())))
    print("\n".join([*linking(counted), *agreement(read)]))


if __name__ == "__main__":
    main()
