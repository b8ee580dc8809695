"""Which command runs, and how it ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from tests.cli.conftest import Ran
from torchlint import __version__
from torchlint.cli import app
from torchlint.engine.errors import UserError

Call = Callable[..., Ran]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("", "check"),
        ("src", "check src"),
        ("check src", "check src"),
        ("--select TL1 src", "check --select TL1 src"),
        ("./config", "check ./config"),
        ("config", "config"),
        ("src config", "check src config"),
        ("-q check src", "check -q src"),
        ("--isolated --config rule rule TL101", "rule --isolated --config rule TL101"),
        ("--config x.toml src", "check --config x.toml src"),
        ("--verify src", "verify src"),
        ("src --verify -q", "verify src -q"),
        ("-- --verify", "check -- --verify"),
        ("--version", "--version"),
        ("--help", "--help"),
        ("-", "check -"),
    ],
)
def test_a_command_is_found_or_means_check(written: str, meant: str) -> None:
    assert app.route(written.split()) == meant.split()


@pytest.mark.parametrize(
    ("typed", "incomplete", "offered", "not_offered"),
    [
        ("", "ba", {"baseline"}, {"check", "--select"}),
        ("", "--out", {"--output-format", "--output-file"}, {"--select"}),
        ("", "--ver", {"--version", "--verbose"}, {"--select"}),
        ("src", "--unsafe", {"--unsafe-fixes"}, {"--select"}),
        ("--select TL1 -q", "--watc", {"--watch"}, {"check"}),
        ("-q rule", "--al", {"--all"}, {"--select"}),
        ("rule", "--out", {"--output-format"}, {"--output-file"}),
        ("baseline", "cr", {"create"}, {"check"}),
        ("--min-confidence", "l", {"likely"}, {"sure"}),
        ("check --min-impact", "", {"low", "high"}, {"sure"}),
        ("src --output-format", "sa", {"sarif"}, {"json"}),
        ("rule", "TL60", {"TL601"}, {"TL101"}),
        ("rule TL101", "retained", {"retained-graph-sum"}, {"TL601"}),
        ("config", "min-", {"min-confidence", "min-impact"}, {"select"}),
        ("", "sr", {"sr"}, {"check"}),  # what the shell is to complete as a path
        ("src", "sr", {"sr"}, {"check"}),
    ],
)
def test_the_shell_completes_with_and_without_a_command(
    typed: str, incomplete: str, offered: set[str], not_offered: set[str]
) -> None:
    completion = ShellComplete(app.cli, {}, "torchlint", "_TORCHLINT_COMPLETE")
    items = completion.get_completions(typed.split(), incomplete)
    values = [item.value for item in items]
    assert offered <= set(values)
    assert not not_offered & set(values)
    assert len(values) == len(set(values))
    assert all((item.type == "file") == (item.value == incomplete) for item in items)


def test_version(torchlint: Call) -> None:
    assert torchlint("--version") == Ran(0, f"torchlint {__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["check", "--help"]])
def test_asking_about_torchlint_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; from torchlint.cli.app import run; run(sys.argv[1:]);"
        "print(sorted({'libcst', 'rich', 'pygls', 'torch', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_a_run_in_which_nothing_changed_imports_neither_the_parser_nor_the_rules(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\ndef f(x: torch.Tensor):\n    return x.item()\n")
    code = (
        "import sys; from torchlint.cli.app import run; run(['check', '-q', 'a.py']);"
        "print('libcst' in sys.modules, 'torchlint.rules.registry' in sys.modules)"
    )
    said = [
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert said == ["True True\n", "False False\n"]


def test_help_names_every_command(torchlint: Call) -> None:
    ran = torchlint("--help")
    assert ran.status == 0
    assert all(f"  {name}" in ran.out for name in app.COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--selct", "TL1"], "--select"),
        (["rule"], "name a rule, such as TL101, or say --all"),
        (["config", "selct"], "no key is called 'selct'; did you mean 'select'?"),
        (["rule", "TL1O1"], "no rule is called 'TL1O1'; did you mean 'TL101'?"),
    ],
)
def test_misuse_is_one_error_and_status_2(arguments: list[str], said: str, torchlint: Call) -> None:
    ran = torchlint(*arguments)
    assert ran.status == 2
    assert ran.out == ""
    assert said in ran.err.splitlines()[0]
    assert ran.err.startswith("error: ")
    assert "Traceback" not in ran.err


def failing_with(error: BaseException) -> click.Command:
    def fail() -> None:
        raise error

    return click.Command("clean", callback=fail)


@pytest.fixture
def clean_fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes the command `clean` raise."""

    def install(error: BaseException) -> None:
        import torchlint.cli.clean

        monkeypatch.setattr(torchlint.cli.clean, "clean", failing_with(error))

    return install


def test_what_a_user_can_put_right_is_one_line(torchlint: Call, clean_fails: Callable[[BaseException], None]) -> None:
    clean_fails(UserError("pyproject.toml: no\nrule \x1b[31m"))
    assert torchlint("clean") == Ran(2, "", "error: pyproject.toml: no\\nrule \\x1b[31m\n")


def test_a_bug_is_said_to_be_one(torchlint: Call, clean_fails: Callable[[BaseException], None]) -> None:
    clean_fails(ZeroDivisionError("oh"))
    ran = torchlint("clean")
    assert (ran.status, ran.out) == (2, "")
    assert re.fullmatch(
        r"error: internal error, a bug of torchlint at cli/app\.py:\d+: ZeroDivisionError: oh\n", ran.err
    )


def test_a_working_folder_that_is_gone_is_said(torchlint: Call, project: Path) -> None:
    (project / "gone").mkdir()
    os.chdir(project / "gone")
    (project / "gone").rmdir()
    ran = torchlint("check")
    os.chdir(project)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "the working folder cannot be told" in ran.err


def test_ctrl_c_is_status_130(torchlint: Call, clean_fails: Callable[[BaseException], None]) -> None:
    clean_fails(KeyboardInterrupt())
    ran = torchlint("clean")
    assert ran.status == 130
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("command", "module", "missing", "said"),
    [
        (
            "server",
            "torchlint.lsp",
            "pygls",
            "'server' needs pygls, which is not installed: pip install 'torchlint[lsp]'",
        ),
        ("server", "torchlint.lsp", "torchlint.lsp", "this version of torchlint has no command 'server'"),
        ("verify", "torchlint.verify.cli", "torchlint.verify", "this version of torchlint has no command 'verify'"),
    ],
)
def test_a_command_that_is_not_installed(
    command: str, module: str, missing: str, said: str, torchlint: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def import_module(name: str) -> None:
        assert name == module
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(app.importlib, "import_module", import_module)
    assert torchlint(command) == Ran(2, "", f"error: {said}\n")


def test_a_module_that_a_command_lacks_itself_is_a_bug(torchlint: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def import_module(name: str) -> None:
        raise ModuleNotFoundError("No module named 'torchlint.engine.gone'", name="torchlint.engine.gone")

    monkeypatch.setattr(app.importlib, "import_module", import_module)
    assert "internal error" in torchlint("check").err


def test_runs_as_a_module(process: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    done = process("--version")
    assert (done.returncode, done.stdout.decode()) == (0, f"torchlint {__version__}\n")
