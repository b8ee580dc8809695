"""Which command runs, and what becomes of its errors."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from torchlint import __version__
from torchlint.cli import console
from torchlint.cli.status import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_OK
from torchlint.engine.errors import UserError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["COMMANDS", "run"]


# Name -> (module, the click command in it, one line of help).
COMMANDS: Mapping[str, tuple[str, str, str]] = {
    "check": ("torchlint.cli.check", "check", "Lint files and folders; the command when none is named."),
    "verify": ("torchlint.verify.cli", "verify", "Measure on a GPU what the findings cost."),
    "rule": ("torchlint.cli.rule", "rule", "Explain a rule, or all of them."),
    "explain": ("torchlint.cli.explain", "explain", "Say why a line is hot or not, and what each rule made of it."),
    "config": ("torchlint.cli.config", "config", "Explain the keys of the configuration."),
    "baseline": ("torchlint.cli.baseline", "baseline", "Accept what an old code base has, for now."),
    "init": ("torchlint.cli.init", "init", "Write a commented configuration to start from."),
    "clean": ("torchlint.cli.clean", "clean", "Remove the caches below the current folder."),
    "server": ("torchlint.lsp", "server", "Run the language server on the standard streams."),
}

_EXTRAS = {"verify": "verify", "server": "lsp"}  # the extra that brings what a command needs

# Options that may stand before the name of a command as well as after it.
_GLOBAL_FLAGS = frozenset({"-q", "--quiet", "-v", "--verbose", "--isolated"})
_GLOBAL_VALUES = frozenset({"--config"})


class _Commands(click.Group):
    """The group of all commands; each is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[name]
        try:
            command = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as failure:
            raise _not_installed(name, module, failure) from failure
        assert isinstance(command, click.Command)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and extra.get("resilient_parsing"):  # the shell asks how a line goes on, as it was typed
            args = route(args)
        return super().make_context(info_name, args, parent, **extra)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What the first word may be: a command, or what `check`, which is not named, begins with."""
        named = super().shell_complete(ctx, incomplete)
        check = self.get_command(ctx, "check")
        assert check is not None
        with check.make_context("check", [], parent=ctx, resilient_parsing=True) as own:
            if incomplete.startswith("-"):
                known = {item.value for item in named}
                return named + [item for item in check.shell_complete(own, incomplete) if item.value not in known]
            (paths,) = (param for param in check.params if isinstance(param, click.Argument))
            return paths.shell_complete(own, incomplete) + named  # files first: they end what stands before them

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


def _not_installed(name: str, module: str, failure: ModuleNotFoundError) -> Exception:
    """What to say of a command whose module cannot be imported: it, or a package it needs, is not here."""
    missing = failure.name or ""
    if missing and f"{module}.".startswith(f"{missing}."):
        return click.ClickException(f"this version of torchlint has no command {name!r}")
    if name in _EXTRAS and not missing.startswith("torchlint"):
        hint = f"pip install 'torchlint[{_EXTRAS[name]}]'"
        return click.ClickException(f"{name!r} needs {missing}, which is not installed: {hint}")
    return failure


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`torchlint PATHS` is `torchlint check PATHS`, and `torchlint --verify PATHS` is `torchlint verify PATHS`. "
    "A command's name wins over a path of that name: write ./config for the path.",
)
@click.version_option(__version__, "-V", "--version", prog_name="torchlint", message="%(prog)s %(version)s")
def cli() -> None:
    """Find, measure and repair performance antipatterns in PyTorch code."""


def route(arguments: Sequence[str]) -> list[str]:
    """`arguments` with the name of their command in front.

    `--verify` in place of a command means verify, no command means check, and global options may stand before a
    command.
    """
    if arguments and arguments[0] in {"-h", "--help", "-V", "--version"}:
        return list(arguments)
    index = 0
    while index < len(arguments):
        if arguments[index] in _GLOBAL_FLAGS:
            index += 1
        elif arguments[index] in _GLOBAL_VALUES:
            index += 2
        else:
            break
    if index < len(arguments) and arguments[index] in COMMANDS:
        return [arguments[index], *arguments[:index], *arguments[index + 1 :]]
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--verify" in options:
        at = options.index("--verify")
        return ["verify", *arguments[:at], *arguments[at + 1 :]]
    return ["check", *arguments]


def run(arguments: Sequence[str]) -> int:
    """Run the command line on `arguments` and return the exit status."""
    console.prepare()
    try:
        os.getcwd()
    except OSError as error:
        console.error(f"the working folder cannot be told, it may be gone: {error.strerror}")
        return EXIT_ERROR
    try:
        result: Any = cli.main(args=route(arguments), prog_name="torchlint", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except click.UsageError as failure:
        console.error(failure.format_message())
        command = failure.ctx.command_path if failure.ctx is not None else "torchlint"
        console.write([f"Try '{command} --help'.\n"], sys.stderr)
        return EXIT_ERROR
    except click.ClickException as failure:
        console.error(failure.format_message())
        return EXIT_ERROR
    except Exception as failure:
        if isinstance(failure, UserError):
            console.error(str(failure))
        else:
            _report_bug(failure, verbose=bool({"-v", "--verbose"} & set(arguments)))
        return EXIT_ERROR
    return result if isinstance(result, int) else EXIT_OK


def _report_bug(failure: Exception, *, verbose: bool) -> None:
    frames = traceback.extract_tb(failure.__traceback__)
    package = os.path.dirname(os.path.dirname(__file__)) + os.sep
    own = [frame for frame in frames if frame.filename.startswith(package)]
    where = f" at {own[-1].filename.removeprefix(package)}:{own[-1].lineno}" if own else ""
    if verbose:
        console.write(traceback.format_exception(failure), sys.stderr)
    what = str(failure) or "no message"
    console.error(f"internal error, a bug of torchlint{where}: {type(failure).__name__}: {what}")
