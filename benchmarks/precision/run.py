"""What torchlint finds in unpacked packages, as JSON lines to read by hand.

    python benchmarks/precision/run.py timm==1.0.31=path/to/folder ... > findings.jsonl

Each argument is NAME==VERSION=FOLDER, where FOLDER holds what the package's archive holds. A line says package,
version, file (relative to FOLDER), line, code, confidence, impact, fingerprint and message. One process reads the
packages one after the other; findings of every confidence are listed, of all rules.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from torchlint.engine.run import check
from torchlint.engine.settings import Settings
from torchlint.findings import Confidence
from torchlint.rules.registry import all_rules


class Package(NamedTuple):
    """A package of one version, unpacked in a folder."""

    name: str
    version: str
    folder: Path


def package(text: str) -> Package:
    """The package that an argument NAME==VERSION=FOLDER names. Raises ArgumentTypeError where it names none."""
    name, _, rest = text.partition("==")
    version, _, folder = rest.partition("=")
    if not name or not version or not Path(folder).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME==VERSION=FOLDER with a folder that exists")
    return Package(name, version, Path(folder))


def findings(read: Package, least: Confidence = Confidence.POSSIBLE) -> Iterator[dict[str, Any]]:
    """The findings in a package, by file and place. What goes wrong is said on stderr."""
    settings = Settings(
        root=read.folder,
        rules=frozenset(rule.code for rule in all_rules()) | {"TL003"},
        min_confidence=least,
        exclude=(),
        respect_gitignore=False,
        jobs=1,
    )
    result = check([read.folder], settings)
    for error in result.errors:
        print(error, file=sys.stderr)
    for finding in result.findings:
        yield {
            "package": read.name,
            "version": read.version,
            "file": Path(finding.filename).absolute().relative_to(read.folder.absolute()).as_posix(),
            "line": finding.start.row,
            "code": finding.code,
            "confidence": str(finding.confidence),
            "impact": str(finding.impact),
            "fingerprint": finding.fingerprint,
            "message": finding.message,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", type=package, metavar="NAME==VERSION=FOLDER")
    for read in parser.parse_args().packages:
        for finding in findings(read):
            print(json.dumps(finding, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
