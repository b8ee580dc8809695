"""Everything that decides the result of a run, and where it comes from.

Settings are read from `[tool.torchlint]` in `pyproject.toml` or from `torchlint.toml`, whichever lies closest to the
file that is linted, and overridden by the command line. `OPTIONS` is the one table of keys: it drives the reading of
files and of the command line, `torchlint config`, and the JSON schema.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from torchlint import __version__
from torchlint.engine import selection
from torchlint.engine.errors import UserError, short
from torchlint.findings import Confidence, Impact
from torchlint.source.discovery import is_pattern
from torchlint.source.files import read_regular

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "CONFIG_FILES",
    "OPTIONS",
    "Configuration",
    "ConfigurationError",
    "Option",
    "Settings",
    "config_in",
    "json_schema",
]

# What a folder may hold, in the order in which it is looked for. A pyproject.toml counts only with our table in it.
CONFIG_FILES = (".torchlint.toml", "torchlint.toml", "pyproject.toml")

CACHE_DIR = ".torchlint_cache"
_LONGEST_SHOWN = 80  # characters of a value, in a message

# Folders that hold no code of the project: version control, environments, caches, builds.
EXCLUDED = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    CACHE_DIR,
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)


class ConfigurationError(UserError):
    """A configuration that cannot be used."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the result for the files that one configuration holds for. Plain data; workers receive it."""

    root: Path  # patterns and relative paths of the configuration start here
    config_file: Path | None = None
    rules: frozenset[str] = frozenset()  # the codes that run
    fixable: frozenset[str] = frozenset()  # the codes whose fixes may be applied
    extend_safe_fixes: frozenset[str] = frozenset()  # codes whose unsafe fixes count as safe
    extend_unsafe_fixes: frozenset[str] = frozenset()  # codes whose safe fixes count as unsafe
    per_file_ignores: tuple[tuple[str, frozenset[str]], ...] = ()  # (gitignore pattern, codes)
    min_confidence: Confidence = Confidence.LIKELY
    min_impact: Impact = Impact.LOW
    torch_version: str | None = None  # the oldest torch the code must run with
    include: tuple[str, ...] = ("*.py", "*.ipynb")  # gitignore patterns of the files that are linted
    exclude: tuple[str, ...] = EXCLUDED  # gitignore patterns of files and folders that are left out
    force_exclude: bool = False  # leave out excluded files even when they are named
    respect_gitignore: bool = True
    cache_dir: Path | None = None  # none: nothing is cached
    jobs: int = 0  # worker processes; 0: one per core
    baseline: Path | None = None
    evidence: Path | None = None
    fail_on: str = "finding"
    min_speedup: float = 0.0
    fix: bool = False
    unsafe_fixes: bool = False
    fix_only: bool = False
    show_fixes: bool = False
    output_format: tuple[str, ...] = ("full",)

    def ignored(self, path: Path) -> frozenset[str]:
        """The codes that per-file ignores switch off in the file `path`."""
        codes: set[str] = set()
        for pattern, ignored in self.per_file_ignores:
            if _matches(pattern, path, self.root):
                codes |= ignored
        return frozenset(codes)

    def rules_for(self, path: Path) -> frozenset[str]:
        """The codes that run on the file `path`."""
        return self.rules - self.ignored(path) if self.per_file_ignores else self.rules

    def digest(self) -> str:
        """A hash of what decides the findings of a file of given content and place: part of every cache key."""
        deciding = (
            __version__,
            sorted(self.rules),
            sorted(self.extend_safe_fixes),
            sorted(self.extend_unsafe_fixes),
            sorted((pattern, sorted(codes)) for pattern, codes in self.per_file_ignores),
            int(self.min_confidence),
            int(self.min_impact),
            self.torch_version,
        )
        return hashlib.sha256(repr(deciding).encode()).hexdigest()


