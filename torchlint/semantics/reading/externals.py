"""Calls of functions and classes of other packages, torch before all."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.knowledge.arrays import GENERATORS
from torchlint.semantics import sites
from torchlint.semantics.functions import EffectKind, FunctionInfo, Role
from torchlint.semantics.reading import arrays, einops
from torchlint.semantics.reading.builtins import BUILTIN_CALLS, zipped
from torchlint.semantics.reading.methods import MethodReader
from torchlint.semantics.reading.modules import all_sure
from torchlint.semantics.reading.torch_calls import TORCH_CALLS
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE,
    NONE,
    NUMBER,
    PLACES,
    UNKNOWN,
    Kind,
    Value,
    join,
    join_optional,
)

_NAMED_TUPLE = "collections.namedtuple.made"  # the class that `collections.namedtuple` makes

_FUNCTIONAL_CALLS = frozenset(
    "torch.func.functional_call torch.nn.utils.stateless.functional_call torch._functional_call".split()
)

_TENSOR_NAMESPACES = frozenset(
    """torch torch.nn.functional torch.linalg torch.fft torch.special torch.nn.utils torch.nn.utils.rnn torch.sparse
    torch.Tensor torch.autograd torch.ops torch.nn.attention""".split()
)


class ExternalReader(MethodReader):
    """Evaluates calls of what is not read."""

    def call_external(self, qual: str, site: sites.Call) -> Value:
        """A function or class of another package, or a builtin."""
        top, _, rest = qual.partition(".")
        if not rest:
            return self._call_builtin(qual, site)
        if qual in _FUNCTIONAL_CALLS and len(site.arguments) > 2:
            return self.functional_call(site)
        if top == "torch":
            return self.call_torch(qual, rest, site)
        if qual in known.CLOCKS:
            self.effect(EffectKind.CLOCK, site.node)
            return Value(Kind.CLOCK, origins=(site.node,), qual=qual)
        if top == "numpy":
            return _numpy(qual, site)
        if qual in known.LOADER_WRAPPERS:
            return self.wrapped_iterable(site)
        if top in ("einops", "einx"):
            given = self.rearranged(rest, site)
            if given is not None:
                return given
        given = self._call_library(qual, site)
        if given is not None:
            return given
        if (
            qual in known.DATASETS
            or qual.startswith(known.DATASET_PACKAGES)
            or (site.function.kind is Kind.CLASS and qual.rsplit(".", 1)[-1].endswith("Dataset"))
        ):
            return Value(Kind.DATASET, qual=qual, origins=(site.node,))
        if qual in known.LOADERS or (
            site.function.kind is Kind.CLASS and qual.rsplit(".", 1)[-1] in ("DataLoader", "NeighborLoader")
        ):
            return self.loader(qual, site)
        if top in known.HOST_LIBRARIES:
            return Value(Kind.OBJECT, device=HOST, qual=qual, origins=(site.node,))
        if top in ("accelerate", "lightning", "lightning_fabric", "deepspeed"):
            self.model.accelerated = True
        if site.function.kind is Kind.CLASS:
            return self.instance_of_external(qual).but(origins=(site.node,))
        return self._call_unread(site)

    def _call_builtin(self, name: str, site: sites.Call) -> Value:
        builtin = BUILTIN_CALLS.get(name)
        if builtin is not None:
            return builtin(self, site)
        return UNKNOWN if name in known.BUILTINS else self.call_unknown(site)

    def _call_library(self, qual: str, site: sites.Call) -> Value | None:
        """A function or class of Python's library whose result is known; None of others."""
        top, _, rest = qual.partition(".")
        if top == "math":
            for argument in site.arguments:
                if argument.value.kind is Kind.TENSOR:
                    self.host_read(argument.value, site.node)
            return NUMBER
        if qual == "functools.partial" and site.arguments:
            return _partial(site)
        if qual == "functools.reduce" and len(site.arguments) > 1:
            return self._folded(site)
        if qual in known.ARRAY_READERS:
            return Value(Kind.NDARRAY, device=HOST, origins=(site.node,))
        if qual in known.ARRAYS_AND_RATES:
            array = Value(Kind.NDARRAY, device=HOST, origins=(site.node,))
            return Value(Kind.CONTAINER, qual="tuple", items={0: array, 1: NUMBER}, origins=(site.node,))
        if qual in ("random.sample", "random.choices", "random.choice") and site.arguments:
            drawn = self.element(site.arguments[0].value)
            many = Value(Kind.CONTAINER, qual="list", elem=drawn, origins=(site.node,))
            return drawn if qual == "random.choice" else many
        if top == "copy" or qual == "weakref.proxy":
            return site.arguments[0].value.but(ident=None) if site.arguments else UNKNOWN
        if qual in ("collections.defaultdict", "collections.OrderedDict", "collections.deque", "collections.Counter"):
            return _collection(qual, site)
        if qual == "collections.namedtuple":
            return Value(Kind.CLASS, qual=_NAMED_TUPLE, const=_field_names(site))
        if qual == _NAMED_TUPLE:
            return self._named_tuple(site)
        if qual == "itertools.product" or qual == "itertools.zip_longest":
            return zipped(self, site)
        if qual == "logging.getLogger" or qual.endswith(("get_logger", "getLogger")):
            return Value(Kind.OBJECT, qual="logging.Logger")
        if top == "logging" and rest in known.LOG_METHODS:
            for argument in site.arguments:
                self.formatted(site.node, argument.node, argument.value, "logging")
            return NONE
        return None

    def _named_tuple(self, site: sites.Call) -> Value:
        """What a class that `collections.namedtuple` made holds, by place and by name."""
        fields = site.function.const if isinstance(site.function.const, tuple) else ()
        held: dict[Any, Value] = {}
        index = 0
        for argument in site.arguments:
            if argument.star == "*":  # `Losses(*losses)`: each field is one of them
                held.update(dict.fromkeys(fields[index:], self.element(argument.value)))
                index = len(fields)
            elif argument.name is not None:
                held[argument.name] = argument.value
            elif not argument.star:
                held[index] = argument.value
                if index < len(fields):
                    held[fields[index]] = argument.value
                index += 1
        elem = functools.reduce(join, held.values()) if held else None
        return Value(Kind.CONTAINER, qual="tuple", elem=elem, items=held or None, origins=(site.node,))

    def _call_unread(self, site: sites.Call) -> Value:
        """A function that is not read: of tensors it makes tensors, more likely than not."""
        tensors = [a.value for a in site.arguments if a.value.is_tensor]
        if not tensors:
            return Value(Kind.UNKNOWN, device=ANYWHERE, graph=MAYBE, origins=(site.node,))
        self.effect(EffectKind.LAUNCH, site.node)
        base = self.tensor(site.node, tensors)
        graph = DETACHED if self.grad_is_off() else base.graph | MAYBE
        return Value(
            Kind.BATCH, Confidence.POSSIBLE, device=base.device, graph=graph, origins=(site.node,), deps=base.deps
        )

    def functional_call(self, site: sites.Call) -> Value:
        """`functional_call(module, parameters, inputs)`: the module is called."""
        module, inputs = site.arguments[0].value, site.arguments[2]
        given = [inputs.value]
        if inputs.value.kind is Kind.CONTAINER:
            given = [*(inputs.value.items or {}).values()] or [self.element(inputs.value)]
        arguments = [sites.Argument(None, "", inputs.node, value) for value in given]
        return self.call_module(module, replace(site, function=module, arguments=arguments))

    def rearranged(self, name: str, site: sites.Call) -> Value | None:
        """What einops or einx make of tensors; None where their operands are not known to be such."""
        operand = einops.operand_of(site)
        if name in ("rearrange", "repeat") and operand is not None:
            return einops.rearranged(site, operand)
        if name == "pack" and operand is not None and operand.is_tensor:
            packed = operand.but(kind=Kind.TENSOR, rank=None, shape=None, origins=(site.node,), ident=None, qual=None)
            shapes = Value(Kind.CONTAINER, qual="list", elem=Value(Kind.SHAPE, qual="tensor size"))
            return Value(Kind.CONTAINER, qual="tuple", items={0: packed, 1: shapes}, origins=(site.node,))
        if name == "unpack" and operand is not None and operand.is_tensor:
            part = operand.but(kind=Kind.TENSOR, rank=None, shape=None, origins=(site.node,), ident=None, qual=None)
            return Value(Kind.CONTAINER, qual="list", elem=part, origins=(site.node,))
        tensors = [a.value for a in site.arguments if a.value.kind is Kind.TENSOR]
        return self.launch(self.tensor(site.node, tensors), site.node) if tensors and name != "asnumpy" else None

    def call_torch(self, qual: str, rest: str, site: sites.Call) -> Value:
        """A function or class under `torch.`."""
        node = site.node
        last = qual.rsplit(".", 1)[-1]
        special = TORCH_CALLS.get(qual)
        if special is not None:
            return special(self, site)
        if qual == known.FULL_WAIT or last == "empty_cache":  # memory is freed where nothing uses it any more
            self.effect(EffectKind.WAIT, node)
            return NONE
        if last.startswith(("is_", "has_")):
            return NUMBER
        if last in ("_single", "_pair", "_triple", "_quadruple"):  # a size in each dimension
            return Value(Kind.CONTAINER, qual="tuple", elem=NUMBER, origins=(node,))
        if site.function.kind is Kind.CLASS and last[:1].isupper():
            return self.construct_torch(qual, last, site)
        plain = rest == last
        if plain and last in known.FACTORIES:
            return self.factory(last, site)
        if plain and last in known.LIKE_FACTORIES:
            return self.like_factory(site)
        if plain and last in known.NOT_TENSOR:
            what = known.NOT_TENSOR[last]
            if last in ("allclose", "equal", "is_nonzero") and site.arguments:
                self.host_read(site.arguments[0].value, node)
            return {
                "number": NUMBER,
                "none": NONE,
                "shape": Value(Kind.SHAPE),
                "dtype": Value(Kind.DTYPE),
            }.get(what, Value(Kind.OBJECT, qual=qual, origins=(node,)))
        prefix = qual.rsplit(".", 1)[0]
        if qual == "torch.distributions.kl_divergence":
            return self.launch(
                self.tensor(node, [_parameters(a.value) for a in site.arguments], Confidence.LIKELY), node
            )
        if prefix in _TENSOR_NAMESPACES:
            return self.call_operation(prefix, last, site)
        return self._call_beside_operations(prefix, last, site)

    def _call_beside_operations(self, prefix: str, last: str, site: sites.Call) -> Value:
        """A function of a module of torch that holds other things than operations on tensors."""
        node = site.node
        if prefix == "torch.distributed" and last in ("all_reduce", "all_gather", "broadcast", "reduce", "barrier"):
            # A barrier holds the host until the device has come to it.
            self.effect(EffectKind.WAIT if last == "barrier" else EffectKind.LAUNCH, node)
            return NONE
        if prefix == "torch.distributed":
            return NUMBER if last in ("get_rank", "get_world_size", "is_initialized", "is_available") else UNKNOWN
        if prefix == "torch.utils.checkpoint" or prefix == "torch.func":
            return self.call_unknown_torch(site)
        if prefix == "torch.nn.init":
            return site.arguments[0].value if site.arguments else UNKNOWN
        if prefix.startswith(("torch.backends", "torch.cuda")):
            return NUMBER
        if prefix.startswith("torch.optim"):
            return UNKNOWN  # what implements optimizers is told about tensors, and gives none
        if any(argument.value.is_tensor for argument in site.arguments):
            return self.call_unknown_torch(site)
        return Value(Kind.OBJECT, qual=f"{prefix}.{last}", origins=(node,))

    def call_operation(self, prefix: str, last: str, site: sites.Call) -> Value:
        """An operation on tensors, by the module that holds it and its own name."""
        node = site.node
        operands: list[Value] = []
        for argument in site.arguments:
            value = argument.value
            if value.kind is Kind.CONTAINER and value.elem is not None and value.elem.is_tensor:
                value = value.elem
            operands.append(value)
        first = operands[0] if operands else UNKNOWN
        result = self.tensor(
            node,
            operands,
            Confidence.SURE if all_sure(operands) else Confidence.LIKELY,
            dtype=self.result_dtype(last, first),
        )
        device = self.device_argument(site)
        if device:
            result.device = device
        if last in known.GRAPH_FREE:
            result.graph = DETACHED
        result.pinned = self.pinned_after(last, first, result)
        if last in known.LOSSES and prefix == "torch.nn.functional":
            reduction = site.argument(None, "reduction")
            if reduction is None or reduction.value.const != "none":
                result.rank = 0
        elif first.is_tensor or first.kind is Kind.UNKNOWN:
            result.rank = self.result_rank(last, first, site.arguments, 1)
        self.launch(result, node)
        if (
            last in ("split", "chunk", "unbind", "tensor_split", "meshgrid", "broadcast_tensors")
            or last in known.TUPLES
            or last in known.VALUES_AND_INDICES
        ):
            if last in ("max", "min") and len(site.arguments) > 1 and operands[1].is_tensor:
                return result
            return self.tupled(last, site.arguments, result, 1)
        if last in ("unique", "unique_consecutive", "nonzero"):
            return self.tupled(last, site.arguments, result, 1)
        return result

    def like_factory(self, site: sites.Call) -> Value:
        """`torch.zeros_like(x)` and its kin."""
        like = site.arguments[0].value if site.arguments else UNKNOWN
        return Value(
            Kind.TENSOR,
            Confidence.SURE if like.kind is Kind.TENSOR else Confidence.LIKELY,
            device=self.device_argument(site) or like.device or ANYWHERE,
            graph=DETACHED,
            dtype=self.dtype_argument(site) or like.dtype,
            rank=like.rank,
            shape=like.shape,
            origins=(site.node,),
            deps=like.deps,
        )

    def factory(self, name: str, site: sites.Call) -> Value:
        """`torch.zeros(...)` and its kin."""
        data = site.arguments[0].value if site.arguments else UNKNOWN
        copies = name in ("tensor", "as_tensor", "asarray", "scalar_tensor")
        wanted = site.argument(None, "requires_grad")
        graph = ATTACHED if wanted is not None and wanted.value.const is True else DETACHED
        if name == "as_tensor" and data.kind is Kind.TENSOR:
            graph = data.graph
        device = self.device_argument(site) or (self._device_of_copy(name, data) if copies else 0)
        device = device or (ANYWHERE if _passes_options_on(site) else self.default_device())
        place = site.argument(None, "device")
        source = place.value if place is not None else data if copies and data.kind is Kind.TENSOR else UNKNOWN
        rank, shape = _copied_shape(data) if copies else _made_shape(name, site)
        out = site.argument(None, "out")
        if out is not None:
            return out.value
        result = Value(
            Kind.TENSOR,
            Confidence.SURE,
            device=device,
            graph=graph,
            dtype=self.dtype_argument(site) or _default_dtype(name, data, site, copies=copies),
            rank=rank,
            shape=shape,
            pinned=_pinned(name, data, device, site),
            origins=(site.node,),
            deps=source.deps & PLACES,
        )
        return self.launch(result, site.node)

    def _device_of_copy(self, name: str, data: Value) -> int:
        """Where `torch.tensor(data)` and its kin put their tensor without `device=`."""
        if data.kind is Kind.TENSOR and (name == "tensor" or data.device):
            return data.device
        if data.kind is Kind.UNKNOWN and name != "tensor" and data.device & DEVICE:
            return data.device
        return self.default_device()

    def default_device(self) -> int:
        """Where a factory without `device=` puts its tensor."""
        for link in self.context.chain():
            for flag in link.flags:
                if flag.startswith("device:"):
                    return int(flag[7:])
        return self.model.default_device

    def construct_torch(self, qual: str, last: str, site: sites.Call) -> Value:
        """An instance of a class under `torch.`."""
        node = site.node
        if qual in known.LOADERS:
            return self.loader(qual, site)
        if qual == "torch.nn.Parameter" or qual == "torch.nn.Buffer":
            return _parameter(site, is_buffer=last == "Buffer")
        if qual in known.REPLICAS and site.arguments:
            inner = site.arguments[0].value
            return inner.but(
                kind=Kind.MODULE,
                conf=max(inner.conf, Confidence.LIKELY),
                device=DEVICE | inner.device,
                qual=qual if inner.cls is None else inner.qual,
                origins=(node,),
            )
        if qual.startswith("torch.nn.") and last not in known.NN_NOT_MODULES:
            return self._construct_module(qual, last, site)
        if qual == "torch.optim.swa_utils.AveragedModel":
            inner = site.arguments[0].value if site.arguments else UNKNOWN
            return Value(
                Kind.MODULE, device=self.device_argument(site) or inner.device or ANYWHERE, qual=qual, origins=(node,)
            )
        if qual.startswith("torch.optim."):
            if "lr_scheduler" in qual or qual.endswith("SWALR"):
                return Value(Kind.OBJECT, qual=qual)
            return Value(Kind.OPTIMIZER, Confidence.SURE, qual=qual, origins=(node,))
        if qual in known.BATCH_SAMPLERS:
            positions = Value(Kind.CONTAINER, qual="list", elem=NUMBER.but(qual="index"))
            return Value(Kind.CONTAINER, qual="iterator", elem=positions, origins=(node,))
        if qual in ("torch.utils.data.Subset", "torch.utils.data.dataset.Subset") and site.arguments:
            return site.arguments[0].value.but(ident=None)
        made = self.instance_of_external(qual)
        if qual.startswith("torch.distributions."):
            drawn = self.tensor(node, [_parameters(a.value) for a in site.arguments])
            return Value(Kind.OBJECT, device=drawn.device, graph=drawn.graph, qual=qual, origins=(node,))
        if made.kind is Kind.UNKNOWN:
            made = Value(Kind.OBJECT, qual=qual)
        if made.kind is Kind.TENSOR:  # torch.Tensor(n), torch.LongTensor([...]): on the host
            return Value(
                Kind.TENSOR,
                Confidence.SURE,
                device=DEVICE if ".cuda." in qual else HOST,
                graph=DETACHED,
                origins=(node,),
            )
        if made.kind is Kind.SHAPE:
            return made
        return made.but(conf=Confidence.SURE, origins=(node,))

    def _folded(self, site: sites.Call) -> Value:
        """`functools.reduce(f, values)`: what `f` makes of two of the values, which is mostly one of their sort."""
        function = site.arguments[0].value
        one = self.element(site.arguments[1].value)
        before = site.arguments[2].value if len(site.arguments) > 2 else one
        if function.fn is None:
            return one.but(ident=None, origins=(site.node,)) if before.kind is one.kind else UNKNOWN
        values: dict[int, Value] = {}
        for parameter, given in zip(function.fn.parameters, (before, one), strict=False):
            self.pass_value(parameter, site.node, given, values)
        self.called(function.fn, site.node)
        returns = function.fn.returns
        return UNKNOWN if returns is None else self.instantiate(function.fn, returns, values)

    def _construct_module(self, qual: str, last: str, site: sites.Call) -> Value:
        """A module of `torch.nn`, with those that it is given to hold."""
        device = self.device_argument(site) or HOST
        elem: Value | None = None
        items: dict[Any, Value] | None = None
        if last in known.NN_CONTAINERS:
            parts = [
                self.element(a.value) if a.star or a.value.kind is Kind.CONTAINER else a.value for a in site.arguments
            ]
            if last == "ModuleDict" and site.arguments and site.arguments[0].value.kind is Kind.CONTAINER:
                parts = [self.element(site.arguments[0].value, values=True)]
            if last == "Sequential" and not site.opaque_arguments:
                items = {index: a.value for index, a in enumerate(site.arguments)}
            for part in parts:
                if part.kind is Kind.MODULE:
                    elem = join_optional(elem, part)
        return Value(
            Kind.MODULE,
            Confidence.SURE,
            device=device,
            graph=MAYBE,
            qual=qual,
            elem=elem,
            items=items,
            origins=(site.node,),
        )

    def loader(self, qual: str, site: sites.Call) -> Value:
        """A DataLoader: its options, as far as they are written here."""
        options: dict[Any, Value] = {}
        for position, name in enumerate(
            ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory")
        ):
            argument = site.argument(position, name)
            if argument is not None:
                options[name] = argument.value
        for argument in site.arguments:
            if argument.name is not None:
                options[argument.name] = argument.value
            elif argument.star == "**":
                options["**"] = argument.value
                if argument.value.items:
                    options.update({k: v for k, v in argument.value.items.items() if k not in options})
        for name in ("collate_fn", "worker_init_fn"):
            collate = options.get(name)
            called = self._called_by_loader(collate) if collate is not None else None
            if called is not None:
                called.role = Role.WORKER
                if name == "collate_fn":
                    self._pass_samples(called, options.get("dataset"), site)
        pin = options.get("pin_memory")
        pinned: bool | None = None
        if pin is not None:
            pinned = pin.const if isinstance(pin.const, bool) else None
        elif "**" not in options and not site.opaque_arguments:
            pinned = False
        batch = Value(
            Kind.BATCH,
            Confidence.LIKELY,
            device=HOST,
            graph=DETACHED,
            pinned=pinned,
            qual="batch",
            loaders=(site.node,),
        )
        return Value(
            Kind.LOADER,
            Confidence.SURE,
            device=HOST,
            pinned=pinned,
            items=options,
            elem=batch,
            qual=qual,
            origins=(site.node,),
        )

    def _called_by_loader(self, given: Value) -> FunctionInfo | None:
        """The function of the program that a loader calls: itself, or what an instance of a class does when called."""
        if given.fn is None and given.cls is not None and given.kind is Kind.OBJECT:
            return given.cls.find_method("__call__")
        return given.fn

    def _pass_samples(self, collate: FunctionInfo, dataset: Value | None, site: sites.Call) -> None:
        """A collate function is given a list of what the dataset gives."""
        sample = dataset.cls.find_method("__getitem__") if dataset is not None and dataset.cls is not None else None
        own = collate.parameters[1 if collate.method in ("instance", "class") else 0 :]
        if sample is not None and sample.returns is not None and own and not own[0].star:
            samples = Value(Kind.CONTAINER, qual="list", elem=sample.returns.but(ident=None, deps=0))
            self.pass_value(own[0], site.node, samples, {})

    def wrapped_iterable(self, site: sites.Call) -> Value:
        """`tqdm(loader)`, `itertools.islice(loader, n)`: the same elements."""
        if not site.arguments:
            return Value(Kind.OBJECT, device=HOST, qual="tqdm.tqdm")
        inner = site.arguments[0].value
        if inner.kind is Kind.LOADER or inner.kind is Kind.CONTAINER or inner.kind is Kind.PARAMETERS:
            return inner
        if inner.kind is Kind.UNKNOWN or inner.is_tensor:
            return inner.but(ident=None)
        return UNKNOWN


