"""The table of output formats."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from torchlint.report.outcome import Outcome

__all__ = ["FORMATS", "Format"]


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write findings. Its module defines `render(outcome)`, which yields the text piece by piece."""

    name: str
    help: str
    module: str
    human: bool = False  # read by a person: a summary follows it

    def render(self, outcome: Outcome) -> Iterator[str]:
        """The text of `outcome`, ending in a line end unless it is empty."""
        module = importlib.import_module(f"torchlint.report.{self.module}")
        render = cast("Callable[[Outcome], Iterator[str]]", module.render)
        return render(outcome)


FORMATS: Mapping[str, Format] = {
    entry.name: entry
    for entry in (
        Format("full", "each finding with its source, what makes it costly, and the repair", "full", human=True),
        Format("concise", "one line a finding", "concise", human=True),
        Format("grouped", "findings under the name of their file", "grouped", human=True),
        Format("json", "one array of objects", "json"),
        Format("json-lines", "one object a line", "json_lines"),
        Format("github", "annotations of GitHub Actions", "github"),
        Format("gitlab", "a code quality report of GitLab", "gitlab"),
        Format("junit", "a JUnit test report", "junit"),
        Format("sarif", "SARIF 2.1.0, for code scanning", "sarif"),
        Format("lsp", "publishDiagnostics parameters of the language server protocol, one a file", "lsp"),
    )
}