def _matches(pattern: str, path: Path, root: Path) -> bool:
    negated = pattern.startswith("!")
    absolute = path if path.is_absolute() else Path.cwd() / path
    try:
        relative = absolute.relative_to(root).as_posix()
    except ValueError:  # outside of the project: only patterns without a folder can match
        relative = absolute.name
    return bool(_spec(pattern.removeprefix("!")).match_file(relative)) is not negated


@functools.lru_cache(maxsize=512)
def _spec(pattern: str) -> Any:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern])


class FailOn(enum.Enum):
    """Which findings make the exit status 1."""

    FINDING = "finding"
    CONFIRMED = "confirmed"


class _BadValueError(ValueError):
    """A value of the wrong type or out of range; the message says what it should be."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of value: how it is named, read from TOML, and described as JSON schema."""

    name: str
    read: Callable[[Any, Path], Any]  # (value, folder that relative paths start from) -> value, or _BadValueError
    schema: Mapping[str, Any]


def _typed(expected: type, name: str) -> Callable[[Any, Path], Any]:
    def read(value: Any, _root: Path) -> Any:
        # bool is an int to Python, not to a person.
        if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
            raise _BadValueError(f"must be {name}, not {_shown(value)}")
        return value

    return read


def _shown(value: Any) -> str:
    if isinstance(value, str) and len(value) > _LONGEST_SHOWN:
        value = f"{value[:_LONGEST_SHOWN]}..."
    return repr(value) if isinstance(value, (str, bool, int, float)) else f"a {type(value).__name__}"


def _strings(value: Any, _root: Path) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise _BadValueError(f'must be a list of strings, such as ["a", "b"], not {_shown(value)}')
    return tuple(value)


def _patterns(value: Any, root: Path) -> tuple[str, ...]:
    """Patterns as in a .gitignore; what git passes over in its own files is most likely a slip here."""
    patterns = _strings(value, root)
    for pattern in patterns:
        if not is_pattern(pattern):
            raise _BadValueError(f"{_shown(pattern)} is no pattern of a .gitignore")
    return patterns


def _selectors(value: Any, root: Path) -> tuple[str, ...]:
    selectors = _strings(value, root)
    for selector in selectors:
        selection.expand(selector)
    return selectors


def _ignores(value: Any, root: Path) -> tuple[tuple[str, frozenset[str]], ...]:
    if not isinstance(value, Mapping):
        raise _BadValueError(f'must be a table of patterns, such as {{"tests/*" = ["TL1"]}}, not {_shown(value)}')
    _patterns([*value], root)
    return tuple(
        (pattern, frozenset().union(*map(selection.expand, _selectors(codes, root))))
        for pattern, codes in value.items()
    )


def _path(value: Any, root: Path) -> Path:
    text = str(_typed(str, "a path in quotes")(value, root))
    if "\0" in text:
        raise _BadValueError(f"must be a path, and {_shown(text)} is none")
    return root / os.path.expanduser(os.path.expandvars(text))


def _choice(choices: Sequence[str]) -> Callable[[Any, Path], str]:
    def read(value: Any, _root: Path) -> str:
        if value not in choices:
            near = selection.nearest(value, choices) if isinstance(value, str) else ""
            raise _BadValueError(f"must be one of {', '.join(choices)}, not {_shown(value)}{near}")
        return str(value)

    return read


def _grade(grades: type[Confidence] | type[Impact]) -> Callable[[Any, Path], Any]:
    read_name = _choice([str(grade) for grade in grades])
    return lambda value, root: grades[read_name(value, root).upper()]


def _whole(value: Any, root: Path) -> int:
    number = int(_typed(int, "a whole number")(value, root))
    if number < 0:
        raise _BadValueError(f"must not be negative, as {number} is")
    return number


def _number(value: Any, root: Path) -> float:
    number = float(_typed((int, float), "a number")(value, root))  # type: ignore[arg-type]
    if not number >= 0:
        raise _BadValueError(f"must not be negative, as {number} is")
    return number