def _parameters(value: Value) -> Value:
    """A distribution as the tensors that it holds."""
    held = value.kind is Kind.OBJECT and (value.qual or "").startswith("torch.distributions.")
    return value.but(kind=Kind.UNKNOWN) if held else value


def _partial(site: sites.Call) -> Value:
    """`functools.partial(f, a, k=b)`: the function, with what it is given beforehand."""
    first = site.arguments[0].value
    if first.fn is not None:
        beforehand: dict[Any, Value] = dict(first.items or {})
        for argument in site.arguments[1:]:
            if not argument.star:
                place = sum(type(key) is int for key in beforehand)
                beforehand[place if argument.name is None else argument.name] = argument.value
        return first.but(items=beforehand)
    if first.kind is Kind.FUNCTION:
        return first.but(items={a.name: a.value for a in site.arguments[1:] if a.name is not None})
    return first


def _collection(qual: str, site: sites.Call) -> Value:
    """An empty container of `collections`; of a defaultdict what it makes is known."""
    made = site.arguments[0].value.qual if qual.endswith("defaultdict") and site.arguments else None
    elem = None
    if made in ("list", "set", "dict"):
        elem = Value(Kind.CONTAINER, qual=made)
    elif made in ("int", "float"):
        elem = NUMBER
    return Value(Kind.CONTAINER, qual="list" if qual.endswith("deque") else "dict", elem=elem, origins=(site.node,))


