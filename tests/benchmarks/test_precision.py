"""The verdicts on findings in real packages: whole, reasoned, and counted as the report says."""

from __future__ import annotations

from benchmarks.precision.report import Verdict, agreement, table, verdicts


def verdict(code: str, line: int, says: str, reader: str = "first") -> Verdict:
    return Verdict("package", "1.0", "a.py", line, code, says, "because", reader)


def test_precision_leaves_out_what_is_debatable() -> None:
    read = [verdict("TL101", line, "true") for line in range(12)]
    read += [verdict("TL101", 20, "false"), verdict("TL101", 21, "debatable"), verdict("TL101", 22, "debatable")]
    header, row, total = table(read)
    assert row.split() == ["TL101", "15", "12", "1", "2", "0.92"]
    assert total.split() == ["all", "15", "12", "1", "2", "0.92"]
    assert header.split() == ["rule", "read", "true", "false", "debatable", "precision"]


def test_few_findings_prove_nothing() -> None:
    rows = table([verdict("TL102", line, "true") for line in range(14)])
    assert rows[1].endswith("1.00  unproven")


def test_rules_of_which_all_is_debatable_have_no_precision() -> None:
    assert table([verdict("TL103", 1, "debatable")])[1].split() == ["TL103", "1", "0", "0", "1", "-", "unproven"]


def test_agreement_is_of_findings_that_two_have_read() -> None:
    alone = [verdict("TL101", 1, "true"), verdict("TL101", 2, "true")]
    assert agreement(alone) == "no finding was read twice"
    both = [*alone, verdict("TL101", 1, "true", "second"), verdict("TL101", 2, "false", "second")]
    assert agreement(both) == "2 findings were read twice; the readers agree on 1 of them (50%)"


def test_every_committed_verdict_is_whole() -> None:
    read = verdicts()
    assert len({(*v.place, v.reader) for v in read}) == len(read)
    for v in read:
        assert v.verdict in ("true", "false", "debatable"), v
        assert v.package
        assert v.version
        assert v.file.endswith(".py")
        assert v.line > 0
        assert len(v.reason.split()) > 3, v