def _version(value: Any, root: Path) -> str:
    from packaging.version import InvalidVersion, Version

    text = str(_typed(str, 'a version in quotes, such as "2.4"')(value, root))
    try:
        Version(text)
    except InvalidVersion as error:
        raise _BadValueError(f'must be a version, such as "2.4", not {text!r}') from error
    return text


def _required(value: Any, root: Path) -> str:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    text = str(_typed(str, 'a version specifier in quotes, such as ">=0.1"')(value, root))
    try:
        # A bare version means that one.
        wanted = SpecifierSet(text if not text[:1].isdigit() else f"=={text}")
    except InvalidSpecifier as error:
        raise _BadValueError(f'must be a version specifier, such as ">=0.1", not {text!r}') from error
    if not wanted.contains(__version__, prereleases=True):
        raise _BadValueError(f"asks for torchlint {text}, and this is {__version__}")
    return text


_LIST = {"type": "array", "items": {"type": "string"}}
BOOL = Kind("bool", _typed(bool, "true or false"), {"type": "boolean"})
WHOLE = Kind("int", _whole, {"type": "integer", "minimum": 0})
NUMBER = Kind("float", _number, {"type": "number", "minimum": 0})
PATH = Kind("path", _path, {"type": "string"})
STRINGS = Kind("list[str]", _strings, _LIST)
PATTERNS = Kind("list[str]", _patterns, _LIST)
SELECTORS = Kind("list[selector]", _selectors, {"type": "array", "items": {"$ref": "#/$defs/selector"}})
IGNORES = Kind(
    "dict[pattern, list[selector]]",
    _ignores,
    {"type": "object", "additionalProperties": {"type": "array", "items": {"$ref": "#/$defs/selector"}}},
)
VERSION = Kind("version", _version, {"type": "string"})
SPECIFIER = Kind("version specifier", _required, {"type": "string"})


def _enumeration(names: Sequence[str], read: Callable[[Any, Path], Any] | None = None) -> Kind:
    quoted = " | ".join(f'"{name}"' for name in names)
    return Kind(quoted, read or _choice(names), {"enum": list(names)})


CONFIDENCE = _enumeration([str(grade) for grade in Confidence], _grade(Confidence))
IMPACT = _enumeration([str(grade) for grade in Impact], _grade(Impact))
FAIL_ON = _enumeration([value.value for value in FailOn])


@dataclass(frozen=True, slots=True)
class Option:
    """One key of the configuration."""

    key: str
    kind: Kind
    default: Any  # as it would be written in TOML; None: nothing
    help: str
    example: str  # TOML

    @property
    def field(self) -> str:
        """The name of the key in Python."""
        return self.key.replace("-", "_")