def _copied_shape(data: Value) -> tuple[int | None, tuple[int | None, ...] | None]:
    """Rank and shape of a tensor of Python data, as far as they are known."""
    if data.kind is Kind.NUMBER:
        return 0, ()
    if data.kind is Kind.CONTAINER and data.items and all(v.kind is Kind.NUMBER for v in data.items.values()):
        return None, (len(data.items),)
    return None, None


def _passes_options_on(site: sites.Call) -> bool:
    """Whether options come with `**kwargs`, of which one may be the device."""
    tables = (argument.value.items for argument in site.arguments if argument.star == "**")
    return any(items is None or "device" in items for items in tables)


def _made_shape(name: str, site: sites.Call) -> tuple[int | None, tuple[int | None, ...] | None]:
    """Rank and shape of what a factory fills, as far as they are known."""
    if name in ("arange", "linspace", "logspace", "range", "randperm"):
        return 1, None
    if name == "eye":
        return 2, None
    if name == "randint":
        size = next((a.value for a in site.arguments if a.name == "size" or a.value.kind is Kind.CONTAINER), None)
        if size is None or size.kind is not Kind.CONTAINER or size.items is None:
            return None, None
        return None, _lengths(size.items.values())
    sizes = [a.value for a in site.arguments if a.name is None]
    if len(sizes) == 1 and sizes[0].kind is Kind.CONTAINER and sizes[0].items is not None:
        return None, _lengths(sizes[0].items.values())
    if name in ("full", "normal"):
        return None, None
    if sizes and all(v.kind is Kind.NUMBER for v in sizes):
        return None, _lengths(sizes)
    return len(sizes) if len(sizes) > 1 and not any(a.star for a in site.arguments) else None, None


