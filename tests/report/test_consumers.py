"""Machine formats as the programs that they are for read them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from junitparser import Failure, JUnitXml
from lsprotocol.converters import get_converter
from lsprotocol.types import DiagnosticSeverity, PublishDiagnosticsParams
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog

from torchlint.findings import Finding, Position
from torchlint.report import lsp
from torchlint.report.formats import FORMATS
from torchlint.report.outcome import Outcome


def text_of(name: str, outcome: Outcome) -> str:
    return "".join(FORMATS[name].render(outcome))


class TestSarif:
    def test_is_what_the_schema_allows(self, outcome: Outcome) -> None:
        """The models are generated from the official schema; a key that it does not know is an error."""
        log = SarifLog.model_validate_json(text_of("sarif", outcome))
        assert len(log.runs[0].results or []) == len(outcome.findings)
        SarifLog.model_validate_json(text_of("sarif", Outcome(findings=())))

    def test_each_rule_stands_once_and_results_point_at_it(self, outcome: Outcome) -> None:
        (run,) = json.loads(text_of("sarif", outcome))["runs"]
        rules = run["tool"]["driver"]["rules"]
        assert [rule["id"] for rule in rules] == ["TL101", "TL104", "TL205"]
        assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
        assert rules[0]["properties"]["precision"] == "high"

    def test_help_is_the_page(self, outcome: Outcome) -> None:
        (run,) = json.loads(text_of("sarif", outcome))["runs"]
        page = run["tool"]["driver"]["rules"][0]["help"]["markdown"]
        assert page.startswith("# sync-scalar-read (TL101)")

    def test_regions_count_code_points(self, outcome: Outcome) -> None:
        (run,) = json.loads(text_of("sarif", outcome))["runs"]
        assert run["columnKind"] == "unicodeCodePoints"
        place = run["results"][0]["locations"][0]["physicalLocation"]
        assert place["region"] == {"startLine": 9, "startColumn": 25, "endLine": 9, "endColumn": 36}
        assert place["artifactLocation"] == {"uri": "src/train.py", "uriBaseId": "%SRCROOT%"}

    def test_the_chain_ends_at_the_finding(self, outcome: Outcome) -> None:
        (run,) = json.loads(text_of("sarif", outcome))["runs"]
        steps = run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]
        rows = [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps]
        assert rows == [6, 9]
        assert [place["id"] for place in run["results"][0]["relatedLocations"]] == [0]

    def test_names_of_files_are_uris(self, outcome: Outcome) -> None:
        (run,) = json.loads(text_of("sarif", outcome))["runs"]
        uri = run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert unquote(uri, errors="surrogateescape") == outcome.findings[1].filename

    def test_equal_findings_keep_different_fingerprints(self, make_finding: Callable[..., Finding]) -> None:
        twice = Outcome(findings=[make_finding(), make_finding()])
        (run,) = json.loads(text_of("sarif", twice))["runs"]
        prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
        assert prints == ["aaaa0001", "aaaa0001:2"]

    def test_rows_of_a_cell_are_no_rows_of_the_file(self, outcome: Outcome) -> None:
        (run,) = json.loads(text_of("sarif", outcome))["runs"]
        place = run["results"][3]["locations"][0]
        assert place["physicalLocation"]["region"] == {"startLine": 1}
        (cell,) = place["logicalLocations"]
        assert (cell["fullyQualifiedName"], cell["properties"]) == ("cell 3:2", {"id": "a1-b2"})

    def test_a_context_is_larger_than_what_it_is_of(self, outcome: Outcome) -> None:
        """The specification has it so (3.29.5), and the validator of its authors complains of others."""
        (run,) = json.loads(text_of("sarif", outcome))["runs"]
        places = [
            place["physicalLocation"]
            for result in run["results"]
            for place in (*result["locations"], *result.get("relatedLocations", ()))
        ]
        contexts = [(place["region"], place["contextRegion"]) for place in places if "contextRegion" in place]
        assert len(contexts) >= 3
        for region, context in contexts:
            assert context["startLine"] <= region["startLine"]
            assert region.get("endLine", region["startLine"]) <= context["endLine"]
            assert (
                context["endLine"] - context["startLine"]
                > region.get("endLine", region["startLine"]) - region["startLine"]
            )
            assert len(context["snippet"]["text"].split("\n")) == context["endLine"] - context["startLine"] + 1

    def test_a_file_of_one_row_is_no_context(self, make_finding: Callable[..., Finding]) -> None:
        alone = Outcome(
            [make_finding(start=Position(1, 1), end=Position(1, 3), related=())], source=lambda *_: ("f()",)
        )
        (result,) = json.loads(text_of("sarif", alone))["runs"][0]["results"]
        assert "contextRegion" not in result["locations"][0]["physicalLocation"]


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as the runner reads them: name, properties, message."""
    found = []
    for line in re.split(r"\r\n|\n|\r", text):
        if not line.lstrip().startswith("::"):
            continue
        head, _, message = line.lstrip()[2:].partition("::")
        name, _, written = head.partition(" ")
        properties = dict(item.split("=", 1) for item in written.split(",") if item)
        decoded = {
            key: value.replace("%3A", ":").replace("%2C", ",").replace("%0A", "\n").replace("%25", "%")
            for key, value in properties.items()
        }
        found.append((name, decoded, message.replace("%0A", "\n").replace("%25", "%")))
    return found


