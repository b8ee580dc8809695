"""Which experiments a plan holds for a finding, and what it says of those it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from torchlint.findings import Finding
from torchlint.verify.plan import Choices, make

KEPT = "def f(kept, {0}):\n    for x in xs:\n        y = {1}\n        kept.append(y)\n"
PACKED = "import torch\n\n\ndef f(rows):\n    return torch.tensor(rows)\n"


def planned(make_finding: Callable[..., Finding], text: str, piece: str, replacement: str, code: str) -> dict[str, Any]:
    return make([make_finding(text, piece, replacement, code)], lambda *_: text.split("\n"), Choices("small"))


@pytest.mark.parametrize(("given", "value", "stands"), [("xs", "x", False), ("xs, net", "net(x)", True)])
def test_what_is_retained_needs_a_graph(
    make_finding: Callable[..., Finding], given: str, value: str, stands: bool
) -> None:
    text = KEPT.format(given, value)
    made = planned(make_finding, text, "kept.append(y)", "kept.append(y.detach())", "TL602")
    assert any(experiment["rung"] == "in place" for experiment in made["experiments"]) == stands
    said = {step["reason"] for step in made["findings"][0]["tried"]}
    assert said == (set() if stands else {"nothing in it makes a graph that could be kept"})


def test_a_list_of_arrays_is_measured_where_the_code_says_that_it_holds_some(
    make_finding: Callable[..., Finding],
) -> None:
    after = "torch.from_numpy(np.stack(rows))"
    (bare,) = planned(make_finding, PACKED, "torch.tensor(rows)", after, "TL208")["findings"]
    assert bare["tried"][0]["reason"] == "nothing in it says which arrays the list holds"
    made = PACKED.replace("import torch", "import numpy as np\nimport torch").replace(
        "f(rows):", "f(n):\n    rows = [np.ones(n)]"
    )
    (finding,) = planned(make_finding, made, "torch.tensor(rows)", after, "TL208")["findings"]
    assert [step["rung"] for step in finding["tried"]] == ["extracted"]  # the statement alone does not say


def test_a_function_that_uses_another_module_is_refused_and_measured_with_a_stand_in(
    make_finding: Callable[..., Finding],
) -> None:
    text = "import torch\nfrom aux import mask_of\n\n\ndef f(x):\n    return (x * mask_of(x)).sum().item()\n"
    made = planned(make_finding, text, "(x * mask_of(x)).sum().item()", "(x * mask_of(x)).sum()", "TL101")
    assert made["findings"][0]["tried"][0] == {
        "rung": "in place",
        "reason": "refused: line 2: the module aux is not on the list",
    }
    first = made["experiments"][0]
    assert (first["rung"], first["entry"]) == ("extracted", "f")
    assert "mask_of is a stand-in for aux.mask_of, which is not run" in first["stand_ins"]


@pytest.mark.parametrize("loop", ["    if xs:\n", "    for x in xs:\n"])
def test_a_tensor_grows_in_a_loop_alone(make_finding: Callable[..., Finding], loop: str) -> None:
    text = f"import torch\n\n\ndef f(a, x, xs):\n{loop}        a = torch.cat([a, x])\n    return a\n"
    made = planned(make_finding, text, "torch.cat([a, x])", "torch.cat([x, a])", "TL203")
    above = [experiment for experiment in made["experiments"] if experiment["rung"] != "template"]
    assert bool(above) == ("for" in loop)
    assert any("no loop" in step["reason"] for step in made["findings"][0]["tried"])


def test_what_is_said_to_index_from_the_host_lies_there(make_finding: Callable[..., Finding]) -> None:
    text = "import torch\n\n\ndef f(x, chosen):\n    return x[chosen]\n"
    (first, *_) = planned(make_finding, text, "x[chosen]", "x[chosen + 0]", "TL109")["experiments"]
    assert [argument.get("device") for argument in first["arguments"]] == [None, "cpu"]
