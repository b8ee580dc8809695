"""`torchlint clean`: remove caches."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import click

from torchlint.cli import console, options

__all__ = ["clean"]

_ATTEMPTS = 20


@click.command("clean")
@options.config_options
def clean(**given: object) -> None:
    """Remove the cache of the current folder and those below it."""
    configuration = options.configuration(given)
    settings = configuration.for_folder(configuration.cwd)
    folders = {
        path for path in configuration.cwd.rglob(_cache_name()) if os.path.isdir(path) and not os.path.islink(path)
    }
    if settings.cache_dir is not None and os.path.isdir(settings.cache_dir):
        folders.add(settings.cache_dir)
    for folder in sorted(folders):
        if not _is_ours(folder):
            console.error(f"{folder}: does not look like a cache of torchlint; left alone")
            continue
        try:
            _remove(folder)
        except OSError as error:
            raise click.ClickException(f"{folder}: cannot be removed: {error.strerror or error}") from error
        console.write([f"Removed {console.visible(str(folder))}\n"])


def _remove(folder: Path) -> None:
    """Remove a folder; again where a run that goes on wrote to it meanwhile. Raises OSError."""
    for left in reversed(range(_ATTEMPTS)):
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            pass  # another one removes it as well
        except OSError as error:
            if not left or error.errno != errno.ENOTEMPTY:
                raise
        if not os.path.lexists(folder):
            return


def _cache_name() -> str:
    from torchlint.engine.settings import CACHE_DIR

    return CACHE_DIR


def _is_ours(folder: Path) -> bool:
    """A cache holds the tag that marks caches, whatever a configuration names as its folder."""
    return folder.name == _cache_name() or os.path.isfile(folder / "CACHEDIR.TAG")
