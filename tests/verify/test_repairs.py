"""The forms that a finding is measured against, where its repair needs a decision."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
import torch

from torchlint.findings import Finding
from torchlint.verify import extract
from torchlint.verify.helpers import Recording, helpers
from torchlint.verify.repairs import ways

CASES = [
    ("TL101", "y = x.sum().item()", "x.sum().item()",
     ["y = x.sum().detach()", "y = torchlint_replayed(lambda torchlint_it: torchlint_it.item(), x.sum())"]),
    ("TL101", "y = float(x + 1)", "float(x + 1)", ["y = (x + 1).detach()", "y = torchlint_replayed(float, (x + 1))"]),
    ("TL101", "import torch\ny = torch.sum(x).item()", "torch.sum(x).item()",
     ["import torch\ny = torch.sum(x).detach()",
      "import torch\ny = torchlint_replayed(lambda torchlint_it: torchlint_it.item(), torch.sum(x))"]),
    ("TL105", "import torch\ny = torch.nonzero(x)", "torch.nonzero(x)",
     ["import torch\ny = torchlint_replayed(lambda: (torch.nonzero(x)))"]),
    ("TL102", "if x.any() or y:\n    z = 1", "x.any()",
     ["if torchlint_replayed(bool, (x.any())) or y:\n    z = 1"]),
    ("TL102", "if not (x > y).all():\n    z = 1", "not (x > y).all()",
     ["if not torchlint_replayed(bool, ((x > y).all())):\n    z = 1"]),
    ("TL102", "if x in y:\n    z = 1", "x in y", ["if torchlint_replayed(lambda: bool(x in y)):\n    z = 1"]),
    ("TL103", "y = f(x.cpu().numpy())", "x.cpu().numpy()", ["y = f(torchlint_replayed(lambda: (x.cpu().numpy())))"]),
    ("TL105", "y = x[m]", "x[m]", ["y = x[torchlint_replayed(lambda mask: mask.nonzero(as_tuple=True), (m))]"]),
    ("TL105", "y = x[m, 1:]", "x[m, 1:]",
     ["y = x[torchlint_replayed(lambda mask: mask.nonzero(as_tuple=True)[0], (m)), 1:]"]),
    ("TL106", "y = x[:n]", "x[:n]", ["y = x[:torchlint_replayed(int, (n))]"]),
    ("TL107", "y = max(p.norm() for p in ps)", "max(p.norm() for p in ps)",
     ["y = torchlint_together(p.norm() for p in ps).max()"]),
    ("TL107", "y = max(ps)", "max(ps)", ["y = torchlint_together(ps).max()"]),
    ("TL107", "y = max(a, b.c)", "max(a, b.c)", ["y = torchlint_replayed(lambda: (max(a, b.c)))"]),
    ("TL110", "torch.cuda.synchronize()", "torch.cuda.synchronize()", ["pass"]),
    ("TL201", "y = [f(r, k) for r in x]", "[f(r, k) for r in x]",
     ["y = list(torchlint_batched(lambda r: f(r, k), x))"]),
    ("TL201", "for i in range(n):\n    for j in range(m):\n        o[i, j] = f(x[i], y[j])",
     "for i in range(n):\n    for j in range(m):\n        o[i, j] = f(x[i], y[j])",
     ["o.copy_(torchlint_batched(lambda i, j: f(x[i], y[j]), n, m))"]),
    ("TL203", "a = torch.cat([a, b], dim=1)", "torch.cat([a, b], dim=1)", ["a = torchlint_grown(a, b, 1)"]),
    ("TL204", "for a, b in zip(p, q):\n    b.mul_(t).add_(a)", "for a, b in zip(p, q):\n    b.mul_(t).add_(a)",
     ["for a, b in torchlint_listed(zip(p, q)):\n    b.mul_(t).add_(a)"]),
    ("TL204", "n = 0.0\nfor a in p:\n    n = n + a.norm()\nm = n", "for a in p:\n    n = n + a.norm()", []),
    ("TL204", "for a in p:\n    n = a.norm()\nn.item()", "for a in p:\n    n = a.norm()", []),
    ("TL204", "for a in p:\n    if a.grad is None:\n        continue\n    a.mul_(2)",
     "a.mul_(2)", ["for a in torchlint_listed([a for a in p if not a.grad is None]):\n    a.mul_(2)"]),
    ("TL204", "n = 0.0\nfor a in p:\n    b = a.norm(2)\n    n += b.item() ** 2", "a.norm(2)",
     ["n = 0.0\nfor a in torchlint_listed(p):\n    b = a.norm(2)\n    n += torchlint_summed(b.item() ** 2)"]),
    ("TL204", "y = torch.stack([a.norm() for a in p if a.k])", "a.norm()",
     ["y = torch.stack((lambda a: a.norm())(torchlint_listed([a for a in p if a.k])[0]).items)"]),
    ("TL204", "for k in a:\n    b[k] = a[k] * t + b[k]", "a[k] * t + b[k]",
     ["b.update(zip(a, (lambda a_each, b_each: a_each * t + b_each)"
      "(*torchlint_listed(zip([a[k] for k in a], [b[k] for k in a]))[0]).items))"]),
    ("TL105", "y = x[i, m[i], ...]", "x[i, m[i], ...]",
     ["y = x[torchlint_replayed(torchlint_positions, (i)), "
      "torchlint_replayed(torchlint_positions, (m[i])), ...]"]),
    ("TL108", "y = x.add(z, alpha=a)", "x.add(z, alpha=a)", [
        "y = x.add(torchlint_replayed(torchlint_number, (z)), "
        "alpha=torchlint_replayed(torchlint_number, (a)))"
    ]),
    ("TL111", "d = Normal(m, s)", "Normal(m, s)", ["d = Normal(m, s, validate_args=False)"]),
    ("TL111", "d = Normal(m, s,)", "Normal(m, s,)", ["d = Normal(m, s,validate_args=False)"]),
    ("TL111", "y = F.ctc_loss(a, b)", "F.ctc_loss(a, b)", []),
    ("TL111", "import torch\ny = torch.linalg.cholesky(k)", "torch.linalg.cholesky(k)",
     ["import torch\ny = torch.linalg.cholesky_ex(k)[0]"]),
    ("TL303", "def f(x):\n    p = x.softmax(-1)\n    return (p[m] + 1e-8).log()", "(p[m] + 1e-8).log()",
     ["def f(x):\n    p = x.softmax(-1)\n    return x.log_softmax(-1)[m]"]),
    ("TL303", "def f(x):\n    p = x.softmax(-1)\n    p = p / 2\n    return p.log()", "p.log()", []),
    ("TL508", "def mask(n):\n    return torch.ones(n)\ndef f(d):\n    return (~mask(3)).to(d)", "(~mask(3)).to(d)",
     ["def mask(n):\n    return torch.ones(n)\ndef f(d):\n    return torchlint_there(d, lambda: (~mask(3)))"]),
    ("TL602", "kept.append({'a': out, 'n': 1})", "kept.append({'a': out, 'n': 1})",
     ["kept.append(torchlint_detached({'a': out, 'n': 1}))"]),
    ("TL204", "for k, v in a.items():\n    if v.k:\n        v *= d\n        v += b[k]", "v *= d",
     ["for v, b_each in torchlint_listed([(v, b[k]) for k, v in a.items() if v.k]):\n    v *= d\n    v += b_each"]),
    ("TL204", "for k, v in a.items():\n    v *= c[k]\n    print(k)", "v *= c[k]", []),
    ("TL201", "y = []\nfor i in range(n):\n    a = x[i]\n    y.append(a * 2)",
     "for i in range(n):\n    a = x[i]\n    y.append(a * 2)",
     ["y = []\ndef torchlint_round(i):\n    a = x[i]\n    return a * 2\n"
      "y.extend(torchlint_batched(lambda i: torchlint_round(i), n))"]),
    ("TL201", "for i in range(n):\n    a = x[i]\n    y.append(a * 2)\nz = a",
     "for i in range(n):\n    a = x[i]\n    y.append(a * 2)", []),
    ("TL509", "y = x.to(d)", "x.to(d)", ["y = torchlint_replayed(lambda: (x.to(d)))"]),
    ("TL704", "with torch.autograd.detect_anomaly():\n    f()", "torch.autograd.detect_anomaly()",
     ["with torch.autograd.set_detect_anomaly(False):\n    f()"]),
    ("TL903", "n = nn.DataParallel(n)", "nn.DataParallel(n)", ["n = (n)"]),
    ("TL508", "y = torch.zeros(3).to(d)", "torch.zeros(3).to(d)", []),
    ("TL602", "kept.append(out)", "kept.append(out)",
     ["kept.append(out.detach())", "kept.append(torchlint_detached(out))"]),
    ("TL201", "y = [f(r) for r in x if r]", "[f(r) for r in x if r]", []),
    ("TL302", "y = x.softmax(-1)", "x.softmax(-1)", []),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "piece", "wanted"), CASES)
def test_the_form_to_measure_against(
    make_finding: Callable[..., Finding], code: str, text: str, piece: str, wanted: list[str]
) -> None:
    lines = text.split("\n")
    made = [
        extract.repaired(lines, repair.edits).rstrip("\n")
        for repair in ways(make_finding(text, piece, code=code), lines)
    ]
    assert made == wanted
    for one in made:
        ast.parse(one)


READ = """\
def f(xs, kept):
    total, best, count = 0.0, 1.0, 0
    for x in xs:
        {}
    return total / len(xs), best
