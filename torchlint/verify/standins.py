# torchlint: file-ignore[TL1] stand-ins read and move tensors as what they stand for does
"""Arguments for measured code, and stand-ins for what the code gets from elsewhere.

A plan describes each argument by a dictionary with a "kind"; `Builder` makes it. What the description leaves open, the
rank of a tensor, what a network gives back, is a choice with a name, decided by a trial: a dictionary from names of
choices to values. The builder notes which choices it met and between what, so that `search.py` can look for a trial
that the code accepts. Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import contextlib
import math
import re
import types
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["MODULE", "Batches", "Builder", "Plain", "Record", "Unfit", "printable", "shown", "tensors"]

MODULE = "measured"  # the name of modules of measured code: neither variant can tell which it is
MAX_TEXT = 300  # characters of a message that leave the process
CLASSES, VOCABULARY = 10, 1000
DEPTH = 16  # layers of a network whose parameters are gone through one by one, of two tensors each
# Shapes by rank, the usual first: batch, time, width, heads, channels, side of an image.
PATTERNS = {
    0: [""],
    1: ["B", "D"],
    2: ["BD", "BT", "TD", "DD", "2B"],
    3: ["BTD", "BTT", "TBD", "CSS"],
    4: ["BHTD", "BCSS", "BDSS"],
}
REDUCTIONS = {"max": "amax", "min": "amin", "mean": "mean", "sum": "sum", "any": "any", "all": "all"}  # of einops
ANY_PATTERN = ("BD", "BTD", "B", "", "BHTD", "BCSS", "BDSS", "BT", "D", "TD", "2B", "TBD", "N")


class Unfit(Exception):
    """An input of a kind that nothing can be made of."""


def printable(text: str, limit: int = MAX_TEXT) -> str:
    """`text` cut, in one line, without control characters or lone surrogates."""
    shown = "".join(c if c.isprintable() else " " for c in text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


class NeedsStem(Exception):
    """A stand-in for a network was called with a tensor that it has no layer for."""

    def __init__(self, choice: str, stem: tuple[str, int]) -> None:
        super().__init__("a stand-in met a new kind of input")
        self.choice = choice
        self.stem = stem


class Builder:
    """Makes arguments and stand-ins from their descriptions.

    Attributes:
        asked: the choices that were met and what they are between, the first being what is taken unless the trial says
            otherwise.
    """

    def __init__(
        self, torch: Any, device: Any, module: types.ModuleType, sizes: dict[str, int], trial: dict[str, Any]
    ) -> None:
        self.torch = torch
        self.device = device
        self.module = module
        self.sizes = sizes
        self.trial = trial
        self.dtype = trial.get("dtype", "float32")
        self.asked: dict[str, list[Any]] = {}
        self.widths: list[Any] = ["D"]
        self.eager = False  # whether what is compiled in the file is left as it is written
        self.made: dict[str, Any] = {}
        self.network: Any = None
        self.path: list[str] = []

    # -- choices

    def pick(self, name: str, options: Sequence[Any]) -> Any:
        key = ".".join([*self.path, name])
        self.asked[key] = list(options)
        return self.trial.get(key, options[0])

    def shared(self, name: str, options: Sequence[Any]) -> Any:
        """A choice that all arguments of a call share."""
        self.asked[f"*{name}"] = list(options)
        return self.trial.get(f"*{name}", options[0])

    @property
    def width(self) -> int:
        """The last dimension: a choice that arguments share, and that each may make for itself."""
        common = self.shared("width", self.widths)
        chosen = self.pick("width", [None, *self.widths]) if self.path else None
        chosen = common if chosen is None else chosen
        return self.sizes[chosen] if type(chosen) is str else int(chosen)

    def extent(self, letter: str) -> int:
        if letter == "D":
            return self.width
        return int(letter) if letter.isdigit() else self.sizes[letter]

    def shape(self, pattern: str) -> list[int]:
        sizes = [self.extent(letter) for letter in pattern]
        if pattern == "BHTD" and sizes[-1] == self.sizes["D"]:
            sizes[-1] = max(1, sizes[-1] // self.sizes["H"])
        return sizes

    # -- what is made

    def arguments(self, descriptions: list[dict[str, Any]]) -> tuple[Any, ...]:
        made = self.together({description["name"]: description for description in descriptions})
        return tuple(made[description["name"]] for description in descriptions)

    def together(self, descriptions: dict[str, Any]) -> dict[str, Any]:
        """Several things of one call; what holds parameters of a network is made after the network."""
        late = ("optimizer", "scheduler")
        for wanted in (False, True):
            for name, description in descriptions.items():
                if (type(description) is dict and description.get("kind") in late) == wanted:
                    self.made[name] = self.below(name, description)
        return {name: self.made[name] for name in descriptions}

    def below(self, name: str, description: Any) -> Any:
        if name.startswith("__"):
            raise Unfit("a description names a special attribute")
        self.path.append(name)
        try:
            return self.make(description)
        finally:
            self.path.pop()

    def make(self, description: Any) -> Any:
        if type(description) is not dict or "kind" not in description:
            return description
        kind = description["kind"]
        maker = getattr(self, f"make_{kind}", None)
        if maker is None:
            raise Unfit(f"unknown kind of input {kind}")
        return maker(**{k: v for k, v in description.items() if k not in ("kind", "name", "origin")})

    def make_choice(self, of: list[Any]) -> Any:
        """One of several descriptions."""
        return self.make(of[self.pick("kind", list(range(len(of))))])

    def form(self, dtype: str, rank: int | None) -> tuple[str, str]:
        """The dtype and the pattern of a tensor that the plan leaves open."""
        if dtype == "labels":
            common = self.shared("labels", ["int64", "float"])
            if rank is not None:
                return common, self.pick("form", ["BT", *PATTERNS[2]] if rank == 2 else PATTERNS.get(rank, ["B"]))
            picked = self.pick("form", [None, "int64:B", "int64:BT", "float:B", "float:BD", "float:BTD", "int64:BSS"])
            if picked is None:
                if common == "int64":
                    return common, "B"
                return "float", self.shared("pattern", list(ANY_PATTERN))
            return _parted(picked)
        kinds = {"tokens": "int64", "index": "int64", "selecting": "bool", "open": "float"}
        kind = kinds.get(dtype, dtype)
        if dtype == "selecting":
            forms = ["bool:B", "bool:BD", "bool:BT", "bool:D", "bool:T", "bool:BTD", "int64:B", "int64:BT", "int64:"]
            fitting = [form for form in forms if rank is None or len(_parted(form)[1]) == rank]
            return _parted(self.pick("form", fitting or forms))
        if rank is not None:
            return kind, self.pick("form", PATTERNS.get(rank, ["B" * max(0, rank - 1) + "D"]))
        if dtype in ("tokens", "index"):
            return kind, self.pick("form", ["BT", "B", "2B"] if dtype == "tokens" else ["B", "BT", "2B", ""])
        if dtype == "bool" or kind in ("int64", "int32"):
            return kind, self.pick("form", ["B", "BT", "BD", "2B", "", "BHTT", "BTT"])
        options: list[Any] = [None, *ANY_PATTERN]
        if dtype == "open":
            options += ["int64:B", "bool:B", "int64:BT", "bool:BD", "int64:2B"]
        picked = self.pick("form", options)
        if picked is None:
            return kind, self.shared("pattern", list(ANY_PATTERN))
        return (kind, picked) if ":" not in picked else _parted(picked)

    def make_tensor(
        self,
        dtype: str,
        shape: list[Any] | None = None,
        rank: int | None = None,
        fill: str = "",
        device: str = "",
        grad: bool = False,
        pinned: bool = False,
    ) -> Any:
        torch, where = self.torch, (self.torch.device(device) if device else self.device)
        if shape is not None:
            kind, sizes = dtype, [self.extent(n) if type(n) is str else n for n in shape]
        else:
            kind, pattern = self.form(dtype, rank)
            sizes = self.shape(pattern)
        real = getattr(
            torch,
            self.dtype if kind in ("float", "open") else "int64" if kind in ("labels", "tokens", "index") else kind,
        )
        if real == torch.bool:
            made = torch.rand(sizes, device=where) < 0.5
        elif real.is_floating_point or real.is_complex:
            made = torch.randn(sizes, dtype=real, device=where)
            fill = fill or (self.pick("fill", ["", "positive"]) if dtype == "open" and real.is_floating_point else "")
            made = made.sigmoid() if fill == "probability" else made.abs() if fill == "positive" else made
        else:
            most = self.sizes["B"] if dtype in ("index", "selecting") else CLASSES
            if dtype == "tokens":
                most = self.pick("below", [VOCABULARY, CLASSES, self.sizes["B"]])
            elif dtype in ("open", "labels") and not fill:
                most = self.pick("below", [CLASSES, self.sizes["B"], 2])
            made = torch.randint(max(1, most), tuple(sizes), dtype=real, device=where)
            made = torch.ones_like(made) if fill == "ones" else made
        if pinned and self.device.type == "cuda":
            made = made.cpu().pin_memory()
        return made.requires_grad_() if grad and made.is_floating_point() else made

    def make_array(self, dtype: str, rank: int | None = None) -> Any:
        """An array of NumPy with what a tensor of that description holds."""
        return self.make_tensor(dtype, rank=rank, device="cpu").numpy()

    def make_number(self, value: Any) -> Any:
        return value

    def make_guess(self, value: Any, others: list[Any] | None = None) -> Any:
        """A number that the code does not tell; a text stands for a size."""
        picked = self.pick("value", [value, *(others or ())])
        return self.extent(picked) if type(picked) is str and picked in {*self.sizes, "D"} else picked

    def make_device(self) -> Any:
        return self.device

    def make_dtype(self, value: str) -> Any:
        made = getattr(self.torch, value, None)
        if not isinstance(made, self.torch.dtype):
            raise Unfit(f"no dtype is called {printable(str(value), 40)}")
        return made

    def make_distribution(self) -> Any:
        """A normal distribution of numbers, in rows."""
        torch = self.torch
        mean = torch.randn(self.shape(self.pick("form", ["BD", "B", "BTD", ""])), device=self.device)
        spread = torch.ones_like(mean)
        return torch.distributions.Normal(mean.requires_grad_(self.pick("grad", [False, True])), spread)

    def make_tuple(self, items: list[Any]) -> tuple[Any, ...]:
        return tuple(self.below(str(index), item) for index, item in enumerate(items))

    def make_list(self, item: Any, count: int = 4) -> list[Any]:
        return [self.below("item", item) for _ in range(count)]

    def make_dict(self, items: dict[str, Any]) -> dict[str, Any]:
        return {key: self.below(key, item) for key, item in items.items()}

    def make_own(self, path: str, kwargs: dict[str, Any], compiled: bool = False) -> Any:
        given = self.together(kwargs)
        starred = [value for name, value in given.items() if name.startswith("*")]
        plain = {name: value for name, value in given.items() if not name.startswith("*")}
        kind = vars(self.module).get(path)
        if not isinstance(kind, type) or kind.__module__ != MODULE:  # what the code imports is called by its own text
            raise Unfit("the code has no such class")
        made = kind(*starred, **plain)
        if isinstance(made, self.torch.nn.Module):
            made = made.to(self.device)
            with self.torch.no_grad():
                for parameter in made.parameters():
                    if not bool(self.torch.isfinite(parameter).all()) or float(parameter.detach().abs().max()) > 1e4:
                        parameter.normal_(std=0.02)  # memory that the code leaves empty, for weights loaded later
            self.network = self.network if self.network is not None else made
        return self.torch.compile(made) if compiled and not self.eager else made

    def make_parameters(self) -> Any:
        return list(self.make_network(grads=True, deep=True).parameters())

    def make_network(
        self,
        gives: Any = None,
        calls: dict[str, Any] | None = None,
        grads: bool = False,
        wide: bool = False,
        deep: bool = False,
    ) -> Any:
        """A small network; `gives` describes what calling it returns, `calls` its other attributes.

        It is `deep` where code goes through its parameters one by one: that costs by their number.
        """
        key = ".".join([*self.path, "stems"])
        stems = [tuple(stem) for stem in self.trial.get(key, ())]
        outputs = VOCABULARY if wide else CLASSES
        made = network_class(self.torch, self)(key, stems, self.sizes["D"], outputs, gives, DEPTH if deep else 0)
        for name, call in (calls or {}).items():
            object.__setattr__(made, name, self.below(name, call))
        self.network = made.to(self.device, getattr(self.torch, self.dtype))
        for parameter in self.network.parameters() if grads else ():
            parameter.grad = self.torch.randn_like(parameter)
        return made

    def make_optimizer(self) -> Any:
        network = self.network
        if network is None or not any(True for _ in network.parameters()):
            network = self.network = self.torch.nn.Linear(self.width, self.width, device=self.device)
        return self.torch.optim.SGD(network.parameters(), lr=0.01)

    def make_scaler(self) -> Any:
        return self.torch.amp.GradScaler(self.device.type, enabled=self.device.type == "cuda")

    def make_scheduler(self) -> Any:
        return Plain(
            step=lambda *_: None, get_last_lr=lambda: [0.01], last_epoch=0, state_dict=dict,
            load_state_dict=lambda *_: None,
        )  # fmt: skip

    def make_loader(self, items: list[Any], keys: list[str] | None = None) -> Any:
        """Batches made ahead, with a length and a dataset, as a loader shows itself to a loop."""
        made = [tuple(self.below(str(i), item) for i, item in enumerate(items)) for _ in range(self.sizes["steps"])]
        return Batches([batch[0] if len(items) == 1 else batch for batch in made])

    def make_dataset(self, items: list[Any], keys: list[str] | None = None) -> list[Any]:
        """Samples on the host, as many as batches of a loader hold."""
        before, self.device = self.device, self.torch.device("cpu")
        try:
            batches = self.make_loader(items)
        finally:
            self.device = before
        count = max(1, min((len(x) for x in tensors(self.torch, batches) if x.dim()), default=1))
        return [sample(self.torch, batch, index) for batch in batches for index in range(count)]

    def make_object(self, attributes: dict[str, Any], moves: bool = False) -> Any:
        return (Record if moves else Plain)(**self.together(attributes))

    def make_result(self, of: str = "") -> Any:
        """What a call gives of itself; made when it is called."""
        raise Unfit("a result stands by itself")

    def make_function(self, gives: Any) -> Any:
        """A function of the user's that is not here: what it gives follows from what it gets."""
        path = list(self.path)

        def stand_in(*given: Any, **named: Any) -> Any:
            return self.answer(gives, [*given, *named.values()], path)

        return stand_in

    def make_einops(self, of: str) -> Any:
        """What einops' functions of that name compute, and its layers, written with torch."""
        torch: Any = self.torch
        if not of[:1].isupper():
            return lambda x, pattern, how="", **sizes: rearranged(torch, x, pattern, how, **sizes)

        class Layer(torch.nn.Module):  # type: ignore[misc]
            def __init__(self, pattern: str, how: str = "", **sizes: int) -> None:
                super().__init__()
                self.pattern, self.how, self.lengths = pattern, how, sizes

            def forward(self, x: Any) -> Any:
                return rearranged(torch, x, self.pattern, self.how, **self.lengths)

        return Layer

    def make_class(self, gives: Any = None) -> Any:
        """A class that nothing is an object of; calling it gives what its objects stand for."""
        path = list(self.path)

        def new(_: Any, *given: Any, **named: Any) -> Any:
            return self.answer(gives, [*given, *named.values()], path)

        return type("Standin", (), {"__module__": MODULE, **({"__new__": new} if gives is not None else {})})

    def make_inert(self, of: str = "") -> Any:
        return inert(self.torch, of)

    # -- what calls give

    def answer(self, gives: Any, given: list[Any], path: list[str]) -> Any:
        """What a call of a stand-in gives, from a description and from the tensors that it was given."""
        kind = gives.get("kind") if type(gives) is dict else None
        if kind == "tuple":
            return tuple(self.answer(item, given, [*path, str(i)]) for i, item in enumerate(gives["items"]))
        if kind == "dict":
            return {key: self.answer(item, given, [*path, key]) for key, item in gives["items"].items()}
        if kind == "object":
            return Record(**{k: self.answer(item, given, [*path, k]) for k, item in gives["attributes"].items()})
        before, self.path = self.path, path
        try:
            if kind != "result":
                return self.make(gives)
            return self.result(gives.get("of", ""), given)
        finally:
            self.path = before

    def result(self, of: str, given: list[Any]) -> Any:
        torch = self.torch
        found = tensors(torch, given)
        floats = [x for x in found if x.is_floating_point()]
        if not found:
            return torch.zeros((), device=self.device)
        of = of or self.pick("gives", ["same", "mean", "scores", "row", "count"])
        if of == "count":
            return torch.full((), found[0].numel(), device=found[0].device)
        if of == "index":
            return torch.arange(len(found[0]) if found[0].dim() else 1, device=found[0].device)
        base = floats[0] if floats else found[0].to(getattr(torch, self.dtype))
        if of == "criterion":
            scores, target = base, found[1] if len(found) > 1 else base
            functional = torch.nn.functional
            if target.is_floating_point():
                return functional.mse_loss(scores, target)
            return functional.cross_entropy(scores.flatten(0, -2), target.flatten())
        if of in ("mean", "loss"):
            value = base.float().mean()
        elif of == "scores":
            value = base[..., : min(CLASSES, base.shape[-1])] if base.dim() else base
        elif of == "row":
            value = base.flatten(1).mean(1) if base.dim() > 1 else base
        else:
            value = base
        if self.network is None:
            self.network = torch.nn.Linear(1, 1, device=self.device)
        weights = next(self.network.parameters(), None)
        if weights is None or value.requires_grad or not torch.is_grad_enabled():
            return value
        return value + weights.float().sum().to(value.dtype) * 0.0


