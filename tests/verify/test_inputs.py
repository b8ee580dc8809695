"""What code is called with: hints, and what its use tells."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from torchlint.verify.extract import Unit
from torchlint.verify.hints import HintError, hints
from torchlint.verify.inputs import Needs, needs
from torchlint.verify.variants import Variant


def described(source: str, entry: str = "f", **hinted: dict[str, Any]) -> Needs:
    tree = ast.parse(source)
    owner = next((n for n in tree.body if isinstance(n, ast.ClassDef)), None) if "." in entry else None
    scope = owner.body if owner else tree.body
    function = next(n for n in scope if isinstance(n, ast.FunctionDef) and n.name == entry.split(".")[-1])
    return needs(Unit(source, entry, tree, function, owner, ()), source, hinted)


def kinds(source: str) -> dict[str, str]:
    return {argument["name"]: _first(argument)["kind"] for argument in described(source).arguments}


def _first(description: dict[str, Any]) -> dict[str, Any]:
    """What is tried first, where the code leaves the kind open."""
    return description["of"][0] if description["kind"] == "choice" else description  # type: ignore[no-any-return]


LOOP = """
def f(model, optimizer, loader, criterion, device, epochs, log_every=50):
    for epoch in range(epochs):
        for step, (x, y) in enumerate(loader):
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            if step % log_every == 0:
                print(loss.item())
"""


def test_a_training_loop_gets_what_it_asks_for() -> None:
    assert kinds(LOOP) == {
        "model": "network",
        "optimizer": "optimizer",
        "loader": "loader",
        "criterion": "function",
        "device": "device",
        "epochs": "guess",
        "log_every": "number",
    }


def test_batches_that_the_code_moves_start_on_the_host() -> None:
    loader = described(LOOP).arguments[2]
    assert [item["device"] for item in loader["items"]] == ["cpu", "cpu"]
    assert loader["items"][1]["dtype"] == "labels"


def test_every_stand_in_is_named() -> None:
    said = described(LOOP).stand_ins
    assert any(text.startswith("model is") for text in said)
    assert any(text.startswith("loader is") for text in said)


def test_unpacked_shapes_tell_the_rank() -> None:
    wanted = described("def f(x):\n    b, h, t, d = x.shape\n    return x * d\n")
    assert wanted.arguments[0]["rank"] == 4


def test_helpers_are_followed() -> None:
    source = "def inner(q):\n    b, t, d = q.size()\n    return q\n\n\ndef f(x):\n    return inner(x)\n"
    assert described(source).arguments[0]["rank"] == 3


def test_dictionaries_are_made_of_the_keys_that_are_read() -> None:
    source = "def f(model, loader):\n    for batch in loader:\n        model(batch['ids']).sum().backward()\n"
    element = described(source).arguments[1]["items"][0]
    assert element["kind"] == "dict"
    assert element["items"]["ids"]["dtype"] == "tokens"


def test_a_method_is_called_on_an_object_made_like_any_other() -> None:
    source = """
from torch import nn


class Trainer:
    def __init__(self, model, optimizer, scale=2.0):
        self.model = model
        self.optimizer = optimizer
        self.scale = scale

    def f(self, x):
        loss = self.model(x).mean() * self.scale
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
    own, x = described(source, "Trainer.f").arguments
    assert own["kind"] == "own"
    assert {name: given["kind"] for name, given in own["kwargs"].items()} == {
        "model": "network",
        "optimizer": "optimizer",
        "scale": "number",
    }
    assert _first(x)["kind"] == "tensor"


def test_hints_win() -> None:
    hinted = hints(["x = 1  # torchlint: input q=bf16[8,16,2048,64], steps=100"])
    wanted = described("def f(q, steps):\n    return q\n", **hinted)
    assert wanted.arguments[0] == {
        "name": "q", "kind": "tensor", "dtype": "bfloat16", "shape": [8, 16, 2048, 64], "origin": "hint in line 1",
    }  # fmt: skip
    assert wanted.arguments[1]["value"] == 100


