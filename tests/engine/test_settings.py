"""Where settings come from, and what is said of wrong ones."""

from __future__ import annotations

import json
import os
import pickle
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from torchlint.engine import selection
from torchlint.engine.settings import OPTIONS, Configuration, ConfigurationError, Settings, json_schema
from torchlint.findings import Confidence, Impact
from torchlint.source.files import read_regular

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def settings(folder: Path, overrides: dict[str, Any] | None = None, **how: Any) -> Settings:
    return Configuration(overrides, cwd=folder, **how).for_folder(folder)


def failure(folder: Path, text: str, name: str = "torchlint.toml") -> str:
    """The one line that is said of a configuration file with this text."""
    write(folder / name, text)
    with pytest.raises(ConfigurationError) as raised:
        settings(folder)
    message = str(raised.value)
    assert "\n" not in message
    return message.removeprefix(str(folder) + "/")


class TestFiles:
    @pytest.mark.parametrize("reading", [1, 2])
    def test_one_that_goes_while_it_is_looked_for_is_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading: int
    ) -> None:
        file = write(tmp_path / "torchlint.toml", "min-confidence = 'sure'\n")
        times = count(1)

        def read(path: Path) -> bytes:
            if path == file and next(times) == reading:
                file.unlink()
            return read_regular(path)

        monkeypatch.setattr("torchlint.engine.settings.read_regular", read)
        found = settings(tmp_path)
        assert not file.exists()
        assert (found.config_file, found.min_confidence) == (None, Confidence.LIKELY)

    def test_none_is_needed(self, tmp_path: Path) -> None:
        found = settings(tmp_path, isolated=True)
        assert found.min_confidence is Confidence.LIKELY
        assert found.cache_dir == tmp_path / ".torchlint_cache"
        assert {"TL001", "TL002", "TL003", "TL101"} <= found.rules
        assert "TL210" not in found.rules

    def test_the_closest_one_holds(self, tmp_path: Path) -> None:
        write(tmp_path / "pyproject.toml", "[tool.torchlint]\nselect = ['TL1']\nmin-impact = 'high'\n")
        write(tmp_path / "a/torchlint.toml", "select = ['TL601']\n")
        write(tmp_path / "a/b/pyproject.toml", "[tool.other]\nkey = 1\n")
        configuration = Configuration(cwd=tmp_path)
        assert configuration.for_file(Path("x.py")).min_impact is Impact.HIGH
        # A closer file replaces the one above it; a pyproject.toml without our table is none.
        below = configuration.for_file(Path("a/b/x.py"))
        assert below.rules == {"TL601"}
        assert below.min_impact is Impact.LOW
        assert below.root == tmp_path / "a"

    def test_torchlint_toml_wins_over_pyproject(self, tmp_path: Path) -> None:
        write(tmp_path / "pyproject.toml", "[tool.torchlint]\nselect = ['TL1']\n")
        write(tmp_path / "torchlint.toml", "select = ['TL601']\n")
        assert settings(tmp_path).rules == {"TL601"}

    def test_a_byte_order_mark_is_no_error(self, tmp_path: Path) -> None:
        (tmp_path / "torchlint.toml").write_bytes(b"\xef\xbb\xbfselect = ['TL601']\r\n")
        assert settings(tmp_path).rules == {"TL601"}

    def test_extend_builds_on_another_file(self, tmp_path: Path) -> None:
        write(tmp_path / "base.toml", "select = ['TL1', 'TL601']\nmin-impact = 'high'\nexclude = ['old/']\n")
        write(tmp_path / "p/torchlint.toml", "extend = '../base.toml'\nignore = ['TL1']\n")
        found = settings(tmp_path / "p")
        assert found.rules == {"TL601"}
        assert found.min_impact is Impact.HIGH
        assert found.exclude == ("old/",)

    def test_a_file_that_extends_itself_is_an_error(self, tmp_path: Path) -> None:
        write(tmp_path / "a.toml", "extend = 'torchlint.toml'\n")
        assert "extends itself" in failure(tmp_path, "extend = 'a.toml'\n")

    def test_isolated_reads_none(self, tmp_path: Path) -> None:
        write(tmp_path / "torchlint.toml", "nonsense")
        assert settings(tmp_path, isolated=True).config_file is None

    def test_a_named_file_holds_everywhere(self, tmp_path: Path) -> None:
        write(tmp_path / "a/torchlint.toml", "select = ['TL1']\n")
        named = write(tmp_path / "other.toml", "select = ['TL601']\n")
        configuration = Configuration(config_file=named, cwd=tmp_path)
        assert configuration.for_file(Path("a/x.py")).rules == {"TL601"}
        # Its patterns start where the user stands.
        assert configuration.for_file(Path("a/x.py")).root == tmp_path


