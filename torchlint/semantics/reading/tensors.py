"""Methods of tensors: where their results live, their dtype and rank, and whether they wait."""

from __future__ import annotations

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.knowledge.devices import MOVES, PLACING
from torchlint.semantics import sites
from torchlint.semantics.functions import EffectKind, Role
from torchlint.semantics.names import dotted
from torchlint.semantics.reading.containers import Arguments, ContainerReader
from torchlint.semantics.reading.evidence import MOVED, PART_MOVED
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE_TENSORS,
    NONE,
    NUMBER,
    PLACES,
    UNKNOWN,
    Kind,
    Value,
)

# Methods of a tensor that keep its number of dimensions.
_SAME_RANK = frozenset(
    """abs abs_ add add_ clamp clamp_ clamp_min clamp_max clone contiguous cpu detach detach_ div div_ exp float
    half double long int bfloat16 bool log mul mul_ neg pow relu round sigmoid sqrt rsqrt square sub sub_ tanh to type
    type_as zero_ fill_ requires_grad_ pin_memory isnan isinf isfinite flip roll cumsum cumprod softmax log_softmax
    masked_fill masked_fill_ floor ceil trunc sign sin cos tril triu logical_not""".split()
) | frozenset(MOVES)


# What structures of tensors do not have: it is called on a tensor, or on an array.
_ARRAY_METHODS = frozenset("squeeze reshape transpose swapaxes flatten ravel".split())


def _is_of_arrays(method: str) -> bool:
    return method in known.TENSOR_ONLY_METHODS or method in known.REDUCTIONS or method in _ARRAY_METHODS


_TABLE_METHODS = frozenset("get_loc get_indexer get_level_values droplevel".split())  # of a table's index
_MAPPING_METHODS = frozenset("items values keys get pop update setdefault".split())