def _axes(side: str) -> list[list[str]]:
    """One side of a pattern of einops: for each dimension the axes that it is made of."""
    found: list[list[str]] = []
    inside = False
    for part in re.findall(r"\(|\)|\w+", side):
        if part in "()":
            inside = part == "("
            found += [[]] if inside else []
        elif inside:
            found[-1].append(part)
        else:
            found.append([] if part == "1" else [part])
    return found


def rearranged(torch: Any, x: Any, pattern: str, how: str = "", **sizes: int) -> Any:
    """`x` with its axes as a pattern of einops says: split, permuted, repeated, reduced by `how`, and merged."""
    x = torch.stack(x) if type(x) is list else x
    more = x.dim() - len(_axes(pattern.partition("->")[0].replace("...", "")))
    left, _, right = pattern.replace("...", " ".join(f"_{index}" for index in range(more))).partition("->")
    taken, wanted = _axes(left), _axes(right)
    shape: list[int] = []
    for axes, size in zip(taken, x.shape):  # noqa: B905 (Python 3.9)
        known = [sizes.get(axis, -1) for axis in axes]
        for axis, one in zip(axes, known):  # noqa: B905 (Python 3.9)
            rest = size // max(1, math.prod(other for other in known if other > 0))
            sizes[axis] = rest if one < 0 else one
        shape += [sizes[axis] for axis in axes]
    if len(taken) != x.dim() or math.prod(shape) != x.numel():
        raise RuntimeError(f"a tensor of shape {list(x.shape)} does not fit the pattern {pattern}")
    x = x.reshape(shape)
    names = [axis for axes in taken for axis in axes]
    kept = [axis for axes in wanted for axis in axes]
    lost = [axis for axis in names if axis not in kept]
    if lost and not how:
        raise RuntimeError(f"the pattern {pattern} leaves out an axis")
    if lost:
        reduce = getattr(torch, REDUCTIONS[how])
        x, names = reduce(x, tuple(names.index(axis) for axis in lost)), [axis for axis in names if axis in kept]
    x = x.permute([names.index(axis) for axis in kept if axis in names])
    for at, axis in enumerate(kept):
        if axis not in names:
            x = x.unsqueeze(at).expand(*x.shape[:at], sizes[axis], *x.shape[at:])
    return x.reshape([math.prod(sizes[axis] for axis in axes) for axes in wanted])


