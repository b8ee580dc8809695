from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

from tests.engine.fakes import fake_rule, settings, use_rules
from torchlint.engine.lint import FileResult, lint_bytes
from torchlint.findings import Applicability, Confidence, Finding, Position
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.source.translate import NotTranslatedError


@pytest.fixture
def left_to_libcst(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read as if all of them held what is newer than the Python that runs."""

    def refuse(text: str) -> None:
        raise NotTranslatedError(text)

    monkeypatch.setattr("torchlint.source.parse.translate", refuse)


def lint(text: str | bytes, **changes: Any) -> FileResult:
    data = text if isinstance(text, bytes) else text.encode()
    return lint_bytes(data, "a.py", settings(**changes))


def findings(text: str | bytes, **changes: Any) -> list[Finding]:
    result = lint(text, **changes)
    assert result.errors == ()
    return list(result.findings)


def test_a_finding_stands_where_the_node_does(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())
    (finding,) = findings("loader\rif é: x = (slow(\n  1)); y\n")
    assert (finding.start, finding.end) == (Position(2, 12), Position(3, 5))


def test_files_in_which_no_rule_can_fire_are_not_parsed(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())

    def fail(*_: Any) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(ast, "parse", fail)
    assert findings("import numpy\nslow()\n") == []  # no sign of torch
    assert findings("import torch\n") == []  # no word of the rule
    with pytest.raises(AssertionError, match="parsed"):
        findings("import torch\nslow()\n")


def test_names_count_as_python_compares_them(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule(name="slow"))
    assert len(findings("import 𝐭𝐨𝐫𝐜𝐡\nslow()\n")) == 1


def test_a_rule_that_fails_is_named_and_the_others_go_on(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule(failing=True), fake_rule(code="TL102"))
    result = lint("loader\nslow()\n", rules=frozenset({"TL101", "TL102"}))
    assert [finding.code for finding in result.findings] == ["TL102"]
    (error,) = result.errors
    assert "a.py" in error
    assert "TL101" in error
    assert "\n" not in error


@pytest.mark.parametrize(("error", "says"), [(MemoryError(), "memory"), (KeyError("x"), "internal error: KeyError")])
def test_what_goes_wrong_beside_the_rules_stops_no_other_file(monkeypatch: Any, error: Exception, says: str) -> None:
    def fail(*_: object) -> None:
        raise error

    use_rules(monkeypatch, fake_rule())
    monkeypatch.setattr("torchlint.engine.lint.findings_of", fail)
    (said,) = lint("loader\nslow()\n").errors
    assert said.startswith("a.py: ")
    assert says in said


@pytest.mark.parametrize(
    ("data", "row"),
    [(b"loader = slow(\n", 1), (b"loader\nslow() = '\xff'\n", 2), (b"loader\nslow()\n" + b"(" * 5000, 3)],
)
def test_what_cannot_be_read_is_a_finding(monkeypatch: Any, data: bytes, row: int) -> None:
    use_rules(monkeypatch, fake_rule())
    (finding,) = findings(data)
    assert (finding.code, finding.start.row) == ("TL003", row)
    assert findings(data, rules=frozenset({"TL101"})) == []


@pytest.mark.usefixtures("left_to_libcst")
def test_nothing_is_reported_from_a_tree_that_is_not_the_file(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())
    parse = cst.parse_module
    monkeypatch.setattr(cst, "parse_module", lambda text: parse(text.replace("x  =", "x =")))
    (finding,) = findings("loader\nx  = slow()\n")
    assert (finding.code, finding.start.row) == ("TL003", 2)


@pytest.mark.usefixtures("left_to_libcst")
def test_a_rule_that_reads_such_a_tree_has_not_failed() -> None:
    loop = "for y in loader:\n    loss = model(y)\n    loss.backward()\n    history.append(loss)\n"
    misread = "match x:\n    case {1: a, **\\\n\n    others}: pass\n"  # LibCST drops white space there
    rules = frozenset({"TL003", "TL602"})
    (finding,) = findings(f"import torch\n{loop}{misread}", rules=rules)
    assert (finding.code, finding.start.row) == ("TL003", 8)


def test_deep_trees_are_linted_and_positioned(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())
    (chain,) = findings("loader\nx = (slow()\n" + "  .b()\n" * 900 + ")\n")
    assert chain.start == Position(2, 6)
    elifs = findings("loader\nif a: b\n" + "elif c: slow()\n" * 700)
    assert [finding.start.row for finding in elifs] == list(range(3, 703))


def test_findings_below_the_least_confidence_are_not_shown(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule(confidence=Confidence.LIKELY))
    assert len(findings("loader\nslow()\n", min_confidence=Confidence.LIKELY)) == 1
    assert findings("loader\nslow()\n", min_confidence=Confidence.SURE) == []


def test_per_file_ignores_hold(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())
    ignores = (("a.py", frozenset({"TL101"})),)
    assert findings("loader\nslow()\n", root=Path.cwd(), per_file_ignores=ignores) == []


class TestFingerprints:
    @pytest.fixture(autouse=True)
    def _rules(self, monkeypatch: Any) -> None:
        use_rules(monkeypatch, fake_rule())

    def fingerprints(self, text: str) -> list[str]:
        return [finding.fingerprint for finding in findings("loader\n" + text)]

    BASE = "def f():\n    x = slow()\n"

    @pytest.mark.parametrize(
        "text",
        [
            "\n\n# more\n" + BASE,
            "def g():\n    pass\n\n" + BASE,
            "def f():\n        x   =  slow()  \n",
            BASE + "y = 1\n",
        ],
    )
    def test_moved_and_reformatted_lines_keep_theirs(self, text: str) -> None:
        assert self.fingerprints(text) == self.fingerprints(self.BASE)

    @pytest.mark.parametrize(
        "text",
        ["def g():\n    x = slow()\n", "class A:\n    def f():\n        x = slow()\n", "def f():\n    y = slow()\n"],
    )
    def test_other_places_have_others(self, text: str) -> None:
        assert self.fingerprints(text) != self.fingerprints(self.BASE)

    def test_equal_lines_are_told_apart(self) -> None:
        assert len(set(self.fingerprints("def f():\n    slow()\n    slow(); slow()\n    slow()\n"))) == 4


class TestFixes:
    """Edits said in terms of nodes, on the text."""

    def written(
        self, monkeypatch: Any, text: str, where: str, content: str = "fast", imports: tuple[str, ...] = ()
    ) -> str:
        from torchlint.fixes.apply import apply
        from torchlint.source.text import SourceFile

        def repair(call: cst.CSTNode, statement: cst.CSTNode) -> NodeFix:
            node = call if where in ("replace", "before", "after") else statement
            return NodeFix(Applicability.SAFE, "repair", (NodeEdit(node, content, where),), imports)

        use_rules(monkeypatch, fake_rule(repair))
        found = findings(text, rules=frozenset({"TL101"}))
        assert found
        return apply(SourceFile.from_text(text, "a.py"), found).written

    @pytest.mark.parametrize(
        ("where", "before", "after"),
        [
            ("replace", "loader = (slow(1)) + 2\n", "loader = (fast) + 2\n"),
            ("after", "loader = slow()\n", "loader = slow()fast\n"),
            ("before", "loader = slow()\n", "loader = fastslow()\n"),
            ("line-before", "if loader:\n    slow()\n", "if loader:\n    fast\n    slow()\n"),
            ("line-before", "loader; slow()\n", "loader; fast; slow()\n"),
            ("line-before", "if loader: slow()\n", "if loader: fast; slow()\n"),
            ("line-before", "loader\n@a\ndef f(x=slow()): pass\n", "loader\nfast\n@a\ndef f(x=slow()): pass\n"),
            ("line-after", "if loader:\n    slow()  # why\n", "if loader:\n    slow()  # why\n    fast\n"),
            ("line-after", "loader; slow(); a\n", "loader; slow(); fast; a\n"),
            ("line-after", "for loader in slow():\n    a\nb\n", "for loader in slow():\n    a\nfast\nb\n"),
            ("line-after", "loader\nslow()", "loader\nslow()\nfast"),
            ("line-after", "loader\r\nslow()\r\n", "loader\r\nslow()\r\nfast\r\n"),
            ("delete", "loader\nslow()\na\n", "loader\na\n"),
            ("delete", "loader; slow(); a\n", "loader; a\n"),
            ("delete", "loader; slow()\n", "loader\n"),
            ("delete", "if loader:\n    slow()\na\n", "if loader:\n    pass\na\n"),
            ("delete", "if loader:\n    slow()\n    a\n", "if loader:\n    a\n"),
            ("delete", "if loader: slow()\n", "if loader: pass\n"),
            ("delete", "loader\nslow()  # kept\na\n", "loader\n# kept\na\n"),
            ("delete", "loader\nslow(\n    1\n)\n", "loader\n"),
        ],
    )
    def test_each_kind_of_edit(self, monkeypatch: Any, where: str, before: str, after: str) -> None:
        assert self.written(monkeypatch, before, where) == after

    @pytest.mark.parametrize(
        ("where", "text"),
        [
            ("replace", "loader = slow(  # why\n)\n"),  # would drop a comment
            ("replace", "loader = f'{slow()}'\n"),  # inside of an f-string
            ("replace", "loader = f'''{x:{y}} {slow()}'''\n"),
            ("delete", "loader\nslow(  # why\n)\n"),
        ],
    )
    def test_what_would_do_harm_is_only_displayed(self, monkeypatch: Any, where: str, text: str) -> None:
        assert self.written(monkeypatch, text, where) == text

    def test_lines_do_not_go_where_only_simple_statements_can(self, monkeypatch: Any) -> None:
        text = "if loader: slow()\n"
        assert self.written(monkeypatch, text, "line-before", "for a in b:\n    c") == text

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("loader = slow()\n", "import numpy as np\n\nloader = fast\n"),
            (
                "import a\nfrom b import c\n\nloader = slow()\n",
                "import a\nfrom b import c\nimport numpy as np\n\nloader = fast\n",
            ),
            (
                '#!/usr/bin/python\n"""Doc."""\n\nloader = slow()\n',
                '#!/usr/bin/python\n"""Doc."""\n\nimport numpy as np\n\nloader = fast\n',
            ),
            (
                "from __future__ import annotations; import a; \\\n    import b\nif a: import c\nloader = slow()\n",
                "from __future__ import annotations; import a; \\\n    import b\nimport numpy as np\nif a: import c\n"
                "loader = fast\n",
            ),
            ("import numpy as np\nloader = slow()\n", "import numpy as np\nloader = fast\n"),
            ("import a, numpy as np\nloader = slow()\n", "import a, numpy as np\nloader = fast\n"),
            (
                "try:\n    import numpy as np\nexcept ImportError:\n    raise\nloader = slow()\n",
                "try:\n    import numpy as np\nexcept ImportError:\n    raise\nloader = fast\n",
            ),
            ("f(np=1).np\nloader = slow()\n", "import numpy as np\n\nf(np=1).np\nloader = fast\n"),
            ("loader = slow(), slow()\n", "import numpy as np\n\nloader = fast, fast\n"),
        ],
    )
    def test_imports_stand_where_a_person_would_put_them(self, monkeypatch: Any, before: str, after: str) -> None:
        assert self.written(monkeypatch, before, "replace", imports=("import numpy as np",)) == after

    @pytest.mark.parametrize(
        "text",
        [
            "def f(np):\n    loader = slow()\n",
            "np = 1\nloader = slow()\n",
            "if a:\n    import numpy as np\nloader = slow()\n",
            "import other as np\nloader = slow()\n",
            "class A:\n    import numpy as np\n    loader = slow()\n",
        ],
    )
    def test_a_name_that_is_taken_is_not_captured(self, monkeypatch: Any, text: str) -> None:
        assert self.written(monkeypatch, text, "replace", imports=("import numpy as np",)) == text

    def test_the_configuration_grades_fixes(self, monkeypatch: Any) -> None:
        def repair(call: cst.CSTNode, _: cst.CSTNode) -> NodeFix:
            return NodeFix(Applicability.UNSAFE, "repair", (NodeEdit(call, "fast"),))

        use_rules(monkeypatch, fake_rule(repair))
        (finding,) = findings("loader = slow()\n", extend_safe_fixes=frozenset({"TL101"}))
        assert finding.fix is not None
        assert finding.fix.applicability is Applicability.SAFE
