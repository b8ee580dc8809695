"""The terminal: what is printed arrives, and where it cannot, nothing breaks."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Iterable
from typing import TextIO

from torchlint.engine.errors import UserError
from torchlint.report.text import Style, visible

__all__ = ["clear", "error", "is_gone", "note", "prepare", "style_for", "visible", "write", "write_bytes"]

# A source line is cut at this many columns where no terminal says how many there are.
_COLUMNS = 120
_LEAST_COLUMNS = 20


def prepare() -> None:
    """Make the standard streams take every character: what their encoding lacks becomes an escape.

    Where a stream is closed, nothing comes from it and what goes to it is lost.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - it lives as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def style_for(stream: TextIO) -> Style:
    """Colours and width for `stream`. NO_COLOR and FORCE_COLOR decide over what the stream is."""
    terminal = stream.isatty()
    if os.environ.get("NO_COLOR"):
        color = False
    elif os.environ.get("FORCE_COLOR"):
        color = os.environ["FORCE_COLOR"] != "0"
    else:
        color = terminal and os.environ.get("TERM") != "dumb"
    columns = shutil.get_terminal_size((_COLUMNS, 24)).columns if terminal else _COLUMNS
    return Style(color=color, columns=max(columns, _LEAST_COLUMNS))


def write(pieces: Iterable[str], stream: TextIO | None = None) -> None:
    """Write to `stream`, by default standard output; a reader that has gone away is no error."""
    out = sys.stdout if stream is None else stream
    try:
        for piece in pieces:
            out.write(piece)
        out.flush()
    except OSError as failure:
        _lost(out, failure)


def write_bytes(data: bytes) -> None:
    """Write to standard output what has an encoding of its own: the text of a file."""
    sys.stdout.flush()
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as failure:
        _lost(sys.stdout, failure)


def _lost(stream: TextIO, failure: OSError) -> None:
    """What to do where a stream takes no more. Raises UserError where somebody may wait for what is missing."""
    _abandon(stream)
    if stream is not sys.stderr and not isinstance(failure, BrokenPipeError):
        raise UserError(f"standard output: cannot be written: {failure.strerror or failure}") from failure


_abandoned: list[TextIO] = []


def _abandon(stream: TextIO) -> None:
    """Send what is still to come, the interpreter's last flush included, nowhere."""
    _abandoned.append(stream)
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def is_gone() -> bool:
    """Whether nobody reads standard output any more."""
    return sys.stdout in _abandoned


def clear() -> None:
    """Empty the terminal, if there is one."""
    if sys.stdout.isatty():
        write(["\x1b[2J\x1b[H"])


def note(message: str) -> None:
    """One line on standard error that a user asked for with -v."""
    write([f"{visible(message)}\n"], sys.stderr)


def error(message: str) -> None:
    """One line on standard error that says what went wrong."""
    style = style_for(sys.stderr)
    write([f"{style.paint('error', 1, 31)}: {visible(message)}\n"], sys.stderr)
