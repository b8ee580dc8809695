"""What an editor shows of a rule: its page, and what was measured here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from torchlint.engine import selection
from torchlint.engine.suppression import codes_of
from torchlint.findings import Finding
from torchlint.report.full import evidence_line
from torchlint.report.text import visible
from torchlint.rules import pages
from torchlint.source import directives
from torchlint.source.scan import scan

__all__ = ["of_findings", "of_selector", "selector_at"]

_FENCE = re.compile(r"^```python (?:bad|good|ok)$", re.MULTILINE)
_NOT_TO_READ = re.compile(r"^```python inputs$.*?^```$\n*|^<!--.*?-->$\n*", re.MULTILINE | re.DOTALL)


def of_findings(findings: Iterable[Finding]) -> str:
    """What is known of the findings at a place, in Markdown; each rule's page once."""
    said = []
    seen = set()
    for finding in findings:
        own = [f"**{finding.code}** {_escaped(finding.message)}"]
        if finding.advice:
            own.append(f"*Instead:* {_escaped(finding.advice)}")
        if finding.evidence is not None:
            own.append(f"*Measured:* {_escaped(evidence_line(finding.evidence))}")
        said.append("\n\n".join(own))
        if finding.code not in seen:
            seen.add(finding.code)
            said += page(finding.code)
    return "\n\n---\n\n".join(said)


def of_selector(name: str) -> str:
    """What a name in a suppression stands for, in Markdown: the page of a rule, or the rules of a group."""
    try:
        codes = sorted(codes_of(name))
    except selection.UnknownSelectorError as error:
        return _escaped(str(error))
    if len(codes) == 1:
        return "\n\n".join(page(codes[0]))
    rules = selection.rules_by_code()
    return "\n".join(f"- **{code}** {rules[code].name}: {rules[code].summary}" for code in codes)


def page(code: str) -> list[str]:
    """The page of a rule as people read it; nothing for a rule without one."""
    try:
        text = pages.load(code).text
    except pages.PageError:
        return []
    return [_FENCE.sub("```python", _NOT_TO_READ.sub("", text)).strip()]


def selector_at(text: str, offset: int) -> tuple[str, int, int] | None:
    """The name in a suppression that stands at an offset of Python source: its text, its start and its end."""
    if not directives.may_have(text):
        return None
    for directive in directives.find(scan(text)):
        for selector in directive.selectors:
            if selector.start <= offset <= selector.end:
                return selector.text, selector.start, selector.end
    return None


def _escaped(text: str) -> str:
    """Text in which nothing but code in backticks is Markdown."""
    return re.sub(r"([\\*_\[\]<>#|])(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\\1", visible(text))