@pytest.mark.parametrize(
    "text",
    ["q", "q=", "q=f99[1]", "q=f32[a]", "q=__import__('os')", "q=f32[1", "2=f32[1]", "q={1, 2}", "q=b'a'", "q=1j",
     "q=1e999", "q=f32[9999999999999]", f"q=0x{'f' * 5000}"],
)  # fmt: skip
def test_hints_are_parsed_and_never_evaluated(text: str) -> None:
    with pytest.raises(HintError, match="line 1") as raised:
        hints([f"# torchlint: input {text}"])
    assert len(str(raised.value)) < 200


def test_widths_that_the_code_names_are_tried() -> None:
    source = "from torch import nn\n\nlayer = nn.Linear(48, 10)\n\n\ndef f(x):\n    return layer(x)\n"
    assert 48 in described(source).widths


LAYERS = """
from torch import nn


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ids, self.rows = nn.Embedding(10, 4), nn.Linear(4, 4)
        self.images = nn.Conv2d(3, 4, 1)
        self.series = nn.GRU(4, 4)

    def f(self, a, words, c, d):
        return self.ids(a), self.rows(words), self.images(c), self.series(d)
"""


def test_layers_tell_what_they_are_given() -> None:
    _, a, words, c, d = described(LAYERS, "Mixer.f").arguments
    assert a["dtype"] == "tokens"
    assert words["dtype"] == "float"  # whatever its name says
    assert (c["rank"], d["rank"]) == (4, 3)


def test_a_dataset_holds_what_the_loop_over_its_loader_reads() -> None:
    source = """
from torch.utils.data import DataLoader


def f(net, dataset):
    for batch in DataLoader(dataset, batch_size=8):
        net(batch["x"]).sum().backward()
"""
    dataset = described(source).arguments[1]
    assert dataset["kind"] == "dataset"
    assert list(dataset["items"][0]["items"]) == ["x"]


def test_what_numpy_reads_from_a_loader_is_on_the_host() -> None:
    source = "import numpy as np\n\n\ndef f(net, frames):\n    for frame in frames:\n        net(np.array(frame))\n"
    loader, _ = described(source).arguments[1]["of"]
    (item,) = loader["items"]
    assert all(one["device"] == "cpu" for one in item.get("of", [item]) if one["kind"] == "tensor")


def test_what_a_transfer_moves_lies_on_the_host_before() -> None:
    source = "def f(x, device):\n    return x.to(device, non_blocking=True)\n"
    unit = Unit(source, "f", ast.parse(source), next(iter(ast.parse(source).body)), None, ())  # type: ignore[arg-type]
    assert "device" not in needs(unit, source, {}).arguments[0]
    assert needs(unit, source, {}, on_host=True, pinned=True).arguments[0]["pinned"]
    assert needs(unit, source, {}, on_host=True).arguments[0]["device"] == "cpu"


def test_what_is_looped_over_may_be_a_loader_or_a_tensor_unless_it_is_used_as_one() -> None:
    loop = "def f(rows):\n    for row in rows:\n        row.sum()\n"
    assert [one["kind"] for one in described(loop).arguments[0]["of"]] == ["loader", "tensor"]
    assert described(f"{loop}    rows.ge(0)\n").arguments[0]["kind"] == "tensor"


def test_an_attribute_that_is_asked_for_by_its_name_is_one() -> None:
    (config,) = described("def f(config):\n    return getattr(config, 'depth', 2) + config.width\n").arguments
    assert set(config["attributes"]) == {"depth", "width"}


def test_names_of_other_modules_are_what_they_are_used_as() -> None:
    source = "def f(x):\n    y = Head()(x) if isinstance(x, Head) else make(x)\n    return y * tools.scale(x)\n"
    tree = ast.parse(source)
    unit = Unit(source, "f", tree, next(iter(tree.body)), None, ())  # type: ignore[arg-type]
    made = needs(unit, source, {}, foreign={"Head": "aux.Head", "make": "aux.make", "tools": "aux.tools"})
    assert made.globals["Head"]["kind"] == "class"
    assert made.globals["Head"]["gives"]["kind"] == "network"
    assert made.globals["make"] == {"kind": "function", "gives": {"kind": "result", "of": ""}}
    assert made.globals["tools"]["attributes"]["scale"]["kind"] == "function"
    assert "make is a stand-in for aux.make, which is not run" in made.stand_ins


