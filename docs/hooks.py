"""What mkdocs puts into the site that is written elsewhere: the README, the rules' pages, the options, the changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from torchlint.cli.app import COMMANDS, cli
from torchlint.engine.selection import RuleInfo, catalogue
from torchlint.engine.settings import OPTIONS, json_schema
from torchlint.rules import pages
from torchlint.source.shape import LIMITS

ROOT = Path(__file__).parents[1]

# How tools are called in the tables, where that is not how the data calls them.
TOOLS = {"torchlint": "torchlint, two workers, no cache", "parse": "a bare `libcst.parse_module` of the same files"}

# What a block of a rule's page is for, as readers are told.
TITLES = {"bad": "Reported", "good": "Repaired", "ok": "Not reported", "inputs": "How the two are measured"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those that lie in the folder."""
    for name, content in generated():
        files.append(File.generated(config, name, content=content))
    return files


def generated() -> Iterator[tuple[str, str]]:
    """The generated files: (name in the site's sources, content)."""
    yield "index.md", readme()
    yield "changes.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    yield "contributing.md", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](docs/", "](")
    yield "license.md", "# License\n\n" + (ROOT / "LICENSE").read_text(encoding="utf-8")
    yield "rules/index.md", "\n".join(rules())
    for code in pages.codes():
        page = pages.load(code)
        yield f"rules/{code}-{page.name}.md", for_the_site(page.text)
    yield "reference/configuration.md", "\n".join(options())
    yield "reference/commands.md", "\n".join(commands())
    yield "schema.json", json.dumps(json_schema(), indent=2) + "\n"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A page with the tables that it asks for."""
    tables = {
        "limits": limits,
        "linear": linear,
        "fuzz": fuzz,
        "corpora": corpora,
        "supply chain": supply_chain,
        "peers": peers,
    }
    return re.sub(rf"<!-- ({'|'.join(tables)}) -->", lambda asked: "\n".join(tables[asked[1]]()), markdown)


def limits() -> Iterator[str]:
    """The limits on files."""
    yield from ("| Limit | |", "|---|---|")
    yield from (f"| {what} | {limit:,} |" for what, limit in LIMITS.items())


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a data file of the benchmarks."""
    text = (ROOT / "benchmarks" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def linear() -> Iterator[str]:
    """What a line costs in files of several sizes, in microseconds of the processor."""
    rows = rows_of("linear.jsonl")
    sizes = list(dict.fromkeys(size for row in rows for size in row["us_per_line"]))
    yield "| Files of | " + " | ".join(f"{int(size):,} lines" for size in sizes) + " |"
    yield "|---" * (len(sizes) + 1) + "|"
    for row in rows:
        refused = {said.partition(":")[0] for said in row["said"]}
        measured = {size: f"{cost} µs" for size, cost in row["us_per_line"].items()}
        costs = ("past a limit" if size in refused else measured.get(size, "not measured") for size in sizes)
        yield f"| {row['shape']} | {' | '.join(costs)} |"


def fuzz() -> Iterator[str]:
    """What came of programs that nobody would write."""
    yield from ("| Programs made of | Programs | Seconds | Failed | On |", "|---|---|---|---|---|")
    for row in rows_of("fuzz.jsonl"):
        on = f"{row['date']}, Python {row['python']}, LibCST {row['libcst']}"
        yield f"| {row['programs of']} | {row['programs']:,} | {row['seconds']:,} | {len(row['failed'])} | {on} |"


def corpora() -> Iterator[str]:
    """What came of whole packages."""
    yield from ("| Corpus | Files | Failed |", "|---|---|---|")
    rows = rows_of("corpora.jsonl")
    yield from (f"| {row['corpus']} | {row['files']:,} | {len(row['failed'])} |" for row in rows)
    yield f"| all {len(rows)} | {sum(row['files'] for row in rows):,} | {sum(len(row['failed']) for row in rows)} |"


def supply_chain() -> Iterator[str]:
    """With which Pythons and versions the tests ran."""
    yield from ("| Python | Versions | | Tests | Advisories |", "|---|---|---|---|---|")
    for row in rows_of("supply_chain.jsonl"):
        held = ", ".join(f"{name} {version}" for name, version in row["with"].items())
        yield f"| {row['python']} | {row['versions']} | {held} | {row['tests']} | {row['advisories']} |"


def peers() -> Iterator[str]:
    """What others take on the same files."""
    measured = json.loads((ROOT / "benchmarks" / "peers.json").read_text(encoding="utf-8"))
    versions = dict(needs.split("==") for needs in measured["versions"])
    for tree, tools in measured["trees"].items():
        yield f"\n`{tree}`:\n"
        yield "| Tool | On the wall, s | Processors, s | Times torchlint's | Peak memory, MB |"
        yield "|---|---|---|---|---|"
        for row in tools:
            name, _, rest = TOOLS.get(row["tool"], row["tool"]).partition(",")
            version = versions.get(name.lower(), "")
            tool = f"{name} {version}".strip() + (f",{rest}" if rest else "")
            if "over_s" in row:
                yield f"| {tool} | more than {row['over_s']:.0f} | | | |"
            else:
                ratio = row["cpu_ratio"] if "cpu_ratio" in row else row["ratio"]
                yield f"| {tool} | {row['seconds']:.1f} | {row['cpu_s']:.2f} | {ratio:.2f} | {row['peak_mb']} |"


def readme() -> str:
    """The README, its links leading to pages of the site."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = {"LICENSE": "license.md", "CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md"}
    return re.sub(rf"\]\(({'|'.join(pages)})\)", lambda link: f"]({pages[link[1]]})", text)


def for_the_site(page: str) -> str:
    """A rule's page with titles above its blocks."""

    def titled(fence: re.Match[str]) -> str:
        return f'```python title="{TITLES[fence[1]]}"'

    return re.sub(rf"^```python ({'|'.join(TITLES)})$", titled, page, flags=re.MULTILINE)


def rules() -> Iterator[str]:
    """All rules, by bottleneck."""
    yield "# Rules\n"
    yield "Those that are marked as extended are off until they are selected."
    by_group: dict[str, list[RuleInfo]] = {}
    for rule in catalogue():
        by_group.setdefault(rule.bottleneck, []).append(rule)
    paged = set(pages.codes())
    for bottleneck, own in by_group.items():
        yield f"\n## {bottleneck}\n"
        yield "| code | name | what it reports | set | fix |"
        yield "|---|---|---|---|---|"
        for rule in own:
            code = f"[{rule.code}]({rule.code}-{rule.name}.md)" if rule.code in paged else rule.code
            kind = "default" if rule.default else "extended"
            yield f"| {code} | {rule.name} | {rule.summary.replace('|', chr(92) + '|')} | {kind} | {rule.fix} |"


def options() -> Iterator[str]:
    """All keys of the configuration."""
    yield "# Keys of the configuration\n"
    yield "In `[tool.torchlint]` of a `pyproject.toml`, or in a `torchlint.toml` without the table's name. Editors and"
    yield "validators can use the [JSON schema](../schema.json)."
    for option in OPTIONS.values():
        default = "none" if option.default is None else json.dumps(option.default)
        yield f"\n## `{option.key}`\n\n{option.help}\n\n- Type: `{option.kind.name}`\n- Default: `{default}`\n"
        yield f"```toml\n{option.example}\n```"


def commands() -> Iterator[str]:
    """The help of all commands."""
    yield "# Commands\n\n`torchlint PATHS` is `torchlint check PATHS`, and `torchlint --verify PATHS` is"
    yield "`torchlint verify PATHS`."
    top = click.Context(cli, info_name="torchlint")
    for name in COMMANDS:
        command = cli.get_command(top, name)
        if command is not None:
            yield from usage(command, click.Context(command, info_name=name, parent=top, max_content_width=100), 2)


def usage(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    """The help of a command and of those below it."""
    yield f"\n{'#' * level} {context.command_path}\n\n```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below: Any = command.get_command(context, name)
            yield from usage(
                below, click.Context(below, info_name=name, parent=context, max_content_width=100), level + 1
            )