class TestOverrides:
    def test_the_command_line_wins(self, tmp_path: Path) -> None:
        write(tmp_path / "torchlint.toml", "min-impact = 'high'\nselect = ['TL1']\nextend-exclude = ['a/']\n")
        found = settings(tmp_path, {"min-impact": "medium", "extend-exclude": ["b/"]}, inline=["select = ['TL601']"])
        assert found.min_impact is Impact.MEDIUM
        assert found.rules == {"TL601"}
        assert found.exclude[-2:] == ("a/", "b/")

    def test_no_cache(self, tmp_path: Path) -> None:
        assert settings(tmp_path, {"cache": False}, isolated=True).cache_dir is None

    def test_errors_name_the_option(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match=r"^--select: no rule is called 'TL999'"):
            settings(tmp_path, {"select": ["TL999"]}, isolated=True)
        with pytest.raises(
            ConfigurationError, match=r"^--config 'min-impct = 1': unknown key 'min-impct'; did you mean"
        ):
            settings(tmp_path, inline=["min-impct = 1"], isolated=True)
        with pytest.raises(ConfigurationError, match="is neither a file nor TOML"):
            settings(tmp_path, inline=["what"], isolated=True)


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("selct = []", "torchlint.toml: unknown key 'selct'; did you mean 'select'?"),
            ("select = ['TL1O1']", "torchlint.toml: select: no rule is called 'TL1O1'; did you mean 'TL101'?"),
            ("ignore = ['sync-scalar-reed']", "torchlint.toml: ignore: no rule is called 'sync-scalar-reed'; "
             "did you mean 'sync-scalar-read'?"),
            ("select = 'TL1'", 'torchlint.toml: select: must be a list of strings, such as ["a", "b"], not \'TL1\''),
            ("a" * 999 + " = 1", f"torchlint.toml: unknown key '{'a' * 80}...'"),
            ("exclude = ['a', '!']", "torchlint.toml: exclude: '!' is no pattern of a .gitignore"),
            ("exclude = ['[z-a]']", "torchlint.toml: exclude: '[z-a]' is no pattern of a .gitignore"),
            ("per-file-ignores = {'' = ['TL1']}", "torchlint.toml: per-file-ignores: '' is no pattern of a .gitignore"),
            (r'cache-dir = "a\u0000"', "torchlint.toml: cache-dir: must be a path, and 'a\\x00' is none"),
            ("fix = 1", "torchlint.toml: fix: must be true or false, not 1"),
            ("jobs = true", "torchlint.toml: jobs: must be a whole number, not True"),
            ("jobs = -1", "torchlint.toml: jobs: must not be negative, as -1 is"),
            ("min-speedup = nan", "torchlint.toml: min-speedup: must not be negative, as nan is"),
            ("min-impact = 'hihg'", "torchlint.toml: min-impact: must be one of low, medium, high, not 'hihg'; "
             "did you mean 'high'?"),
            ("min-confidence = 3", "torchlint.toml: min-confidence: must be one of possible, likely, sure, not 3"),
            ("fail-on = 'x'", "torchlint.toml: fail-on: must be one of finding, confirmed, not 'x'"),
            ("torch-version = 'two'", "torchlint.toml: torch-version: must be a version, such as \"2.4\", not 'two'"),
            ("required-version = '>=99'", "torchlint.toml: required-version: asks for torchlint >=99, and this is "),
            ("per-file-ignores = ['a']", 'torchlint.toml: per-file-ignores: must be a table of patterns, such as '
             '{"tests/*" = ["TL1"]}, not a list'),
            ("[per-file-ignores]\n'a' = ['TL9999']", "torchlint.toml: per-file-ignores: no rule is called 'TL9999'"),
            ("extend = 'gone.toml'", "gone.toml: cannot be read: No such file or directory"),
        ],
    )  # fmt: skip
    def test_say_key_file_and_nearest_name(self, text: str, message: str, tmp_path: Path) -> None:
        assert failure(tmp_path, text).startswith(message)

    def test_say_where_toml_is_broken(self, tmp_path: Path) -> None:
        assert failure(tmp_path, "select = [").startswith("torchlint.toml: is not valid TOML: ")

    def test_a_number_of_thousands_of_digits_is_an_error(self, tmp_path: Path) -> None:
        assert failure(tmp_path, "jobs = " + "9" * 6000).startswith("torchlint.toml: is not valid TOML: ")

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
    def test_what_has_no_end_is_not_read(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.toml")
        assert failure(tmp_path, "extend = 'pipe.toml'") == "pipe.toml: cannot be read: is not a regular file"

    def test_our_table_must_be_one(self, tmp_path: Path) -> None:
        message = failure(tmp_path, "[tool]\ntorchlint = 1\n", "pyproject.toml")
        assert message == "pyproject.toml: tool.torchlint must be a table, [tool.torchlint]"

    def test_what_is_not_utf8(self, tmp_path: Path) -> None:
        (tmp_path / "torchlint.toml").write_bytes(b"select = ['\xff']")
        with pytest.raises(ConfigurationError, match="is not UTF-8"):
            settings(tmp_path)


class TestPerFileIgnores:
    TEXT = """
    select = ["TL1", "TL601"]
    [per-file-ignores]
    "tests/" = ["TL101"]
    "*_bench.py" = ["TL1"]
    "/setup.py" = ["ALL"]
    "!src/**" = ["TL601"]
    """

    @pytest.mark.parametrize(
        ("path", "ignored"),
        [
            ("src/a.py", set()),
            ("src/tests/a.py", {"TL101"}),
            ("tests/deep/a.py", {"TL101", "TL601"}),
            ("src/x_bench.py", {"TL101", "TL102"}),
            ("src/setup.py", set()),
            ("setup.py", {"TL101", "TL102", "TL601"}),
        ],
    )
    def test_match_as_a_gitignore_does(self, path: str, ignored: set[str], tmp_path: Path) -> None:
        write(tmp_path / "torchlint.toml", self.TEXT)
        found = settings(tmp_path)
        codes = found.rules - found.rules_for(tmp_path / path)
        assert codes & {"TL101", "TL102", "TL601"} == ignored

    def test_extend_adds(self, tmp_path: Path) -> None:
        write(tmp_path / "torchlint.toml", self.TEXT)
        found = settings(tmp_path, {"extend-per-file-ignores": {"src/": ["TL102"]}})
        assert found.ignored(tmp_path / "src/x.py") == {"TL102"}


def test_rules_whose_advice_needs_a_newer_torch_stay_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = selection.rules_by_code()
    newer = dict(rules) | {"TL101": replace(rules["TL101"], torch="2.10")}
    monkeypatch.setattr(selection, "rules_by_code", lambda: newer)
    assert "TL101" in settings(tmp_path, isolated=True).rules
    assert "TL101" in settings(tmp_path, {"torch-version": "2.10"}, isolated=True).rules
    older = settings(tmp_path, {"torch-version": "2.9.1"}, isolated=True).rules
    assert "TL101" not in older
    assert "TL102" in older


def test_settings_travel_to_workers(tmp_path: Path) -> None:
    found = settings(tmp_path, isolated=True)
    assert pickle.loads(pickle.dumps(found)) == found


def test_the_digest_changes_with_what_decides_the_findings_and_with_nothing_else(tmp_path: Path) -> None:
    plain = settings(tmp_path, isolated=True).digest()
    assert settings(tmp_path, {"jobs": 3, "fix": True, "output-format": ["json"]}, isolated=True).digest() == plain
    for change in ({"ignore": ["TL1"]}, {"min-impact": "high"}, {"per-file-ignores": {"a.py": ["TL1"]}}):
        assert settings(tmp_path, change, isolated=True).digest() != plain


def test_every_key_has_an_example_that_is_read_and_that_the_schema_allows(tmp_path: Path) -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for option in OPTIONS.values():
        document = Configuration(inline=[option.example], cwd=tmp_path, isolated=True)
        assert document.for_folder(tmp_path)
        values = tomllib.loads(option.example)
        assert list(values) == [option.key]
        jsonschema.validate(values, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"selct": []}, schema)
    assert json.dumps(schema)