OPTIONS: Mapping[str, Option] = {
    option.key: option
    for option in (
        Option("extend", PATH, None, "A configuration file that this one builds on.", 'extend = "../torchlint.toml"'),
        Option(
            "required-version",
            SPECIFIER,
            None,
            "The versions of torchlint that may run with this configuration; any other stops with an error.",
            'required-version = ">=0.1"',
        ),
        Option(
            "select",
            SELECTORS,
            None,
            "The rules that run, instead of the default set: codes, beginnings of codes, names, bottlenecks, or ALL.",
            'select = ["TL", "sync", "naive-softmax"]',
        ),
        Option("ignore", SELECTORS, [], "Rules that do not run.", 'ignore = ["TL201"]'),
        Option("extend-select", SELECTORS, [], "Rules that run as well.", 'extend-select = ["TL210", "TL401"]'),
        Option("extend-ignore", SELECTORS, [], "Further rules that do not run.", 'extend-ignore = ["TL309"]'),
        Option(
            "per-file-ignores",
            IGNORES,
            {},
            "Rules that do not run in files that match a pattern, written as in a .gitignore; a leading ! turns the "
            "pattern round.",
            'per-file-ignores = { "tests/*" = ["TL1"], "benchmarks/" = ["TL110"] }',
        ),
        Option(
            "extend-per-file-ignores",
            IGNORES,
            {},
            "Further per-file ignores.",
            'extend-per-file-ignores = { "scripts/" = ["TL7"] }',
        ),
        Option(
            "min-confidence",
            CONFIDENCE,
            "likely",
            "The least confidence of a finding that is reported.",
            'min-confidence = "sure"',
        ),
        Option("min-impact", IMPACT, "low", "The least impact of a finding that is reported.", 'min-impact = "medium"'),
        Option(
            "torch-version",
            VERSION,
            None,
            "The oldest torch that the code runs with; rules whose advice needs a newer one stay silent.",
            'torch-version = "2.4"',
        ),
        Option("include", PATTERNS, ["*.py", "*.ipynb"], "The files that are linted.", 'include = ["*.py"]'),
        Option("extend-include", PATTERNS, [], "Further files that are linted.", 'extend-include = ["*.pyw"]'),
        Option(
            "exclude", PATTERNS, list(EXCLUDED), "Files and folders that are left out.", 'exclude = ["third_party"]'
        ),
        Option(
            "extend-exclude",
            PATTERNS,
            [],
            "Further files and folders that are left out.",
            'extend-exclude = ["legacy/"]',
        ),
        Option(
            "force-exclude",
            BOOL,
            False,
            "Leave out what is excluded even when it is named on the command line, as pre-commit does.",
            "force-exclude = true",
        ),
        Option("respect-gitignore", BOOL, True, "Leave out what git ignores.", "respect-gitignore = false"),
        Option(
            "cache-dir", PATH, CACHE_DIR, "Where results are kept between runs.", 'cache-dir = "~/.cache/torchlint"'
        ),
        Option("cache", BOOL, True, "Keep results between runs.", "cache = false"),
        Option("jobs", WHOLE, 0, "The number of worker processes; 0 is one per core.", "jobs = 4"),
        Option(
            "baseline",
            PATH,
            None,
            "A file of findings that are accepted for now.",
            'baseline = "torchlint-baseline.json"',
        ),
        Option(
            "evidence", PATH, None, "What --verify measured; shown beside the findings.", 'evidence = "evidence.json"'
        ),
        Option(
            "fail-on",
            FAIL_ON,
            "finding",
            "Which findings make the exit status 1: each, or those that the evidence confirms.",
            'fail-on = "confirmed"',
        ),
        Option(
            "min-speedup",
            NUMBER,
            0.0,
            "The least measured gain that makes the exit status 1, as a ratio of times; needs evidence.",
            "min-speedup = 1.1",
        ),
        Option("fixable", SELECTORS, ["ALL"], "Rules whose fixes may be applied.", 'fixable = ["TL6"]'),
        Option("unfixable", SELECTORS, [], "Rules whose fixes are never applied.", 'unfixable = ["TL301"]'),
        Option(
            "extend-safe-fixes",
            SELECTORS,
            [],
            "Rules whose unsafe fixes count as safe.",
            'extend-safe-fixes = ["TL302"]',
        ),
        Option(
            "extend-unsafe-fixes",
            SELECTORS,
            [],
            "Rules whose safe fixes count as unsafe.",
            'extend-unsafe-fixes = ["TL601"]',
        ),
        Option("fix", BOOL, False, "Apply fixes, as --fix does.", "fix = true"),
        Option("unsafe-fixes", BOOL, False, "Apply unsafe fixes too.", "unsafe-fixes = true"),
        Option("fix-only", BOOL, False, "Apply fixes and report nothing else; implies fix.", "fix-only = true"),
        Option("show-fixes", BOOL, False, "List the fixes that were applied.", "show-fixes = true"),
        Option("output-format", STRINGS, ["full"], "How findings are shown.", 'output-format = ["concise"]'),
    )
}


def json_schema() -> dict[str, Any]:
    """The JSON schema of `torchlint.toml` and `[tool.torchlint]`."""
    properties = {
        option.key: {"description": option.help, **option.kind.schema}
        | ({} if option.default is None else {"default": option.default})
        for option in OPTIONS.values()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "torchlint",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": {"selector": {"type": "string", "examples": ["ALL", *(rule.code for rule in selection.catalogue())]}},
    }


