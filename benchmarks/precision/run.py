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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.packages import Package, findings


def package(text: str) -> Package:
    """The package that an argument NAME==VERSION=FOLDER names. Raises ArgumentTypeError where it names none."""
    name, _, rest = text.partition("==")
    version, _, folder = rest.partition("=")
    if not name or not version or not Path(folder).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME==VERSION=FOLDER with a folder that exists")
    return Package(name, version, Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", type=package, metavar="NAME==VERSION=FOLDER")
    for read in parser.parse_args().packages:
        for found in findings(read.folder):
            row = {"package": read.name, "version": read.version, **found._asdict()}
            print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
