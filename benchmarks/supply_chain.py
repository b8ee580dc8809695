"""What others install: built twice and compared, and tested with the oldest and the newest versions of what it needs.

    python benchmarks/supply_chain.py                               builds, audits, tests on this Python
    python benchmarks/supply_chain.py --python python3.10 --python python3.13
    python benchmarks/supply_chain.py --versions lowest tests/source tests/lsp
    python benchmarks/supply_chain.py --advisories FOLDER           a checkout of github.com/pypa/advisory-database
    python benchmarks/supply_chain.py --record                      keeps what came of it in `supply_chain.jsonl`

- The source archive and the wheel are built twice from what git has committed, and must be the same bytes; the wheel is
  built from the archive, as an installer does it.
- For each Python an environment gets the wheel with its extras, once with the lowest versions that it allows and once
  with the newest, and the tests run from the unpacked archive. torch is not installed: tests that need it are left out.
- pip-audit looks up what the newest environments hold; with a checkout of the advisories, that is asked instead. Where
  none can be reached it says so, and that is no failure.

Exits with 1 where something failed. Needs a package registry.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
EPOCH = "1764547200"  # any moment; what is built must not hold another
EXTRAS = ("lsp", "watch")
# What the tests need beside them; torch, which is large, and what builds the documentation are left out.
TOOLS = """
coverage flake8 hypothesis jinja2 jsonschema junitparser numpy packaging pre-commit pydantic-sarif pytest pytest-cov
pytest-lsp pytest-xdist pyyaml
""".split()
TESTS = "tests/source tests/engine tests/report tests/cli tests/lsp tests/knowledge tests/semantics".split()


def say(what: str) -> None:
    """Tell what comes next."""
    print(f"== {what}", flush=True)


def run(*command: object, cwd: Path | None = None, epoch: bool = False, quiet: bool = False) -> None:
    """Run a command; raises CalledProcessError where it fails."""
    environment = {**os.environ, **({"SOURCE_DATE_EPOCH": EPOCH} if epoch else {})}
    output = subprocess.DEVNULL if quiet else None
    subprocess.run([str(part) for part in command], check=True, cwd=cwd, env=environment, stdout=output, stderr=output)


def environment(folder: Path, python: str) -> Path:
    """A new environment; the path of its Python."""
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def build(tools: Path, commit: str, folder: Path) -> tuple[Path, Path]:
    """The source archive and the wheel that is built from it, of a commit, in `folder`."""
    tree = folder / "tree"
    tree.mkdir(parents=True)
    archive = folder / "tree.tar"
    run("git", "archive", "--output", archive, commit, cwd=ROOT)
    with tarfile.open(archive) as source:
        source.extractall(tree, filter="data")
    run(tools, "-m", "build", "--outdir", folder / "dist", tree, epoch=True, quiet=True)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return sdist, wheel


def lowest() -> list[str]:
    """The lowest versions that the project and the extras under test allow, as requirements."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [*project["dependencies"], *(need for extra in EXTRAS for need in project["optional-dependencies"][extra])]
    pinned = []
    for need in map(Requirement, needs):
        (least,) = (bound.version for bound in need.specifier if bound.operator == ">=")
        need.specifier = SpecifierSet(f"=={least}")
        pinned.append(str(need))
    return pinned


