"""Options that several commands share, and how they become settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from torchlint.findings import Confidence, Impact
from torchlint.report.formats import FORMATS

if TYPE_CHECKING:
    from torchlint.engine.settings import Configuration

__all__ = [
    "SectionedCommand",
    "config_options",
    "configuration",
    "file_options",
    "fix_options",
    "paths_argument",
    "report_options",
    "rule_options",
    "run_options",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Decorator = Callable[[_Command], _Command]


class SectionedOption(click.Option):
    """An option that knows under which heading of the help it stands."""

    section = ""


class SectionedCommand(click.Command):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is not None:
                section = option.section if isinstance(option, SectionedOption) else ""
                sections.setdefault(section, []).append(record)
        for section in sorted(sections, key=lambda name: name == ""):  # what has no heading comes last
            with formatter.section(section or "Miscellaneous"):
                formatter.write_dl(sections[section])


def _section(name: str, *options: _Decorator[Any]) -> _Decorator[Any]:
    """A decorator that adds `options`, each made by `_option`, under the heading `name`."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
            command.__click_params__[-1].section = name
        return command

    return decorate


def _option(*names: str, **attributes: Any) -> _Decorator[Any]:
    return click.option(*names, cls=SectionedOption, **attributes)


def _split(_ctx: click.Context, _param: click.Parameter, values: Sequence[str]) -> list[str] | None:
    """The items of a repeatable option whose values are separated by commas; None where it was not given."""
    if not values:
        return None
    return [item.strip() for value in values for item in value.split(",") if item.strip()]


def _patterns(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, list[str]] | None:
    """`PATTERN:RULE,RULE,PATTERN:RULE` as a table of patterns; None where it was not given."""
    items = _split(ctx, param, values)
    if items is None:
        return None
    table: dict[str, list[str]] = {}
    pattern = ""
    for item in items:
        if ":" in item:
            pattern, _, item = item.rpartition(":")
        if not pattern or not item:
            raise click.BadParameter("must be PATTERN:RULE, such as 'tests/*:TL1'")
        table.setdefault(pattern, []).append(item)
    return table


def _flag(name: str, help: str, **attributes: Any) -> _Decorator[Any]:
    """A switch that can be turned off again; None where neither was given."""
    return _option(f"--{name}/--no-{name}", default=None, help=help, **attributes)


