"""Repair real packages of pinned versions, twice, and say what became of their files.

    python benchmarks/fixes/fixpoint.py                all of them
    python benchmarks/fixes/fixpoint.py timm kornia    only these
    python benchmarks/fixes/fixpoint.py --python ENVIRONMENT/bin/python

Every rule is on, findings of every confidence are repaired, safe and unsafe. Each package gets a line in
fixpoint.jsonl: the files that changed, the fixes by rule, the files that do not compile afterwards, what a second run
still finds to repair, and of the modules that changed and could be imported before (by the interpreter of --python,
which has the packages' dependencies), those that no longer can. Exits with 1 where any of these is not as it should be.
The packages are downloaded by pip and kept unpacked in --cache; what is repaired is a copy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lintcheck import PACKAGES
from benchmarks.packages import fetch
from torchlint.engine.settings import Settings
from torchlint.findings import Applicability, Confidence
from torchlint.fixes import FixResult, fix
from torchlint.rules.registry import all_rules

OUT = Path(__file__).with_name("fixpoint.jsonl")
REPAIRED = PACKAGES | {"diffusers": "0.42.1", "ultralytics": "8.4.190"}
# What an interpreter says of modules: why each cannot be imported, null where it can.
_IMPORTER = """
import importlib, json, os, sys
said = os.dup(1)
os.dup2(2, 1)
answer = {}
for name in json.load(sys.stdin):
    try:
        importlib.import_module(name)
        answer[name] = None
    except BaseException as error:
        answer[name] = f"{type(error).__name__}: {error}"[:200]
os.write(said, json.dumps(answer).encode())
os._exit(0)
"""
_IMPORT_SECONDS = 900


def repaired(folder: Path, *, unsafe: bool) -> FixResult:
    """Repair what lies below `folder`, by all rules, whatever the confidence."""
    codes = frozenset(rule.code for rule in all_rules())
    settings = Settings(
        root=folder,
        rules=codes,
        fixable=codes,
        unsafe_fixes=unsafe,
        min_confidence=Confidence.POSSIBLE,
        exclude=(),
        respect_gitignore=False,
        jobs=1,
    )
    return fix([folder], settings)


def broken(files: Iterable[Path]) -> list[str]:
    """The files that Python does not compile."""
    found = []
    for path in files:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            found.append(str(path))
    return found


def imports(python: Path, folder: Path, modules: list[str]) -> dict[str, str | None]:
    """Why each module below `folder` cannot be imported; None where it can."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [python, "-c", _IMPORTER],
        input=json.dumps(modules),
        capture_output=True,
        text=True,
        env=environment,
        timeout=_IMPORT_SECONDS,
        check=False,
    )
    try:
        answer: dict[str, str | None] = json.loads(done.stdout)
    except ValueError:
        return dict.fromkeys(modules, f"the interpreter ended with status {done.returncode}")
    return answer


def module(file: str) -> str:
    """The name by which a file of a package is imported."""
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def by_code(result: FixResult) -> dict[str, int]:
    """How often each rule's findings were repaired."""
    return dict(sorted(Counter(finding.code for finding in result.fixed).items()))


def examined(name: str, version: str, original: Path, python: Path | None) -> dict[str, Any]:
    """The line of one package."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "package"
        shutil.copytree(original, folder)
        first = repaired(folder, unsafe=True)
        changed = sorted(Path(file).absolute().relative_to(folder).as_posix() for file in first.changes)
        second = repaired(folder, unsafe=True)
        line: dict[str, Any] = {
            "package": name,
            "version": version,
            "files": sum(1 for _ in folder.rglob("*.py")),
            "changed": len(changed),
            "fixes": by_code(first),
            "safe": sum(f.fix is not None and f.fix.applicability is Applicability.SAFE for f in first.fixed),
            "errors": [error.replace(str(folder), name) for error in first.run.errors + second.run.errors],
            "do_not_compile": [file.removeprefix(f"{folder}/") for file in broken(folder / file for file in changed)],
            "second_run": by_code(second),
            "imports": None,
        }
        if python is not None:
            names = [module(file) for file in changed]
            before, after = (imports(python, where, names) for where in (original, folder))
            could = [name for name in names if before[name] is None]
            line["imports"] = {
                "could": len(could),
                "can": sum(after[name] is None for name in could),
                "lost": {name: after[name] for name in could if after[name] is not None},
            }
    return line


def is_sound(line: dict[str, Any]) -> bool:
    """Whether a package came out as it should."""
    lost = line["imports"] and line["imports"]["lost"]
    return not (line["errors"] or line["do_not_compile"] or line["second_run"] or lost)


def said(line: dict[str, Any]) -> str:
    """The line for people."""
    text = (
        f"{line['package']} {line['version']}: {line['changed']} of {line['files']} files changed by "
        f"{sum(line['fixes'].values())} fixes ({line['safe']} safe), {len(line['do_not_compile'])} do not compile, "
        f"{sum(line['second_run'].values())} fixes in a second run"
    )
    if line["imports"] is not None:
        text += f", {line['imports']['can']} of {line['imports']['could']} modules that could be imported still can"
    return text + "".join(f"\n  {error}" for error in line["errors"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="of those that are pinned; default: all")
    parser.add_argument("--python", type=Path, help="an interpreter that has the packages' dependencies")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "torchlint-lintcheck")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    unknown = set(args.packages) - REPAIRED.keys()
    if unknown:
        parser.error(f"not pinned: {', '.join(sorted(unknown))}")
    lines = {}
    if args.out.is_file():
        lines = {line["package"]: line for line in map(json.loads, args.out.read_text(encoding="utf-8").splitlines())}
    chosen = sorted(args.packages or REPAIRED)
    for name in chosen:
        original = fetch(name, REPAIRED[name], args.cache).folder
        lines[name] = examined(name, REPAIRED[name], original, args.python)
        print(said(lines[name]), flush=True)
        scratch = args.out.with_suffix(".part")
        scratch.write_text("".join(json.dumps(lines[key]) + "\n" for key in sorted(lines)), encoding="utf-8")
        scratch.replace(args.out)
    return 0 if all(is_sound(lines[name]) for name in chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
