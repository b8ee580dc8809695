"""The wait table: results, expressions and generated module agree, and the measured facts of the catalogue hold."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
from typing import Any

import pytest

from benchmarks.waits import generate
from benchmarks.waits.rows import all_rows, needed, row
from torchlint.knowledge import waits, waits_table

REPORT = json.loads(generate.RESULTS.read_text(encoding="utf-8"))
ROWS = all_rows()


def measured(expr: str) -> list[dict[str, Any]]:
    found = [result for result in REPORT["rows"] if result["expr"] == expr]
    assert found, f"not measured: {expr}"
    return found


def test_the_table_is_what_the_results_generate() -> None:
    assert generate.TARGET.read_text(encoding="utf-8") == generate.render(REPORT, ROWS)


def test_every_result_belongs_to_an_expression_and_every_expression_has_one() -> None:
    expressions = [(one.expr, one.setup) for one in ROWS]
    results = [(result["expr"], result["setup"]) for result in REPORT["rows"]]
    assert len(set(expressions)) == len(expressions)
    assert sorted(expressions) == sorted(results)


def test_the_results_say_where_and_how_they_were_taken() -> None:
    assert {"gpu", "driver", "torch", "date", "method"} < REPORT.keys()
    assert all(REPORT[key] for key in ("gpu", "driver", "torch", "date", "method"))


def test_every_result_has_numbers_or_an_error() -> None:
    for result in REPORT["rows"]:
        if "error" in result:
            assert "blocks" not in result
        else:
            assert isinstance(result["blocks"], bool)
            assert min(result["wait_ms"], result["idle_us"], result["debug_mode_warnings"]) >= 0


def test_a_wait_is_nearly_the_whole_kernel_and_no_wait_nearly_nothing() -> None:
    """Nothing lies between, so that the limit of one half decides nothing."""
    for result in REPORT["rows"]:
        if result.get("blocks"):
            assert result["wait_ms"] > 15, result["expr"]
        elif "error" not in result:
            assert result["wait_ms"] < 5, result["expr"]


@pytest.mark.parametrize(
    "expr",
    [
        "x[idx] = 0.0",
        "x[mask]",
        "v[3] = 0.5",
        "x[[0, 2, 1]]",
        "x[host_idx]",
        "scaler.step(sgd)",
        "scaler.get_scale()",
        "loss.item()",
        "if yes: pass",
        "range(count)",
        "max(v)",
        "x.masked_fill(mask, s)",
        'torch.full((3,), s, device="cuda")',
        'torch.tensor(1.0, device="cuda")',
        "torch.allclose(x, y)",
        "torch.linalg.svd(a)",
        "torch.linalg.eigh(spd)",
        "torch.linalg.cholesky(spd)",
        "torch.linalg.lstsq(tall, torch.cat([b, b]))",
        "torch.linalg.pinv(tall)",
        "clip_grad_norm_(params, 1.0, error_if_nonfinite=True)",
        "F.ctc_loss(log_probs, targets, input_lengths, target_lengths)",
        "torch.save(x, io.BytesIO())",
        "F.one_hot(ints)",
        "torch.repeat_interleave(rows3, counts, dim=0)",
        "torch.cuda.synchronize()",
        "list(x.shape) == [n, n]",
        "x[rows] = v",
        "host.copy_(x, non_blocking=True)",
    ],
)
def test_what_the_catalogue_calls_a_wait_was_measured_as_one(expr: str) -> None:
    assert any(result["blocks"] for result in measured(expr))


@pytest.mark.parametrize(
    "expr",
    [
        "x[mask] = 0.0",
        "x[:, 0] = 1.0",
        "x[2:4] = 0.0",
        "torch.where(mask, x, y)",
        'x.masked_fill(mask, float("-inf"))',
        "torch.multinomial(p, 1)",
        "torch.multinomial(p, 4)",
        "torch.topk(x, 3)",
        "torch.sort(x)",
        "torch.isnan(x).any()",
        "clip_grad_norm_(params, 1.0)",
        "scaler.step(fused)",
        "x + host_scalar",
        "x * host_scalar",
        "host_scalar - x",
        "sum(v)",
        "F.one_hot(ints, 10)",
        "torch.repeat_interleave(rows3, counts, dim=0, output_size=6)",
        "pinned.copy_(x, non_blocking=True)",
        'pinned.to("cuda", non_blocking=True)',
    ],
)
def test_what_the_catalogue_calls_silent_was_measured_as_silent(expr: str) -> None:
    assert not any(result["blocks"] for result in measured(expr))


def test_tensors_on_two_devices_are_refused() -> None:
    assert all("same device" in result["error"] for result in measured("x + small"))


def test_a_large_pageable_copy_waits_although_non_blocking_and_the_debug_mode_is_silent() -> None:
    (large,) = measured('large.to("cuda", non_blocking=True)')
    (small,) = measured('small.to("cuda", non_blocking=True)')
    assert large["blocks"]
    assert not small["blocks"]
    assert large["debug_mode_warnings"] == 0


def test_the_debug_mode_does_not_report_synchronize() -> None:
    (result,) = measured("torch.cuda.synchronize()")
    assert result["blocks"]
    assert result["debug_mode_warnings"] == 0


# Looking things up


def test_a_subject_is_always_never_or_sometimes_a_wait() -> None:
    assert waits.verdict("torch.nonzero") == "always"
    assert waits.verdict("torch.sort") == "never"
    assert waits.verdict("torch.nn.functional.one_hot") == "depends"
    assert waits.verdict("torch.no_such_function") is None


@pytest.mark.parametrize(
    ("subject", "known", "answer"),
    [
        ("torch.nonzero", {}, True),
        ("torch.bincount", {"minlength": "given"}, True),
        ("torch.sort", {"dim": "number"}, False),
        ("torch.no_such_function", {}, None),
        ("torch.nn.functional.one_hot", {"num_classes": "absent"}, True),
        ("torch.nn.functional.one_hot", {"num_classes": "given"}, False),
        ("torch.nn.functional.one_hot", {}, None),
        ("x[...]", {"index": "device mask"}, True),
        ("x[...]", {"index": "device integers"}, False),
        ("x[...]", {"index": "no such index"}, None),
        ("x[...] =", {"index": "device mask", "value": "number"}, False),
        ("x[...] =", {"index": "device integers", "value": "number"}, True),
        ("x[...] =", {"index": "device integers", "value": "device"}, False),
        (".to", {"source": "device", "target": "pageable", "non_blocking": "false"}, True),
        (".to", {"source": "pageable", "target": "device", "non_blocking": "false"}, True),
        (".to", {"source": "pageable", "target": "device", "non_blocking": "true"}, None),
        (".to", {"source": "pinned", "target": "device", "non_blocking": "true"}, False),
        (".item", {}, True),
        (".item", {"input": "host"}, False),
        ("torch.amp.GradScaler.step", {"optimizer": "fused"}, False),
        ("torch.amp.GradScaler.step", {"optimizer": "plain"}, True),
        ("torch.amp.GradScaler.step", {}, None),
    ],
)
def test_states_decide_where_a_subject_depends_on_them(
    subject: str, known: dict[str, str], answer: bool | None
) -> None:
    assert waits.waits(subject, known) is answer


def test_states_lists_what_was_measured() -> None:
    assert waits.states("torch.repeat_interleave") == {
        "repeats": frozenset({"number", "device"}),
        "output_size": frozenset({"absent", "given"}),
    }
    assert waits.states("torch.sort") == {}


def test_no_subject_has_two_verdicts() -> None:
    assert not waits_table.ALWAYS & waits_table.NEVER
    assert not (waits_table.ALWAYS | waits_table.NEVER) & waits_table.DEPENDS.keys()


def documented_parameters(subject: str) -> list[str] | None:
    """The parameters that torch itself gives for a function, class or method; None for what is not torch's."""
    torch = pytest.importorskip("torch")
    if not subject.startswith((".", "torch.")):
        return None
    thing = torch.Tensor if subject.startswith(".") else torch
    for part in subject.split(".")[1:]:
        thing = getattr(thing, part)
    with contextlib.suppress(ValueError, TypeError):
        return [name for name in inspect.signature(thing).parameters if name != "self"]
    signature = re.match(rf"(?:\w+\.)*{subject.rpartition('.')[2]}\(([^)]*)\)", thing.__doc__.strip())
    assert signature is not None, subject
    names = [part.split("=")[0].split(":")[0].strip(" *") for part in signature[1].split(",")]
    return [name for name in names if name]