"""


@pytest.mark.parametrize(
    ("statement", "is_kept"),
    [
        ("total += x.item()", True),
        ("kept.append({'x': x.item() / 2})", True),
        ("value = x.item(); total += value", True),
        ("kept.total = kept.total + x.item()", True),
        ("best = min(best, x.item())", False),
        ("value = x.item(); kept.append(value) if value > 0 else None", False),
        ("kept[x.item()] = 0", False),
        ("print(f'{x.item()}')", False),
        ("total += torch.zeros(x.item()).sum()", False),
    ],
)
def test_a_value_is_left_on_the_device_where_nothing_waits_for_it_there(
    make_finding: Callable[..., Finding], statement: str, is_kept: bool
) -> None:
    text = READ.format(statement)
    made = [repair.what for repair in ways(make_finding(text, "x.item()"), text.split("\n"))]
    assert ("the value left on the device" in made) == is_kept
    assert len(made) == 1 + is_kept


def test_a_factory_is_called_on_the_device(make_finding: Callable[..., Finding]) -> None:
    text = "def f(d):\n    w = torch.arange(4)\n    return (w * 2).to(d)\n"
    lines = text.split("\n")
    (repair,) = ways(make_finding(text, "(w * 2).to(d)", code="TL508"), lines)
    assert extract.repaired(lines, repair.edits).startswith(
        "def f(d):\n    w = torch.arange(4, device=d)\n    return (w * 2)\n"
    )


def test_the_findings_own_fix_comes_first(make_finding: Callable[..., Finding]) -> None:
    repairs = list(ways(make_finding("y = x.item()", "x.item()", "x"), ["y = x.item()"]))
    assert repairs[0].what == "write it otherwise"
    assert len(repairs) == 3


def test_one_round_over_lists_does_what_the_rounds_do() -> None:
    device = torch.device("cpu")
    listed = helpers(torch, device, Recording())["torchlint_listed"]
    ours, theirs = ([torch.arange(3.0), torch.ones(2, 2)] for _ in range(2))
    others = [torch.full((3,), 2.0), torch.zeros(2, 2)]
    for a, b in zip(others, ours, strict=True):
        b.data.copy_(0.25 * a.data + (1 - 0.25) * b.data)
        b.sub_(1 - a).addcmul_(a, b, value=0.5)
    for a, b in listed(zip(others, theirs, strict=True)):
        b.data.copy_(0.25 * a.data + (1 - 0.25) * b.data)
        b.sub_(1 - a).addcmul_(a, b, value=0.5)
    assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))


def test_what_rounds_read_and_add_up_is_the_same_over_lists() -> None:
    made = helpers(torch, torch.device("cpu"), Recording())
    ours = [torch.arange(3.0), torch.ones(2, 2)]
    total = sum(p.detach().norm(2).item() ** 2 for p in ours)
    (p,) = made["torchlint_listed"](ours)
    assert made["torchlint_summed"](torch.norm(p.detach(), 2).item() ** 2) == pytest.approx(total)
    p.data = p.data * 2
    p *= 3
    p += p
    assert ours[0].tolist() == [0.0, 12.0, 24.0]


def test_what_containers_keep_is_kept_without_graphs() -> None:
    detached = helpers(torch, torch.device("cpu"), Recording())["torchlint_detached"]
    made = detached({"a": torch.ones(2, requires_grad=True) * 2, "b": (1, [torch.ones(1, requires_grad=True)])})
    assert not made["a"].requires_grad
    assert not made["b"][1][0].requires_grad
    assert made["b"][0] == 1


def test_a_factory_without_a_device_makes_it_there() -> None:
    there = helpers(torch, torch.device("cpu"), Recording())["torchlint_there"]
    assert there("meta", lambda: torch.ones(2)).device.type == "meta"


def test_what_has_no_form_for_lists_is_refused() -> None:
    (only,) = helpers(torch, torch.device("cpu"), Recording())["torchlint_listed"]([torch.ones(2)])
    with pytest.raises(RuntimeError, match="_foreach_cumsum"):
        only.cumsum(0)