def test_what_the_files_own_criterion_takes_second_are_labels() -> None:
    source = "criterion = torch.nn.CrossEntropyLoss()\n\n\ndef f(scores, y2):\n    return criterion(scores, y2)\n"
    tree = ast.parse(source)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    arguments = needs(Unit(source, "f", tree, function, None, ()), source, {}).arguments
    assert [one.get("dtype") for one in (arguments[0]["of"][0], arguments[1])] == ["open", "labels"]


def test_a_call_that_is_taken_apart_gives_what_its_parts_are_read_for() -> None:
    network, tensors, _ = described(
        "def f(net, xs, tokenizer):\n"
        "    found = net.eval()(torch.cat(xs))[0]\n"
        "    return found['boxes'], torch.min(*net.pair(xs)), tokenizer.encode('a text')\n"
    ).arguments
    assert list(network["gives"]["items"][0]["items"]) == ["boxes"]
    assert network["calls"]["pair"]["gives"]["kind"] == "tuple"
    assert tensors["kind"] == "list"


def test_what_is_appended_to_is_a_list_that_keeps_it() -> None:
    (kept, log, _) = described("def f(kept, log, x):\n    kept.append(x)\n    log['loss'].append(x)\n").arguments
    assert (kept["kind"], kept["count"]) == ("list", 0)
    assert log["items"]["loss"]["kind"] == "list"


def test_a_network_whose_parameters_are_gone_through_has_many() -> None:
    source = (
        "def f(a, b, c):\n    for p, q in zip(a.parameters(), b.parameters()):\n        p.data.copy_(q)\n"
        "    return c.parameters()\n"
    )
    assert [network["deep"] for network in described(source).arguments] == [True, True, False]


def test_a_dictionary_of_what_another_holds_is_read_as_that_one() -> None:
    source = "def f(view, device):\n    view = {k: v.to(device) for k, v in view.items()}\n    return view['image']\n"
    assert list(described(source).arguments[0]["items"]) == ["image"]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("def f(d, x):\n    return d.log_prob(x).sum()\n", {"d": {"kind": "distribution"}}),
        ("def f(p, q):\n    return torch.distributions.kl_divergence(p, q)\n", {"q": {"kind": "distribution"}}),
        ("def f(x):\n    return x.detach().requires_grad_()\n", {"x": {"kind": "tensor"}}),
        ("def f(x):\n    return x.item() + 1\n", {"x": {"kind": "tensor", "rank": 0}}),
        ("def f(x, w):\n    if (x.sum() * w) > 3:\n        return 1\n", {"x": {"kind": "tensor", "rank": None}}),
        ("def f(x, *, w, k=1):\n    return x.sum() @ w\n", {"x": {"kind": "tensor"}, "w": {"kind": "tensor"}}),
        ("def f(e, near):\n    a, b = e[:, near]\n    row, column = e\n    return row\n",
         {"e": {"kind": "tensor", "rank": 2}, "near": {"kind": "tensor", "dtype": "index"}}),
        ("def f(policy, x):\n    return policy.log_prob(x).sum()\n", {"policy": {"kind": "object"}}),
        ("def f(w, x):\n    w.add_scalar('x', x['a'], 1)\n", {"w": {"kind": "inert"}}),
        ("def f(a, b, x):\n    same = a == b\n    return x[same]\n", {"a": {"kind": "tensor", "dtype": "int64"}}),
        ("def f(mode):\n    if mode == 'a' or mode == 'b':\n        return 1\n",
         {"mode": {"kind": "guess", "value": "a", "others": ["b", "another"]}}),
    ],
)  # fmt: skip
def test_what_is_done_with_an_argument_tells_its_kind(source: str, wanted: dict[str, dict[str, object]]) -> None:
    made = {argument["name"]: argument for argument in described(f"import torch\n\n\n{source}").arguments}
    for name, what in wanted.items():
        assert {key: made[name].get(key) for key in what} == what
    assert "k" not in made


def test_keyword_parameters_are_given_by_name() -> None:
    source = "def f(a, *, c=1, b):\n    return a - b\n"
    variant = Variant("before", source, "f", keep=False)
    assert variant.function(variant.load())(5, 3) == 2