@dataclass(frozen=True, slots=True)
class _Layer:
    """Values that came from one place: a file, an inline override or the command line."""

    where: str
    values: Mapping[str, Any]


def _layer(values: Mapping[str, Any], where: str, root: Path, spell: Callable[[str], str] = str) -> _Layer:
    """Read raw values against the table of options; `spell` says how a key is written there."""
    read: dict[str, Any] = {}
    for key, value in values.items():
        option = OPTIONS.get(key)
        if option is None:
            _fail(f"unknown key {_shown(key)}{selection.nearest(key, OPTIONS)}", where)
        try:
            read[key] = option.kind.read(value, root)
        except (_BadValueError, selection.UnknownSelectorError) as error:
            _fail(f"{spell(key)}: {error}", where)
    return _Layer(where, read)


def _fail(message: str, where: str) -> NoReturn:
    raise ConfigurationError(f"{where}: {message}" if where else message)


def _read_toml(path: Path) -> dict[str, Any]:
    """The torchlint table of a configuration file; for a pyproject.toml without one, raises KeyError."""
    try:
        document = tomllib.loads(read_regular(path).decode("utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{short(path)}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{short(path)}: is not UTF-8 (byte {error.start})") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a ValueError
        raise ConfigurationError(f"{short(path)}: is not valid TOML: {error}") from error
    if path.name != "pyproject.toml":
        return document
    tool = document.get("tool", {})
    table = tool["torchlint"] if isinstance(tool, dict) else None
    if not isinstance(table, dict):
        raise ConfigurationError(f"{short(path)}: tool.torchlint must be a table, [tool.torchlint]")
    return table


def config_in(folder: Path) -> Path | None:
    """The configuration file that lies in `folder`, if any."""
    for name in CONFIG_FILES:
        path = folder / name
        if os.path.isfile(path):
            try:
                _read_toml(path)
            except KeyError:
                continue
            except ConfigurationError:
                if os.path.isfile(path):
                    raise
                continue  # it went before it was read
            return path
    return None


class Configuration:
    """Which settings hold for which file.

    `overrides` are raw values by key, as the command line gives them; `inline` are TOML lines, `key = value`. Both hold
    for every file. With `config_file` that file is used for all, with `isolated` none is.
    """

    def __init__(
        self,
        overrides: Mapping[str, Any] | None = None,
        *,
        inline: Iterable[str] = (),
        config_file: Path | None = None,
        isolated: bool = False,
        cwd: Path | None = None,
    ) -> None:
        self.cwd = (cwd or Path.cwd()).absolute()
        self._isolated = isolated
        self._config_file = None if config_file is None else self.cwd / config_file
        if isolated and config_file is not None:
            raise ConfigurationError("--isolated reads no configuration, and --config names a file: give one of them")
        self._over = [_inline(line, self.cwd) for line in inline]
        self._over.append(_layer(overrides or {}, "", self.cwd, spell=lambda key: f"--{key}"))
        self._by_file: dict[Path | None, Settings] = {}
        self._file_of: dict[Path, Path | None] = {}

    def for_folder(self, folder: Path) -> Settings:
        """The settings of the files that lie directly in `folder`.

        Raises ConfigurationError where the configuration that holds there cannot be used.
        """
        file = self._config_file
        if file is None and not self._isolated:
            file = self._closest(Path(os.path.normpath(self.cwd / folder)))
        if file not in self._by_file:
            try:
                self._by_file[file] = self._settings(file)
            except ConfigurationError:
                if file is None or file == self._config_file or os.path.isfile(file):
                    raise
                self._file_of.clear()  # it went before it was read: look again
                return self.for_folder(folder)
        return self._by_file[file]

    def _closest(self, folder: Path) -> Path | None:
        """The configuration file in `folder` or, failing that, in the closest folder above it."""
        for candidate in (folder, *folder.parents):
            if candidate not in self._file_of:
                self._file_of[candidate] = config_in(candidate)
            if self._file_of[candidate] is not None:
                return self._file_of[candidate]
        return None

    def for_file(self, path: Path) -> Settings:
        """The settings of the file `path`."""
        return self.for_folder((self.cwd / path).parent)

    def _settings(self, file: Path | None) -> Settings:
        layers = [] if file is None else _file_layers(file)
        root = self.cwd if file is None or self._config_file is not None else file.parent
        return _combine([*layers, *self._over], root, file)


def _inline(line: str, root: Path) -> _Layer:
    where = f"--config {line!r}"
    try:
        values = tomllib.loads(line)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(
            f"{where}: is neither a file nor TOML, such as \"ignore = ['TL201']\": {error}"
        ) from error
    return _layer(values, where, root)


def _file_layers(file: Path, seen: tuple[Path, ...] = ()) -> list[_Layer]:
    """The file and what it extends, weakest first."""
    if file in seen:
        raise ConfigurationError(f"{short(file)}: extends itself: {' -> '.join(map(short, (*seen, file)))}")
    try:
        layer = _layer(_read_toml(file), short(file), file.parent)
    except KeyError as error:
        raise ConfigurationError(f"{short(file)}: has no table [tool.torchlint]") from error
    base = layer.values.get("extend")
    below = [] if base is None else _file_layers(Path(os.path.normpath(base)), (*seen, file))
    return [*below, layer]


def _combine(layers: Sequence[_Layer], root: Path, file: Path | None) -> Settings:
    def last(key: str) -> Any:
        """The value of the strongest layer that has one; the default read like any other."""
        for layer in reversed(layers):
            if key in layer.values:
                return layer.values[key]
        option = OPTIONS[key]
        return None if option.default is None else option.kind.read(option.default, root)

    def all_of(key: str) -> tuple[Any, ...]:
        return tuple(item for layer in layers for item in layer.values.get(key, ()))

    def codes(key: str) -> frozenset[str]:
        return frozenset().union(*map(selection.expand, all_of(key)))

    values: dict[str, Any] = {
        field.name: last(key) for field in fields(Settings) if (key := field.name.replace("_", "-")) in OPTIONS
    }
    torch_version = values["torch_version"]
    values |= {
        "rules": _for_torch(
            selection.resolve(
                [_selection(layer, "select", ("extend-select",), ("ignore", "extend-ignore")) for layer in layers],
                default=[rule.code for rule in selection.catalogue() if rule.default],
            ),
            torch_version,
        ),
        "fixable": selection.resolve(
            [_selection(layer, "fixable", (), ("unfixable",)) for layer in layers],
            default=selection.expand("ALL"),
        ),
        "extend_safe_fixes": codes("extend-safe-fixes"),
        "extend_unsafe_fixes": codes("extend-unsafe-fixes"),
        "per_file_ignores": (*last("per-file-ignores"), *all_of("extend-per-file-ignores")),
        "include": (*last("include"), *all_of("extend-include")),
        "exclude": (*last("exclude"), *all_of("extend-exclude")),
        "cache_dir": last("cache-dir") if last("cache") else None,
        "fix": values["fix"] or values["fix_only"],
    }
    return Settings(root=root, config_file=file, **values)


def _selection(layer: _Layer, select: str, extend: Sequence[str], ignore: Sequence[str]) -> selection.Selection:
    def joined(keys: Sequence[str]) -> tuple[str, ...]:
        return tuple(selector for key in keys for selector in layer.values.get(key, ()))

    return selection.Selection(layer.values.get(select), joined(extend), joined(ignore))


def _for_torch(codes: frozenset[str], torch_version: str | None) -> frozenset[str]:
    """Without the rules whose advice needs a newer torch than the code runs with."""
    if torch_version is None:
        return codes
    from packaging.version import Version

    oldest = Version(torch_version)
    by_code = selection.rules_by_code()
    return frozenset(code for code in codes if Version(by_code[code].torch) <= oldest)