class TensorReader(ContainerReader):
    """Evaluates methods of tensors."""

    def tensor_method(self, receiver: Value, method: str, site: sites.Call) -> Value:
        """What a method of a tensor, or of a structure of tensors, does and gives."""
        if receiver.kind is Kind.TENSOR and method in ("items", "keys", "values"):  # which no tensor has
            receiver = receiver.but(kind=Kind.BATCH, conf=Confidence.LIKELY, rank=None, shape=None)
        if receiver.kind is Kind.BATCH and method in _MAPPING_METHODS:
            elem = receiver.elem or receiver.but(ident=None)
            mapping = Value(Kind.CONTAINER, qual="dict", elem=elem, items=receiver.items)
            return self.container_method(mapping, method, site) or UNKNOWN
        if receiver.kind is Kind.BATCH and method in _TABLE_METHODS:
            return NUMBER if method == "get_loc" else UNKNOWN
        if method in known.TENSOR_METHOD_RESULTS:
            return self._told_of_tensor(receiver, method, site)
        if method.startswith("has_"):
            return NUMBER  # `has_names()`, `batch.has_isolated_nodes()`: a truth value of Python
        if method in ("cpu", "type", "type_as", "pin_memory") or method in PLACING:
            return self.moved(receiver, method, site)
        if method == "numpy_":
            return receiver
        if method in known.TAKE_MASKS:
            self.note_mask(site.argument(0, "mask"))
        return self._operation_by_method(receiver, method, site)

    def _told_of_tensor(self, receiver: Value, method: str, site: sites.Call) -> Value:
        """What a method gives that gives no tensor."""
        node = site.node
        what = known.TENSOR_METHOD_RESULTS[method]
        if what == "number":
            if method == "item":
                self.host_read(receiver, node)
                return NUMBER.but(origins=(node,))
            return NUMBER
        if what == "shape":
            return NUMBER.but(qual="tensor size") if site.arguments else Value(Kind.SHAPE, qual="tensor size")
        if what == "ndarray":
            return Value(Kind.NDARRAY, device=HOST, origins=(node,), dtype=receiver.dtype)
        if what == "container":
            self.host_read(receiver, node)
            return Value(Kind.CONTAINER, qual="list", elem=NUMBER, origins=(node,))
        if method == "backward":
            self.effect(EffectKind.BACKWARD, node, receiver)
            self.effect(EffectKind.LAUNCH, node, receiver)
            self.note_root(site.receiver_node)
        return NONE

    def _operation_by_method(self, receiver: Value, method: str, site: sites.Call) -> Value:
        """An operation on a tensor, called as its method."""
        node, arguments = site.node, site.arguments
        conf = receiver.conf
        if conf is Confidence.POSSIBLE and (
            method in known.TENSOR_ONLY_METHODS
            or (method in known.REDUCTIONS and (self.is_given_to_forward(receiver) or receiver.dtype == "bool"))
        ):
            conf = Confidence.LIKELY
        sizes = method in known.TAKE_SIZES  # what is unknown there is a number, wherever it comes from
        operands = [receiver, *(a.value for a in arguments if a.value.kind is Kind.TENSOR or not sizes)]
        dtype = known.CAST_METHODS.get(method)
        if dtype is None:
            dtype = self.result_dtype(method, receiver)
        if method in known.NEW_METHODS:
            device = self.device_argument(site)
            return Value(
                Kind.TENSOR,
                Confidence.SURE if conf is Confidence.SURE else Confidence.LIKELY,
                device=device if device else receiver.device,
                graph=DETACHED,
                dtype=dtype,
                origins=(node,),
                deps=receiver.deps,
            )
        if method in ("detach", "detach_", "requires_grad_"):
            graph = (
                DETACHED
                if method != "requires_grad_" or (arguments and arguments[0].value.const is False)
                else ATTACHED
            )
            return receiver.but(
                kind=Kind.TENSOR if receiver.kind is Kind.TENSOR else Kind.BATCH,
                conf=max(conf, Confidence.LIKELY),
                graph=graph,
                origins=(node,),
                ident=receiver.ident if method.endswith("_") else None,
            )
        result = self.tensor(node, operands, conf, dtype=dtype)
        if receiver.device == DEVICE or receiver.device == HOST:
            result.device = receiver.device
        if method in known.GRAPH_FREE:
            result.graph = DETACHED
        if receiver.kind is Kind.BATCH and not _is_of_arrays(method):
            result.kind = Kind.BATCH
        result.rank = self.result_rank(method, receiver, arguments, 0)
        if receiver.kind is not Kind.BATCH or method in known.TENSOR_ONLY_METHODS:
            result.pinned = self.pinned_after(method, receiver, result)
        result.loaders = receiver.loaders if self._keeps_memory(method, receiver) else ()
        if method.endswith("_") and not method.endswith("__"):
            result.ident = receiver.ident
        self.launch(result, node)
        return self.tupled(method, arguments, result, 0)

    def note_mask(self, argument: sites.Argument | None) -> None:
        """What chooses where another value is taken is a mask: of truth values, whoever made it."""
        name = dotted(argument.node) if argument is not None else None
        value = self.frame.env.get(name) if name is not None else None
        if name is not None and value is not None and value.kind is Kind.TENSOR and value.dtype is None:
            self.frame.env[name] = value.but(dtype="bool", conf=max(value.conf, Confidence.LIKELY))

    def pinned_after(self, name: str, operand: Value, result: Value) -> bool | None:
        """Whether the result of an operation on the host lies in pinned memory: computing allocates ordinary memory."""
        if name in known.VIEWS or (name.endswith("_") and not name.endswith("__")):
            return operand.pinned
        if name in known.PERHAPS_VIEWS or name in known.CAST_METHODS:
            return None if operand.pinned else operand.pinned
        return False if result.on_host else None

    def _keeps_memory(self, method: str, receiver: Value) -> bool:
        """Whether what a method gives may lie where its receiver does, or would if it were made elsewhere."""
        if method == "contiguous":  # of rows that have become columns
            made = receiver.origin
            turned = isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) and made.func.attr.value
            return turned not in ("t", "transpose", "permute", "swapaxes", "movedim")
        return (
            receiver.kind is Kind.BATCH
            or method in known.VIEWS | known.PERHAPS_VIEWS
            or method in known.CAST_METHODS
            or method.endswith("_")
        )

    def is_given_to_forward(self, value: Value) -> bool:
        """Whether it comes from an argument of forward: what is reduced there is a tensor."""
        return bool(value.deps) and self.frame.info.role in (Role.FORWARD, Role.AUTOGRAD)

    def tupled(self, name: str, arguments: Arguments, result: Value, first: int) -> Value:
        """The tuple of tensors that some functions give."""
        if name in known.VALUES_AND_INDICES:
            by_dim = any(a.name in ("dim", "axis", "k") for a in arguments)
            positional = [a for a in arguments if a.name is None and not a.star][first:]
            if (
                name in ("topk", "sort", "kthvalue", "mode", "cummax", "cummin")
                or by_dim
                or (positional and positional[0].value.kind is Kind.NUMBER)
            ):
                indices = result.but(dtype="int64", graph=DETACHED)
                return Value(
                    Kind.CONTAINER,
                    qual="tuple",
                    elem=result,
                    items={0: result, 1: indices, "values": result, "indices": indices},
                    origins=result.origins,
                )
            return result
        if name in known.TUPLES:
            return Value(Kind.CONTAINER, qual="tuple", elem=result, origins=result.origins)
        if name in ("unique", "unique_consecutive") and any(
            a.name in ("return_inverse", "return_counts") for a in arguments
        ):
            return Value(Kind.CONTAINER, qual="tuple", elem=result, origins=result.origins)
        if name == "nonzero" and any(a.name == "as_tuple" and a.value.const is True for a in arguments):
            return Value(Kind.CONTAINER, qual="tuple", elem=result, origins=result.origins)
        return result

    def result_dtype(self, name: str, operand: Value | None) -> str | None:
        if name in known.BOOLEAN:
            return "bool"
        if name in known.INTEGER:
            return "int64"
        if operand is not None and operand.is_tensor:
            if name in ("sum", "cumsum", "prod") and operand.dtype == "bool":
                return "int64"
            if name in ("mean", "softmax", "log_softmax", "exp", "log") and operand.dtype in ("bool", "int64"):
                return None
            return operand.dtype
        return None

    def result_rank(self, name: str, operand: Value, arguments: Arguments, first: int) -> int | None:
        if name in known.REDUCTIONS:
            rest = [a for a in arguments if a.name is None][first:]
            named = {a.name for a in arguments}
            if name in ("dot", "vdot", "dist"):
                return 0
            if name == "norm" and not named & {"dim", "axis"} and len(rest) <= 1:
                return 0
            if (
                name in ("std", "var")
                and not named & {"dim", "axis"}
                and (not rest or rest[0].value.const in (True, False))
            ):
                return 0
            if not rest and not named & {"dim", "axis"} and not any(a.star for a in arguments):
                return 0
            return None
        if name in _SAME_RANK:
            return operand.rank
        if name == "unsqueeze" and operand.rank is not None:
            return operand.rank + 1
        if name in ("nonzero", "argwhere"):
            return 1 if any(a.name == "as_tuple" and a.value.const is True for a in arguments) else 2
        if name in ("unique", "unique_consecutive") and not {a.name for a in arguments} & {"dim", "return_inverse"}:
            return 1
        if name in ("bincount", "masked_select"):
            return 1
        if name in ("flatten", "ravel") and not arguments[first:]:
            return 1
        return None

    def host_read(self, value: Value, node: cst.CSTNode) -> None:
        if not value.on_host:
            self.effect(EffectKind.WAIT, node, value)

    def device_argument(self, site: sites.Call) -> int:
        """Where `device=` puts a new tensor; 0 where it is absent."""
        argument = site.argument(None, "device")
        if argument is None or argument.value.kind is Kind.NONE:
            return 0
        self.note_accelerator(argument)
        return argument.value.device or ANYWHERE

    def dtype_argument(self, site: sites.Call) -> str | None:
        """The dtype that `dtype=` asks for."""
        argument = site.argument(None, "dtype")
        return argument.value.dtype if argument is not None else None

    def note_accelerator(self, argument: sites.Argument) -> None:
        """Code that names the device it works on, and not as the host, is written for accelerators."""
        if (argument.name == "device" or argument.value.kind is Kind.DEVICE) and argument.value.device != HOST:
            self.model.accelerated = True

    def moved(self, receiver: Value, method: str, site: sites.Call) -> Value:
        """`.to`, `.cuda`, `.cpu` of a tensor or of something unknown."""
        node = site.node
        device = receiver.device or ANYWHERE
        dtype = receiver.dtype
        conf = receiver.conf
        pinned: bool | None = None
        deps = receiver.deps
        target = None
        blocking = not any(a.name == "non_blocking" and a.value.const is not False for a in site.arguments)
        if method == "cpu":
            device, deps = HOST, deps & ~PLACES
        elif method in MOVES:
            device, deps = DEVICE, deps & ~PLACES
            self.model.accelerated = True
        elif method == "pin_memory":
            device, pinned = HOST, True  # whatever it was before: pinned memory is the host's
        elif method == "type":
            for argument in site.arguments:
                dtype = argument.value.dtype
                named = [choice.qual or "" for choice in argument.value.choices or (argument.value,)]
                if any(".cuda." in name for name in named):  # `torch.cuda.FloatTensor if cuda else torch.FloatTensor`
                    device = DEVICE if len(named) == 1 else device | DEVICE
                elif all(name in known.TENSOR_CLASSES for name in named):  # those are the host's
                    device, deps = HOST, deps & ~PLACES
        elif method == "type_as":
            other = site.arguments[0].value if site.arguments else UNKNOWN
            device, dtype = other.device or ANYWHERE, other.dtype
            deps = deps & ~PLACES | other.deps & PLACES
        else:
            target = self.target_of(site)
            if target is not None:
                device, deps = target[0], deps & ~PLACES | target[1] & PLACES
            for argument in site.arguments:
                if argument.value.kind is Kind.DTYPE or argument.value.kind is Kind.TENSOR and argument.name is None:
                    dtype = argument.value.dtype
        placed = method in MOVES or (target is not None and not self.is_place_of_tensor(site))
        if placed and device != HOST:
            moved = dotted(site.receiver_node) if site.receiver_node is not None else None
            if moved is not None:
                self.note_evidence(moved, MOVED)
            elif type(site.receiver_node) is cst.Subscript and self.entry_name(site.receiver_node) is not None:
                self.note_evidence(dotted(site.receiver_node.value) or "", PART_MOVED)
        if device == HOST and not receiver.on_host and method != "pin_memory" and blocking:
            self.host_read(receiver, node)
        if device == HOST and method != "pin_memory":
            if receiver.on_host:
                pinned = receiver.pinned if dtype == receiver.dtype or not receiver.pinned else None
            elif receiver.device == DEVICE or not blocking:
                pinned = not blocking  # what `.to("cpu", non_blocking=True)` makes is pinned
        graph = receiver.graph
        kind = receiver.kind
        guessed = kind is Kind.UNKNOWN or (kind is Kind.TENSOR and conf is Confidence.POSSIBLE)
        if guessed and not blocking and method in PLACING:
            # No module takes `non_blocking` alone, and no structure of tensors takes a type beside it.
            casts = any(argument.name == "dtype" or argument.value.kind is Kind.DTYPE for argument in site.arguments)
            kind, conf = Kind.TENSOR if casts else Kind.BATCH, Confidence.LIKELY
        return receiver.but(
            kind=kind,
            device=device,
            dtype=dtype,
            conf=conf,
            pinned=pinned,
            graph=graph,
            origins=(node,),
            ident=None,
            deps=deps,
            items={k: v.but(device=device) for k, v in receiver.items.items()} if receiver.items else None,
        )

    def is_place_of_tensor(self, site: sites.Call) -> bool:
        """Whether `.to(...)` moves to where another tensor is."""
        nodes = [argument.node for argument in site.arguments if argument.name in (None, "device")]
        places = [node.value for node in nodes if isinstance(node, cst.Attribute) and node.attr.value == "device"]
        return any(self.eval_quietly(place).kind in MAYBE_TENSORS for place in places)

    def target_of(self, site: sites.Call) -> tuple[int, int] | None:
        """Where `.to(...)` moves, and on which parameters that depends; None where its arguments are of other sorts."""
        target: tuple[int, int] | None = None
        for index, argument in enumerate(site.arguments):
            value = argument.value
            if argument.name == "device" or (argument.name is None and index == 0):
                self.note_accelerator(argument)
                if argument.star:
                    return ANYWHERE, 0
                if value.kind in (Kind.DTYPE, Kind.NONE):
                    continue
                if value.kind is Kind.NUMBER:
                    target = DEVICE, 0
                    continue
                name = dotted(argument.node) or ""
                if value.kind is Kind.UNKNOWN and argument.name is None and "dtype" in name:
                    continue
                if value.kind is Kind.UNKNOWN and "device" in name:
                    self.model.accelerated = True  # a caller chooses the device
                target = value.device or ANYWHERE, value.deps
        return target