def check(
    python: str, versions: str, sdist: Path, wheel: Path, folder: Path, tests: Sequence[str], advisories: Path | None
) -> dict[str, object]:
    """Install the wheel with the lowest or the newest versions, and run tests from the unpacked archive."""
    own = environment(folder / "environment", python)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(lowest() if versions == "lowest" else []) + "\n")
    tools = [f"torchlint[{','.join(EXTRAS)}] @ {wheel.as_uri()}", *TOOLS]
    run(own, "-m", "pip", "install", "--quiet", "--constraint", constraints, *tools)
    run(own, "-m", "pip", "check", quiet=True)
    with tarfile.open(sdist) as source:
        source.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    # The tests' own configuration puts the unpacked package before the installed one: both are the archive's.
    command = [str(own), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    tested = subprocess.run(command, cwd=unpacked, stdout=subprocess.PIPE, text=True, check=False)
    last = tested.stdout.strip().rpartition("\n")[2]
    print(tested.stdout if tested.returncode else last, flush=True)
    asked = [own, "-c", "import platform; print(platform.python_version())"]
    listed = subprocess.run([own, "-m", "pip", "freeze"], check=True, capture_output=True, text=True).stdout
    held = dict(line.split("==") for line in listed.splitlines() if "==" in line)
    needed = {canonicalize_name(Requirement(need).name) for need in lowest()}
    return {
        "python": subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip(),
        "versions": versions,
        "with": {name: version for name, version in held.items() if canonicalize_name(name) in needed},
        "tests": re.sub(r"[= ]*(.*?) in .*", r"\1", last),
        "passed": tested.returncode == 0,
        "advisories": "not asked" if versions == "lowest" else audit(held, folder, advisories),
    }


def audit(held: Mapping[str, str], folder: Path, advisories: Path | None) -> str:
    """What is known against packages of these versions, in a sentence. Raises SystemExit where something is."""
    if advisories is not None:
        wrong = [told for name, version in held.items() for told in against(name, version, advisories)]
        log = subprocess.run(
            ["git", "-C", advisories, "log", "-1", "--format=%cs"], check=True, capture_output=True, text=True
        )
        said = f"none against {len(held)} packages in PyPA's database of {log.stdout.strip()}"
    else:
        wrong, said = _pip_audit(held, folder)
    print(said)
    if wrong:
        raise SystemExit("\n".join(wrong))
    return said


def against(name: str, version: str, advisories: Path) -> Iterator[str]:
    """The advisories about a package of a version, in a checkout of PyPA's database."""
    for path in sorted((advisories / "vulns" / canonicalize_name(name)).glob("*.yaml")):
        advisory = yaml.safe_load(path.read_text(encoding="utf-8"))
        for affected in advisory["affected"] if "withdrawn" not in advisory else ():
            spans = [span["events"] for span in affected.get("ranges", ()) if span["type"] == "ECOSYSTEM"]
            if version in affected.get("versions", ()) or any(_within(version, events) for events in spans):
                yield f"{name} {version}: {advisory['id']}"


def _within(version: str, events: Sequence[Mapping[str, str]]) -> bool:
    """Whether a version is affected, by events in the order of versions."""
    inside = False
    for event in events:
        ((what, bound),) = event.items()
        try:
            reached = bound == "0" or Version(version) >= Version(bound)
        except InvalidVersion:
            continue
        if what == "introduced" and reached:
            inside = True
        elif (what == "fixed" and reached) or (what == "last_affected" and Version(version) > Version(bound)):
            inside = False
    return inside


def _pip_audit(held: Mapping[str, str], folder: Path) -> tuple[list[str], str]:
    tools = environment(folder / "audit", sys.executable)
    run(tools, "-m", "pip", "install", "--quiet", "pip-audit")
    (folder / "freeze.txt").write_text("".join(f"{name}=={version}\n" for name, version in held.items()))
    command = [tools, "-m", "pip_audit", "--no-deps", "--disable-pip", "--format", "json", "-r", folder / "freeze.txt"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    try:
        looked_up = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return [], "pip-audit reached no advisories"
    wrong = [f"{entry['name']} {entry['version']}: {entry['vulns']}" for entry in looked_up if entry.get("vulns")]
    skipped = sum("skip_reason" in entry for entry in looked_up)
    return wrong, f"none against {len(looked_up) - skipped} packages by pip-audit, which reached none of {skipped}"


def main() -> int:
    """Build, compare, install, test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", default=TESTS)
    parser.add_argument("--python", action="append", default=[], help="a Python to test on; this one by default")
    parser.add_argument("--versions", action="append", choices=["lowest", "newest"], default=[])
    parser.add_argument("--advisories", type=Path, metavar="FOLDER")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        tools = environment(folder / "tools", sys.executable)
        run(tools, "-m", "pip", "install", "--quiet", "build")
        head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True, cwd=ROOT)
        commit = head.stdout.strip()
        say(f"{commit[:12]}, built twice")
        built = [build(tools, commit, folder / name) for name in ("one", "two")]
        for first, second in zip(*built, strict=True):
            digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (first, second)]
            print(f"{digests[0]}  {first.name}")
            if digests[0] != digests[1]:
                raise SystemExit(f"{first.name} is not the same when it is built again: {digests[1]}")
        for python in options.python or [sys.executable]:
            for versions in options.versions or ["lowest", "newest"]:
                say(f"{python}, {versions} versions")
                place = folder / f"{Path(python).name}-{versions}-{abs(hash(python))}"
                place.mkdir()
                came = check(python, versions, *built[0], place, options.tests, options.advisories)
                failed |= not came["passed"]
                row = {"date": datetime.date.today().isoformat(), "commit": commit[:12], **came}
                if options.record:
                    with (ROOT / "benchmarks" / "supply_chain.jsonl").open("a", encoding="utf-8") as out:
                        out.write(json.dumps(row) + "\n")
    return int(failed)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(map(str, error.cmd))[:500]}")
