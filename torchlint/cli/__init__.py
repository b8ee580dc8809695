"""The command line. Its parts are imported when a command needs them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from torchlint import __version__

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line on `arguments`, by default those of the process, and exit."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given == ["--version"]:  # editors and hooks ask often; click alone takes longer than the answer
        print(f"torchlint {__version__}")
        sys.exit(0)
    from torchlint.cli.app import run
    from torchlint.cli.status import EXIT_INTERRUPTED

    status = run(given)
    if status == EXIT_INTERRUPTED:
        # A thread that is still parsing would bring the interpreter down while it cleans up behind itself.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