def _default_dtype(name: str, data: Value, site: sites.Call, *, copies: bool) -> str | None:
    """The dtype of what a factory makes, where none is asked for and another one than the default follows."""
    if copies and data.kind is Kind.NDARRAY:
        return data.dtype if site.argument(1, "dtype") is None else None
    if copies and data.kind is Kind.NUMBER:
        return {"int": "int64", "float": "float32", "bool": "bool"}.get(data.dtype or "")
    if name in ("arange", "randperm"):
        return "int64" if all(a.value.dtype in (None, "int") for a in site.arguments) else None
    return "int64" if name == "randint" else None


def _pinned(name: str, data: Value, device: int, site: sites.Call) -> bool | None:
    """Whether what a factory makes lies in pinned memory; None where that is not known."""
    shares = name in ("as_tensor", "asarray")
    pin = site.argument(None, "pin_memory")
    if pin is not None:
        return pin.value.const if isinstance(pin.value.const, bool) else None
    if shares and data.is_tensor:
        return data.pinned
    sure = device == HOST and not site.opaque_arguments and not (shares and data.kind is Kind.UNKNOWN)
    return False if sure else None


def _lengths(sizes: Iterable[Value]) -> tuple[int | None, ...]:
    """A shape; None for a length that is not known."""
    return tuple(size.const if isinstance(size.const, int) else None for size in sizes)


