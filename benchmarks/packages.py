"""Real packages of pinned versions, and what torchlint finds in them."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from torchlint.engine.run import check
from torchlint.engine.settings import Settings
from torchlint.findings import Confidence
from torchlint.rules.registry import all_rules


class Package(NamedTuple):
    """A package of one version, unpacked in a folder."""

    name: str
    version: str
    folder: Path


class Found(NamedTuple):
    """A finding in a package; `file` is relative to the package's folder, `line` counts from 1."""

    file: str
    line: int
    code: str
    confidence: str
    impact: str
    fingerprint: str
    message: str


def fetch(name: str, version: str, cache: Path) -> Package:
    """The package from the registry that pip uses, kept unpacked below `cache`. Raises SystemExit where pip fails."""
    folder = cache / f"{name}-{version}"
    if folder.is_dir():
        return Package(name, version, folder)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch, f"{name}=={version}"]
        if subprocess.run(pip, check=False).returncode:
            raise SystemExit(f"{name}=={version} cannot be downloaded")
        unpacked = Path(scratch) / "unpacked"
        for archive in [path for path in Path(scratch).iterdir() if path.is_file()]:
            _unpack(archive, unpacked)
        unpacked.rename(folder)
    return Package(name, version, folder)


def _unpack(archive: Path, folder: Path) -> None:
    """Write the Python files of a wheel or a source archive."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder, [name for name in wheel.namelist() if name.endswith(".py")])
    else:
        with tarfile.open(archive) as source:
            source.extractall(folder, [m for m in source if m.isfile() and m.name.endswith(".py")], filter="data")


def findings(folder: Path, only: Iterable[str] | None = None) -> Iterator[Found]:
    """What torchlint finds below `folder`, by file and place: of all rules, or of `only` those, at any confidence.

    Runs in this process, without a cache. What goes wrong is said on stderr.
    """
    settings = Settings(
        root=folder,
        rules=frozenset(only if only is not None else (rule.code for rule in all_rules())),
        min_confidence=Confidence.POSSIBLE,
        exclude=(),
        respect_gitignore=False,
        jobs=1,
    )
    result = check([folder], settings)
    for error in result.errors:
        print(error, file=sys.stderr)
    root = folder.absolute()
    for finding in result.findings:
        yield Found(
            Path(finding.filename).absolute().relative_to(root).as_posix(),
            finding.start.row,
            finding.code,
            str(finding.confidence),
            str(finding.impact),
            finding.fingerprint,
            finding.message,
        )