def completed(names: Callable[[], Iterable[object]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """What a shell offers for a value: those of the `names`, asked for when they are needed, that begin as it does."""

    def offer(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in map(str, names()) if name.startswith(incomplete)]

    return offer


def _grade(name: str, what: str, grades: type[Confidence] | type[Impact]) -> _Decorator[Any]:
    help = f"Report findings from this {what}: {', '.join(map(str, grades))}."
    return _option(name, metavar="GRADE", shell_complete=completed(lambda: grades), help=help)


def _list_option(*names: str, metavar: str, help: str) -> _Decorator[Any]:
    return _option(*names, multiple=True, metavar=metavar, callback=_split, help=help)


paths_argument = click.argument("paths", nargs=-1, type=click.Path(path_type=Path))

rule_options = _section(
    "Rules",
    _list_option("--select", metavar="RULES", help="Run these rules alone: codes, names, bottlenecks, ALL."),
    _list_option("--ignore", metavar="RULES", help="Do not run these rules."),
    _list_option("--extend-select", metavar="RULES", help="Run these rules as well."),
    _list_option("--extend-ignore", metavar="RULES", help="Do not run these rules either."),
    _option(
        "--per-file-ignores",
        multiple=True,
        metavar="PATTERN:RULES",
        callback=_patterns,
        help="Do not run these rules in files that match.",
    ),
    _option(
        "--extend-per-file-ignores",
        multiple=True,
        metavar="PATTERN:RULES",
        callback=_patterns,
        help="The same, beside those of the configuration.",
    ),
    _grade("--min-confidence", "confidence", Confidence),
    _grade("--min-impact", "impact", Impact),
)

file_options = _section(
    "Files",
    _list_option("--exclude", metavar="PATTERNS", help="Leave out these files and folders."),
    _list_option("--extend-exclude", metavar="PATTERNS", help="Leave out these as well."),
    _flag("force-exclude", "Leave out what is excluded even when it is named."),
    _flag("respect-gitignore", "Leave out what git ignores; on by default."),
    _option("--stdin-filename", metavar="FILE", help="The name of what is read from standard input, with the path -."),
)

config_options = _section(
    "Configuration",
    _option("--config", multiple=True, metavar="FILE|KEY=VALUE", help="Use this file, or set this key, as in TOML."),
    _option("--isolated", is_flag=True, help="Read no configuration files."),
)

run_options = _section(
    "Running",
    _option("--no-cache", is_flag=True, envvar="TORCHLINT_NO_CACHE", help="Neither read nor write the cache."),
    _option("--cache-dir", metavar="FOLDER", envvar="TORCHLINT_CACHE_DIR", help="Keep the cache here."),
    _option("-j", "--jobs", type=int, metavar="N", help="Worker processes; 0, the default, is one per core."),
    _option("-q", "--quiet", is_flag=True, help="Print findings alone."),
    _option("-v", "--verbose", is_flag=True, help="Say which settings hold and what was looked at."),
)

fix_options = _section(
    "Fixes",
    _flag("fix", "Apply the fixes that keep every result."),
    _flag("unsafe-fixes", "Apply fixes that may change results, too."),
    _flag("fix-only", "Apply fixes and report nothing else."),
    _option("--diff", is_flag=True, help="Show what the fixes would change, and change nothing."),
    _flag("show-fixes", "List the fixes that were applied."),
    _option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 when something was fixed."),
    _option("--add-suppressions", is_flag=True, help="Write a suppression comment for every finding."),
)

report_options = _section(
    "Report",
    _option(
        "--output-format",
        multiple=True,
        metavar="FORMAT[=FILE]",
        shell_complete=completed(lambda: FORMATS),
        envvar="TORCHLINT_OUTPUT_FORMAT",
        help=f"How findings are shown; several may be given, each with its file: {', '.join(FORMATS)}.",
    ),
    _option("-o", "--output-file", type=click.Path(path_type=Path), metavar="FILE", help="Write the report here."),
    _option("--statistics", is_flag=True, help="Count the findings of each rule instead."),
    _option("--evidence", metavar="FILE", help="Show what --verify measured, from this file."),
    _option("--fail-on", metavar="finding|confirmed", help="Which findings make the exit status 1."),
    _option("--min-speedup", type=float, metavar="X", help="Of measured findings, only these make it 1."),
    _option("--baseline", metavar="FILE", help="Leave out the findings of this baseline."),
    _option("--diff-base", metavar="REVISION", help="Only findings on lines changed since this git revision."),
    _option("-e", "--exit-zero", is_flag=True, help="Exit with 0 even when there are findings."),
)


def configuration(options: Mapping[str, Any]) -> Configuration:
    """The `Configuration` that the parsed options of a command ask for.

    Raises ConfigurationError, in one line, where they cannot be used.
    """
    from torchlint.engine.settings import OPTIONS, Configuration, ConfigurationError

    overrides = {
        option.key: options[option.field] for option in OPTIONS.values() if options.get(option.field) not in (None, ())
    }
    if options.get("no_cache"):
        overrides["cache"] = False
    files: list[str] = []
    inline: list[str] = []
    for value in options.get("config") or ():
        # What cannot be read as TOML, and what is there, is meant as a file.
        (inline if "=" in value and not os.path.exists(value) else files).append(value)
    if len(files) > 1:
        raise ConfigurationError(f"--config: names two files, {files[0]} and {files[1]}: give one")
    return Configuration(
        overrides,
        inline=inline,
        config_file=Path(files[0]) if files else None,
        isolated=bool(options.get("isolated")),
    )