def sample(torch: Any, batch: Any, index: int) -> Any:
    """One sample of a batch, of what has a first dimension."""
    if isinstance(batch, torch.Tensor):
        return batch[index] if batch.dim() else batch
    if type(batch) is dict:
        return {key: sample(torch, item, index) for key, item in batch.items()}
    return tuple(sample(torch, item, index) for item in batch) if type(batch) is tuple else batch


def _parted(form: str) -> tuple[str, str]:
    """The dtype and the pattern of "int64:BT"."""
    kind, _, pattern = form.partition(":")
    return kind, pattern


def network_class(torch: Any, builder: Builder) -> Any:
    """The stand-in for a network: a layer for each kind of input it meets, then two linear ones.

    What measured code could read of its objects is theirs alone: no module, not the builder.
    """

    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, choice: str, stems: list[Any], width: int, outputs: int, gives: Any, depth: int = 0) -> None:
            super().__init__()
            nn = torch.nn
            self.choice, self.gives, self.known = choice, gives, [tuple(stem) for stem in stems]
            self.at = choice.split(".")[:-1]
            self.width, self.outputs = width, outputs
            makers = {
                "ids": lambda size: nn.Embedding(size, width),
                "rows": lambda size: nn.Linear(size, width),
                "image": lambda size: nn.Conv2d(size, width, 3, padding=1),
                "out": lambda size: nn.Linear(width, size),
            }
            self.layers = nn.ModuleList(makers[kind](size) for kind, size in self.known)
            self.middle = nn.Linear(width, width)
            self.more = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

        def layer(self, kind: str, size: int) -> Any:
            """The layer for a kind of input or output; the network is made anew where it has none."""
            if (kind, size) not in self.known:
                raise NeedsStem(self.choice, (kind, size))
            return self.layers[self.known.index((kind, size))]

        def stem(self, x: Any) -> Any:
            if not x.is_floating_point() and x.dtype != torch.bool:
                return self.layer("ids", VOCABULARY)(x.clamp(0, VOCABULARY - 1))
            x = x.to(self.middle.weight.dtype)
            if x.dim() == 4:
                return self.layer("image", int(x.shape[1]))(x).movedim(1, -1)
            x = x if x.dim() else x.reshape(1)
            return self.layer("rows", int(x.shape[-1]))(x)

        def hidden(self, given: Any) -> Any:
            found = tensors(torch, given)
            total = self.stem(found[0])
            for more in found[1:8]:
                extra = self.stem(more)
                total = total + (extra if extra.shape == total.shape else extra.flatten(0, -2).mean(0))
            hidden = torch.relu(self.middle(torch.relu(total)))
            for layer in self.more:
                hidden = torch.relu(layer(hidden))
            return hidden, found[0]

        def another(self) -> Any:
            """What stands for a class of networks, or a function that makes them, is called without tensors."""
            before, builder.path = builder.path, [*self.at, "made"]
            try:
                return builder.make_network(self.gives)
            finally:
                builder.path = before

        def forward(self, *given: Any, **named: Any) -> Any:
            if not tensors(torch, [*given, *named.values()]):
                if self.gives is None or self.gives["kind"] == "result":
                    return self.another()
                # What is taken apart is no network: it computes from what it holds itself.
                given = (torch.ones(builder.sizes["B"], self.width, device=self.middle.weight.device),)
            hidden, first = self.hidden([*given, *named.values()])
            if self.gives is None:
                return self.output("", hidden, first, self.at)
            return self.spread(self.gives, hidden, first, self.at)

        def spread(self, gives: Any, hidden: Any, first: Any, at: list[str]) -> Any:
            """What the caller takes apart: tuples, dictionaries and objects of outputs."""
            kind = gives["kind"]
            if kind == "tuple":
                return tuple(self.spread(g, hidden, first, [*at, str(i)]) for i, g in enumerate(gives["items"]))
            if kind == "dict":
                return {key: self.spread(g, hidden, first, [*at, key]) for key, g in gives["items"].items()}
            if kind == "object":
                parts = gives["attributes"].items()
                return Record(**{name: self.spread(g, hidden, first, [*at, name]) for name, g in parts})
            return self.output(gives.get("of", ""), hidden, first, at)

        def output(self, of: str, hidden: Any, first: Any, at: list[str]) -> Any:
            before, builder.path = builder.path, at
            try:
                image = first.dim() == 4 and first.is_floating_point()
                pooled = hidden.mean((1, 2)) if image else hidden
                options = ["scores", "same", "row", "hidden", "loss", "rowscores", "wide"]
                if builder.trial.get("*labels", "int64") != "int64":
                    options = ["same", "scores", "row", "hidden", "loss", "rowscores", "wide"]
                of = of or builder.pick("out", options)
            finally:
                builder.path = before
            if of == "count":
                return torch.full((), first.numel(), device=first.device)
            if of == "hidden":
                return pooled
            if of == "same":
                size = int(first.shape[1 if image else -1]) if first.is_floating_point() and first.dim() else self.width
                back = self.layer("out", size)(hidden)
                return back.movedim(-1, 1) if image else back
            if of == "rowscores" and pooled.dim() > 2:
                pooled = pooled.flatten(1, -2).mean(1)
            scores = self.layer("out", VOCABULARY if of == "wide" else self.outputs)(pooled)
            return scores.float().pow(2).mean() if of == "loss" else scores[..., 0] if of == "row" else scores

    return Network


