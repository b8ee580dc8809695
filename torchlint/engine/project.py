"""Which files are a project: what was last linted as a whole.

A run on folders says what the project is, and the cache remembers it. A file that is then linted by itself, as from a
hook, is read together with these files, so that it is told what the run on the folders tells. Only names of folders are
remembered: which files they hold, and what stands in these, is always looked up anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from torchlint.engine.cache import Cache
from torchlint.engine.job import Job
from torchlint.engine.settings import Settings

__all__ = ["alone", "folders_beside", "judged", "remember"]

# What can only be judged where all is known that may make use of a suppression.
_OF_THE_WHOLE = frozenset({"TL001"})


def folders_beside(jobs: Iterable[Job], named: Sequence[Path]) -> list[Path]:
    """The folders that were linted as a whole and hold one of the jobs' files, where the run on `named` holds less."""
    inside = [_normal(path) for path in named if os.path.isdir(path)]
    found: dict[Path, None] = {}
    candidates: dict[tuple[Path, Path | None], list[Path]] = {}
    for job in jobs:
        key = job.settings.root, job.settings.cache_dir
        if key not in candidates:
            remembered = _remembered(job.settings)
            candidates[key] = [folder for folder in remembered if not any(_holds(o, folder) for o in inside)]
        if candidates[key]:
            found.update((folder, None) for folder in candidates[key] if _hold([folder])(job.path))
    return list(found)


def judged(jobs: Iterable[Job], named: Sequence[Path], beside: Sequence[Path]) -> list[Job]:
    """The jobs, those of a project that was never linted as a whole without what depends on files that are not read."""
    known = _hold([*(_normal(folder) for folder in named if os.path.isdir(folder)), *beside])
    return [job if known(job.path) else replace(job, settings=alone(job.settings)) for job in jobs]


def _hold(folders: Iterable[Path]) -> Callable[[Path], bool]:
    """Whether some folders hold a file: asked of all files of a run, so that their names as text must do."""
    starts = tuple(os.path.join(folder, "") for folder in folders)
    return lambda file: os.path.abspath(file).startswith(starts)


def alone(settings: Settings) -> Settings:
    """The settings of a file that is read without its project, where it has one: a configuration says so."""
    return settings if settings.config_file is None else replace(settings, rules=settings.rules - _OF_THE_WHOLE)


def remember(jobs: Iterable[Job], named: Sequence[Path]) -> None:
    """Keep which folders were linted as a whole, for each configuration that held in them."""
    inside = [_normal(path) for path in named if os.path.isdir(path)]
    by_root: dict[Path, Settings] = {}
    for job in jobs if inside else ():
        by_root.setdefault(job.settings.root, job.settings)
    for settings in by_root.values():
        root = _normal(settings.root)
        own = [root if _holds(f, root) else f for f in inside if _holds(f, root) or _holds(root, f)]
        known = _remembered(settings)
        folders = [*known, *(folder for folder in own if folder not in known)]
        kept = [folder for folder in folders if not any(_holds(o, folder) and o != folder for o in folders)]
        if kept != known:
            data = {"folders": [os.path.relpath(folder, root) for folder in kept]}
            Cache(settings.cache_dir).put_note(_name(settings), json.dumps(data))


def _remembered(settings: Settings) -> list[Path]:
    note = Cache(settings.cache_dir).note(_name(settings))
    try:
        folders = [str(folder) for folder in json.loads(note or "{}").get("folders", ())]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return []
    root = _normal(settings.root)
    inside = (_normal(root / text) for text in folders)
    return [folder for folder in inside if _holds(root, folder) and os.path.isdir(folder)]


def _name(settings: Settings) -> str:
    return f"project:{_normal(settings.root)}"


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


def _holds(folder: Path, other: Path) -> bool:
    return folder == other or folder in other.parents