def test_parameters_stand_where_torch_has_them() -> None:
    overloaded = {"torch.arange"}  # its first parameter is the end when it is alone
    checked = 0
    for subject in waits.PARAMETERS.keys() - overloaded:
        documented = documented_parameters(subject)
        if documented is not None:
            expected = [name.lstrip("*") for name in waits.PARAMETERS[subject]]
            assert documented[: len(expected)] == expected, subject
            checked += 1
    assert checked > 50


# Making the table


def report(*results: dict[str, Any]) -> dict[str, Any]:
    return {**REPORT, "rows": list(results)}


def result(expr: str, **values: Any) -> dict[str, Any]:
    return {"expr": expr, "setup": "", **values}


def test_rows_of_one_subject_that_disagree_without_a_state_are_refused() -> None:
    rows = [row("f(1)", "f"), row("f(2)", "f")]
    with pytest.raises(ValueError, match=r"contradicts another row of f"):
        generate.subjects(report(result("f(1)", blocks=True), result("f(2)", blocks=False)), rows)


def test_a_state_tells_rows_of_one_subject_apart() -> None:
    rows = [row("f(1)", "f", x="one"), row("f(2)", "f", x="two")]
    found = generate.subjects(report(result("f(1)", blocks=True), result("f(2)", blocks=False)), rows)
    assert found == {"f": {(("x", "one"),): True, (("x", "two"),): False}}


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "not measured: : f"),
        ([result("f()", error="TypeError: no")], "f\\(\\): TypeError: no"),
        ([result("f()", blocks=True, steady=False)], "repetitions disagree"),
    ],
)
def test_results_that_cannot_be_relied_on_are_refused(results: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate.subjects(report(*results), [row("f()", "f")])


def test_a_row_that_torch_refuses_says_nothing_about_its_subject() -> None:
    assert generate.subjects(report(result("f()", error="TypeError: no")), [row("f()", "f", raises=True)]) == {}


def test_a_set_up_is_cut_down_to_what_the_expression_needs() -> None:
    setup = "import torch\nimport io\na = torch.ones(2)\nb = a + 1\nb[0] = 3\nc = a * 2"
    assert needed(setup, "b.sum()") == "import torch\na = torch.ones(2)\nb = a + 1\nb[0] = 3"
    assert needed(setup, "len([])") == ""