def _field_names(site: sites.Call) -> tuple[str, ...]:
    """The names that `namedtuple("Row", "x y")` or `namedtuple("Row", ["x", "y"])` gives, where they are literals."""
    given = site.argument(1, "field_names")
    if given is None:
        return ()
    if isinstance(given.value.const, str):
        return tuple(given.value.const.replace(",", " ").split())
    members = [item.const for item in (given.value.items or {}).values()]
    return tuple(name for name in members if isinstance(name, str)) if all(isinstance(m, str) for m in members) else ()


def _numpy(qual: str, site: sites.Call) -> Value:
    """A function or class of NumPy."""
    if qual == "numpy.ndindex":
        return Value(Kind.CONTAINER, qual="iterator", elem=Value(Kind.CONTAINER, qual="tuple", elem=NUMBER))
    if qual in GENERATORS:
        return Value(Kind.OBJECT, device=HOST, qual=qual, origins=(site.node,))
    return arrays.array(site, arrays.function_dtype(qual, site), qual)


def _parameter(site: sites.Call, *, is_buffer: bool) -> Value:
    """`torch.nn.Parameter(data)`, and what a module keeps beside its parameters."""
    data = site.arguments[0].value if site.arguments else UNKNOWN
    wanted = site.argument(1, "requires_grad")
    frozen = is_buffer or (wanted is not None and wanted.value.const is False)
    return Value(
        Kind.TENSOR,
        Confidence.SURE,
        device=data.device or HOST,
        graph=DETACHED if frozen else ATTACHED,
        dtype=data.dtype,
        rank=data.rank,
        shape=data.shape,
        qual="torch.nn.Parameter",
        origins=(site.node,),
    )