class TestGitHub:
    def test_one_command_a_finding_and_none_forged(self, outcome: Outcome) -> None:
        found = commands(text_of("github", outcome))
        assert [name for name, _, _ in found] == ["notice", "warning", "warning", "notice"]
        assert found[1][1]["file"] == 'src/a,b:c%"\\udcff\\n.py'
        assert found[1][1]["line"] == "10"
        assert "%0A::error::" in found[1][2]

    def test_columns_only_on_a_single_line(self, outcome: Outcome) -> None:
        found = commands(text_of("github", outcome))
        assert (found[0][1]["col"], found[0][1]["endColumn"]) == ("25", "36")
        assert "col" not in found[2][1]
        assert found[2][1]["endLine"] == "12"

    def test_a_notebook_has_no_line(self, outcome: Outcome) -> None:
        _, properties, message = commands(text_of("github", outcome))[3]
        assert "line" not in properties
        assert message.startswith("book.ipynb:cell 3:2:1:")


class TestGitLab:
    def test_has_what_a_code_quality_report_needs(self, outcome: Outcome) -> None:
        issues = json.loads(text_of("gitlab", outcome))
        for issue in issues:
            assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
            assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
            assert issue["location"]["lines"]["begin"] >= 1
        assert [issue["check_name"] for issue in issues] == ["TL101", "TL104", "TL205", "TL101"]

    def test_fingerprints_are_unique_and_stay_when_lines_move(self, make_finding: Callable[..., Finding]) -> None:
        def prints(row: int) -> list[str]:
            moved = make_finding(start=Position(row, 1), end=Position(row, 5))
            return [issue["fingerprint"] for issue in json.loads(text_of("gitlab", Outcome(findings=[moved, moved])))]

        assert len(set(prints(3))) == 2
        assert prints(3) == prints(300)


class TestJUnit:
    def test_every_finding_is_a_failed_case(self, outcome: Outcome) -> None:
        report = JUnitXml.fromstring(text_of("junit", outcome).encode())
        cases = [case for suite in report for case in suite]
        assert (report.tests, report.failures) == (4, 4)
        failures = [result for case in cases for result in case.result]
        assert all(isinstance(failure, Failure) for failure in failures)
        assert [failure.type for failure in failures] == ["TL101", "TL104", "TL205", "TL101"]
        assert failures[1].message.startswith('"\\x1b[31m"%0A::error::]]></failure>')

    def test_no_findings_are_a_passed_case(self) -> None:
        report = JUnitXml.fromstring(text_of("junit", Outcome(findings=())).encode())
        assert (report.tests, report.failures) == (1, 0)


class TestLsp:
    def test_is_publish_diagnostics(self, outcome: Outcome) -> None:
        converter = get_converter()
        published = [
            converter.structure(params, PublishDiagnosticsParams) for params in json.loads(text_of("lsp", outcome))
        ]
        assert published[0].uri == (Path.cwd() / "src/train.py").as_uri()
        assert published[-1].uri.endswith("book.ipynb#cell3")
        first = published[0].diagnostics[0]
        assert (first.code, first.source, first.severity) == ("TL101", "torchlint", DiagnosticSeverity.Information)

    def test_positions_are_utf16_from_zero(self, outcome: Outcome) -> None:
        (diagnostic,) = json.loads(text_of("lsp", outcome))[0]["diagnostics"]
        # One character before it lies outside of the basic plane and counts twice.
        assert diagnostic["range"] == {"start": {"line": 8, "character": 25}, "end": {"line": 8, "character": 36}}

    def test_other_encodings_can_be_negotiated(self, outcome: Outcome) -> None:
        lines = outcome.source("src/train.py", None)
        in_bytes = lsp.diagnostic(outcome.findings[0], lines, outcome.source, lambda text: len(text.encode()))
        before = lines[8][:24]
        assert in_bytes["range"]["start"] == {"line": 8, "character": len(before.encode())}

    def test_a_file_that_cannot_be_read_counts_characters(self, outcome: Outcome) -> None:
        gone = replace(outcome, source=lambda _filename, _cell: ())
        (diagnostic,) = json.loads(text_of("lsp", gone))[0]["diagnostics"]
        assert diagnostic["range"]["start"] == {"line": 8, "character": 24}


def test_only_a_file_that_cannot_be_read_is_an_error(make_finding: Callable[..., Finding]) -> None:
    broken = Outcome(findings=[make_finding(code="TL003", name="unreadable-file", related=())])
    assert commands(text_of("github", broken))[0][0] == "error"
    assert json.loads(text_of("gitlab", broken))[0]["severity"] == "critical"
    assert json.loads(text_of("sarif", broken))["runs"][0]["results"][0]["level"] == "error"
    assert json.loads(text_of("lsp", broken))[0]["diagnostics"][0]["severity"] == DiagnosticSeverity.Error