class Batches:
    """A stand-in for a loader: batches that are there already."""

    def __init__(self, made: list[Any]) -> None:
        self._made = made
        self.dataset = made
        self.batch_size = 1
        self.sampler = Plain(set_epoch=lambda epoch: None)
        self._at = 0

    def __next__(self) -> Any:
        """The next batch, from the first again after the last: code that takes batches by itself never runs out."""
        self._at += 1
        return self._made[(self._at - 1) % len(self._made)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, index: Any) -> Any:
        return self._made[index]

    def _shown(self, *given: Any, **named: Any) -> None:
        """What a progress bar around it is given to show, which makes texts of it."""
        str((given, named))

    set_description = set_description_str = set_postfix = set_postfix_str = update = close = write = _shown


class Plain:
    """A stand-in with the attributes the plan gives it, or code that calls its class."""

    def __init__(self, **attributes: Any) -> None:
        if any(name.startswith("__") for name in attributes):
            raise Unfit("a stand-in names a special attribute")
        self.__dict__.update(attributes)


def _fields(record: Plain) -> dict[str, Any]:
    """Its attributes, without special ones, which `functools.update_wrapper` gives to anything."""
    return {name: value for name, value in record.__dict__.items() if not name.startswith("__")}


class Record(Plain):
    """A stand-in for a batch or a result with fields, which moves as one."""

    def to(self, *where: Any, **options: Any) -> Record:
        moved = {
            name: value.to(*where, **options) if hasattr(value, "to") else value
            for name, value in _fields(self).items()
        }
        return Record(**moved)

    def cuda(self, *where: Any, **options: Any) -> Record:
        return self.to("cuda", **options)

    def __getitem__(self, key: Any) -> Any:
        return _fields(self)[key] if type(key) is str else list(_fields(self).values())[key]

    def items(self) -> Any:
        return _fields(self).items()

    def keys(self) -> Any:
        return _fields(self).keys()


