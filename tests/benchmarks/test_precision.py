"""The verdicts on findings in real packages: whole, reasoned, and counted as the report says."""

from __future__ import annotations

from benchmarks.precision.report import Verdict, agreement, linking, table, verdicts


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
    assert agreement([verdict("TL101", 1, "true"), verdict("TL101", 2, "true")]) == ["no finding was read twice"]


def test_agreement_is_told_with_what_chance_would_give() -> None:
    # Of ten places, both call five true and two false; they differ on one, and two are debatable to one of them.
    says = [("true", "true")] * 5 + [("false", "false")] * 2 + [("true", "false"), ("true", "debatable")]
    says.append(("debatable", "false"))
    read = [verdict("TL101", 99, "true")]
    for line, (first, second) in enumerate(says):
        read += [verdict("TL101", line, second, "second"), verdict("TL101", line, first)]
    # By chance: 0.7 * 0.5 + 0.2 * 0.4 + 0.1 * 0.1 = 0.44 of all, (6 * 5 + 2 * 3) / 64 = 0.5625 of those decided.
    assert agreement(read) == [
        "10 findings were read twice; they agree on 7 of them (70%), Cohen's kappa 0.46",
        "of these, both readers call 8 true or false; they agree on 7 of them (88%), Cohen's kappa 0.71",
    ]


def test_readers_who_say_one_thing_only_agree_by_chance() -> None:
    same = [verdict("TL101", 1, "true"), verdict("TL101", 1, "true", "second")]
    assert agreement(same)[0].endswith("(100%), Cohen's kappa not defined")


def test_what_linking_removes_is_told_apart() -> None:
    read = [verdict("TL101", 1, "true")._replace(linking="added"), verdict("TL101", 2, "false")]
    read.append(verdict("TL101", 3, "false")._replace(linking="removed"))
    assert table(read)[1].split()[:4] == ["TL101", "2", "1", "1"]
    assert linking(read) == [
        "linking added package: 1 true, 0 false, 0 debatable",
        "linking added all: 1 true, 0 false, 0 debatable",
        "linking removed package: 0 true, 1 false, 0 debatable",
        "linking removed all: 0 true, 1 false, 0 debatable",
    ]


def test_every_committed_verdict_is_whole() -> None:
    read = verdicts()
    assert len({(*v.place, v.reader) for v in read}) == len(read)
    for v in read:
        assert v.verdict in ("true", "false", "debatable"), v
        assert v.package
        assert v.version
        assert v.file.endswith((".py", ".ipynb"))
        assert v.line > 0
        assert len(v.reason.split()) > 3, v