def inert(torch: Any, of: str) -> Any:
    """A stand-in for what writes, shows or logs: it takes what it is given, reads what it must to show it, and no more.

    Loggers make the text of a message, from INFO on; progress bars and writers of scalars read the numbers. All else
    does nothing and gives itself.
    """

    def read(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            str(value)
        elif type(value) is dict:
            for item in value.values():
                read(item)

    class Inert:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def __call__(self, *given: Any, **named: Any) -> Any:
            if given and not isinstance(given[0], (str, int, float, torch.Tensor)) and hasattr(given[0], "__iter__"):
                return _Shown(given[0])
            return self

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            answers: dict[str, Any] = {"get_rank": 0, "get_world_size": 1, "is_initialized": False}
            return (lambda *_, **__: answers[name]) if name in answers else self

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: Any) -> None:
            pass

        def __bool__(self) -> bool:
            return False

        def __iter__(self) -> Iterator[Any]:
            return iter(())

        def _message(self, text: Any = "", *given: Any, **named: Any) -> None:
            str(text % given if given else text)

        info = warning = error = critical = exception = _message

        def debug(self, *_: Any, **__: Any) -> None:
            pass

        def _numbers(self, *given: Any, **named: Any) -> None:
            for value in (*given, *named.values()):
                read(value)

        add_scalar = add_scalars = add_histogram = log = log_metrics = log_dict = set_postfix = set_postfix_str = (
            _numbers
        )

    class _Shown(Inert):
        """A progress bar around something that is looped over."""

        def __init__(self, over: Any) -> None:
            self._over = over

        def __iter__(self) -> Iterator[Any]:
            return iter(self._over)

        def __next__(self) -> Any:
            return next(self._over)

        def __len__(self) -> int:
            return len(self._over)

        def __bool__(self) -> bool:
            return True

    return Inert()


def tensors(torch: Any, value: Any) -> list[Any]:
    """The tensors in `value`: in containers of exact builtin types, modules, optimizers, datasets and loaders."""
    found: list[Any] = []
    seen: dict[int, Any] = {}  # by identity; what was seen is kept, since the identity of what is gone is given again
    todo = [value]
    while todo and len(seen) < 100_000:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        kind = type(item)
        if issubclass(kind, torch.Tensor):
            found.append(item)
        elif kind in (list, tuple, set):
            todo.extend(reversed(list(item)))
        elif kind is dict:
            todo.extend(reversed(list(item.values())))
        elif kind is Batches:
            todo.append(item._made)
        elif kind in (Plain, Record):
            todo.append(dict(item.__dict__))
        elif issubclass(
            kind, (torch.nn.Module, torch.optim.Optimizer, torch.utils.data.Dataset, torch.utils.data.DataLoader)
        ):
            todo.append(dict(object.__getattribute__(item, "__dict__")))
        elif kind.__module__ == MODULE and hasattr(kind, "__dict__"):
            with contextlib.suppress(AttributeError):  # a class with slots
                todo.append(dict(object.__getattribute__(item, "__dict__")))
    return found


def shown(torch: Any, value: Any) -> str:
    """An argument as a person reads it."""
    kind = type(value)
    if issubclass(kind, torch.Tensor):
        place = " pinned" if value.device.type == "cpu" and torch.cuda.is_available() and value.is_pinned() else ""
        return f"{str(value.dtype).replace('torch.', '')}{list(value.shape)} on {value.device.type}{place}"
    if issubclass(kind, torch.nn.Module):
        count = sum(p.numel() for p in value.parameters())
        return f"{printable(kind.__name__, 40)}, {count} parameters"
    if kind is Batches:
        return f"{len(value)} x {shown(torch, value[0])}"
    if kind in (Plain, Record):
        return shown(torch, {k: v for k, v in value.__dict__.items() if not callable(v)})
    if kind in (tuple, list):
        return "(" + ", ".join(shown(torch, item) for item in value[:6]) + ")"
    if kind is dict:
        return (
            "{"
            + ", ".join(f"{printable(str(key), 30)}: {shown(torch, item)}" for key, item in list(value.items())[:6])
            + "}"
        )
    if kind in (int, float, bool, str) or value is None:
        return printable(
            str(value) if kind is not int else str(value) if abs(value) < 1 << 62 else "a large number", 60
        )
    return printable(kind.__name__, 40)
