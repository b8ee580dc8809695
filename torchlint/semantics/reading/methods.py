"""Methods of all other values: optimizers, scalers, events, loggers, accelerators, and the unknown."""

from __future__ import annotations

import functools

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.knowledge.arrays import GENERATORS
from torchlint.knowledge.devices import PLACING
from torchlint.semantics import sites
from torchlint.semantics.factors import factors
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.names import dotted, holder
from torchlint.semantics.reading import arrays
from torchlint.semantics.reading.elements import PARAMETER
from torchlint.semantics.reading.modules import ModuleReader
from torchlint.semantics.values import (
    ANYWHERE,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE,
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Kind,
    Value,
    join,
)

_STRONG_TENSOR_METHODS = known.TENSOR_ONLY_METHODS - frozenset(
    "half type chunk exp log copy_ gather scatter pow flatten float double long abs square add_ view numel".split()
)


_WEAK_TENSOR_METHODS = frozenset(
    "view flatten float long double half abs square exp log pow chunk reshape transpose t copy_ gather scatter".split()
)


# Methods that do what their name says, whatever has them, and what they give.
_EFFECTS = {
    "zero_grad": (EffectKind.ZERO_GRAD, NONE),
    "synchronize": (EffectKind.WAIT, UNKNOWN),
    "query": (EffectKind.WAIT, UNKNOWN),
    "wait_for_everyone": (EffectKind.WAIT, UNKNOWN),
    "elapsed_time": (EffectKind.ELAPSED, NUMBER),
    "record": (EffectKind.RECORD, UNKNOWN),
}

# Methods of Accelerate's and Fabric's that give back what they are given, ready for the device.
_PREPARES = frozenset(
    """prepare prepare_model prepare_data_loader prepare_optimizer setup setup_dataloaders setup_module
    setup_optimizers""".split()
)


class MethodReader(ModuleReader):
    """Evaluates method calls."""

    def call_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        """What a method does and gives, by the kind of what it is called on; None where that tells nothing."""
        kind = receiver.kind
        if method in _PREPARES and (
            kind is Kind.UNKNOWN or (kind is Kind.TENSOR and receiver.conf is Confidence.POSSIBLE)
        ):
            if any(argument.value.kind in (Kind.LOADER, Kind.OPTIMIZER) for argument in site.arguments):
                return self.accelerator_method(method, site)  # nothing else is given these to prepare
        if kind is Kind.TENSOR or kind is Kind.BATCH:
            return self.tensor_method(receiver, method, site)
        if kind is Kind.MODULE:
            return self.module_method(receiver, method, site)
        if kind is Kind.CONTAINER or kind is Kind.PARAMETERS:
            return self.container_method(receiver, method, site)
        if kind is Kind.STRING:
            return self.string_method(receiver, method, site)
        if kind is Kind.NDARRAY:
            if method == "item":
                return NUMBER
            if method == "tolist":
                return Value(Kind.CONTAINER, qual="list", elem=NUMBER)
            return arrays.array(site, arrays.method_dtype(method, receiver, site), f"numpy.{method}")
        if kind is Kind.SHAPE:
            return (
                NUMBER.but(qual="tensor size")
                if method in ("numel", "count", "index")
                else Value(Kind.CONTAINER, qual="list", elem=NUMBER.but(qual="tensor size"))
            )
        if kind is Kind.OPTIMIZER and receiver.cls is None:
            return self.optimizer_method(method, site)
        if kind is Kind.OPTIMIZER and method in ("step", "zero_grad"):
            return self.optimizer_method(method, site)
        if kind is Kind.SCALER:
            return self.scaler_method(method, site)
        if kind is Kind.EVENT:
            return self.event_method(receiver, method, site)
        if kind is Kind.STREAM:
            return self.stream_method(receiver, method, site)
        if kind is Kind.UNKNOWN:
            return self.unknown_method(receiver, method, site)
        if kind is Kind.OBJECT and receiver.qual:
            return self.object_method(receiver, method, site)
        if kind in (Kind.NUMBER, Kind.CLOCK):
            return NUMBER
        return None

    def string_method(self, receiver: Value, method: str, site: sites.Call) -> Value:
        if method in ("format", "format_map"):
            for argument in site.arguments:
                self.formatted(site.node, argument.node, argument.value, "format")
            return STRING.but(device=receiver.device)  # "cuda:{}".format(rank)
        if method in ("split", "rsplit", "splitlines"):
            return Value(Kind.CONTAINER, elem=STRING, qual="list")
        return NUMBER if method in ("startswith", "endswith", "find", "count", "isdigit") else STRING

    def event_method(self, receiver: Value, method: str, site: sites.Call) -> Value:
        if method in ("synchronize", "query"):
            self.effect(EffectKind.WAIT, site.node, receiver)
        elif method == "record":
            self.effect(EffectKind.RECORD, site.node, receiver)
        elif method == "elapsed_time":
            self.effect(EffectKind.ELAPSED, site.node, receiver)
        return NUMBER

    def stream_method(self, receiver: Value, method: str, site: sites.Call) -> Value:
        if method == "synchronize":
            self.effect(EffectKind.WAIT, site.node, receiver)
        if method == "record_event":
            self.effect(EffectKind.RECORD, site.node, receiver)
            return Value(Kind.EVENT, qual="torch.cuda.Event", origins=(site.node,))
        return NONE

    def optimizer_method(self, method: str, site: sites.Call) -> Value:
        if method == "step":
            self.effect(EffectKind.OPTIMIZER_STEP, site.node, site.receiver)
            self.effect(EffectKind.LAUNCH, site.node, site.receiver)
            self._run_closure(site)
        elif method == "zero_grad":
            self.effect(EffectKind.ZERO_GRAD, site.node, site.receiver)
        return UNKNOWN if method == "state_dict" else NONE

    def _run_closure(self, site: sites.Call) -> bool:
        """Whether an optimizer's step is given a closure, which it runs to evaluate the loss once more."""
        closure = site.argument(0, "closure")
        if closure is None or closure.value.fn is None:
            return False
        if closure.value.bound is not None and (site.receiver is None or site.receiver.kind is not Kind.OPTIMIZER):
            return False  # a `step` of something else may be given a method for another end
        self.called(closure.value.fn, site.node)
        return True

    def scaler_method(self, method: str, site: sites.Call) -> Value:
        if method == "scale":
            value = site.arguments[0].value if site.arguments else UNKNOWN
            return value.but(origins=(site.node,), ident=None)
        if method == "step":
            self.effect(EffectKind.OPTIMIZER_STEP, site.node, site.receiver)
            self.effect(EffectKind.LAUNCH, site.node, site.receiver)
        return NUMBER if method == "get_scale" else NONE

    def object_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        qual = receiver.qual or ""
        if receiver.cls is not None:
            return None
        if receiver.fn is not None:
            return None
        if qual == "logging.Logger" or (method in known.LOG_METHODS and "ogger" in qual):
            for argument in site.arguments:
                self.formatted(site.node, argument.node, argument.value, "logging")
            return NONE
        if qual.startswith(("accelerate.", "lightning.fabric", "lightning_fabric", "lightning.Fabric")):
            return self.accelerator_method(method, site)
        if qual.startswith("torch.Generator"):
            return receiver
        if qual in GENERATORS:
            function = f"numpy.random.{method}"
            return arrays.array(site, arrays.function_dtype(function, site), function)
        top = qual.split(".", 1)[0]
        if top in known.HOST_LIBRARIES or top == "numpy":
            if qual.startswith("tqdm.") and method in (
                "set_description",
                "set_postfix",
                "set_postfix_str",
                "write",
                "set_description_str",
            ):
                for argument in site.arguments:
                    self.formatted(site.node, argument.node, argument.value, "tqdm")
                return NONE
            return Value(
                Kind.NDARRAY if top == "numpy" else Kind.OBJECT,
                device=HOST,
                qual=f"{qual}.{method}",
                origins=(site.node,),
            )
        if qual.startswith("torch.") and "lr_scheduler" in qual:
            return NONE
        tensors = [a.value for a in site.arguments if a.value.is_tensor]
        if qual.startswith("torch.distributions."):
            result = self.tensor(site.node, [receiver.but(kind=Kind.UNKNOWN), *tensors], Confidence.LIKELY)
            if method == "sample":
                result.graph = DETACHED
            return self.launch(result, site.node)
        if tensors:
            self.effect(EffectKind.LAUNCH, site.node, receiver)
            base = self.tensor(site.node, tensors)
            return Value(Kind.BATCH, Confidence.POSSIBLE, device=base.device, graph=base.graph, origins=(site.node,))
        return UNKNOWN

    def accelerator_method(self, method: str, site: sites.Call) -> Value:
        """Accelerate's and Fabric's: they move, and run backward."""
        self.model.accelerated = True
        if method in _PREPARES:
            values = [self.prepared(argument.value) for argument in site.arguments]
            if len(values) == 1:
                return values[0]
            return Value(
                Kind.CONTAINER,
                qual="tuple",
                items=dict(enumerate(values)),
                elem=functools.reduce(join, values) if values else UNKNOWN,
            )
        if method == "backward":
            if site.arguments:
                self.effect(EffectKind.BACKWARD, site.node, site.arguments[0].value)
                self.effect(EffectKind.LAUNCH, site.node, site.arguments[0].value)
                self.note_root(site.arguments[0].node)
            return NONE
        if method in ("gather", "gather_for_metrics", "reduce", "pad_across_processes", "all_gather", "all_reduce"):
            value = site.arguments[0].value if site.arguments else UNKNOWN
            if value.kind is Kind.TENSOR and value.conf is Confidence.POSSIBLE:
                value = value.but(conf=Confidence.LIKELY)  # nothing else can be gathered and has what tensors have
            return value.but(origins=(site.node,), ident=None)
        if method == "print":
            for argument in site.arguments:
                self.formatted(site.node, argument.node, argument.value, "print")
            return NONE
        if method == "clip_grad_norm_":
            return Value(
                Kind.TENSOR, Confidence.LIKELY, device=DEVICE | ANYWHERE, graph=DETACHED, rank=0, origins=(site.node,)
            )
        return UNKNOWN

    def prepared(self, value: Value) -> Value:
        if value.kind is Kind.LOADER:
            element = self.element(value)
            return value.but(device=DEVICE | ANYWHERE, elem=element.but(device=DEVICE, pinned=None), qual="prepared")
        if value.kind in (Kind.MODULE, Kind.UNKNOWN):
            return value.but(device=DEVICE | ANYWHERE)
        return value

    def unknown_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        """A method of something unknown; some names tell what it must be."""
        node = site.node
        if method == "load_state_dict":
            return UNKNOWN  # it copies, and computes nothing
        if method == "backward" or (method == "manual_backward" and site.arguments):
            return self._backward_of_unknown(receiver, method, site)
        if method in ("cpu", "pin_memory") or method in PLACING:
            return self.moved(receiver, method, site)
        if method in ("append", "extend", "add", "insert", "update", "put", "push", "appendleft"):
            self._put_into_unknown(receiver, method, site)
            if method in ("append", "extend", "insert", "appendleft"):
                return NONE
        if method in known.LOG_METHODS and self._is_logger(method, site):
            for argument in site.arguments:
                self.formatted(node, argument.node, argument.value, "logging")
            return NONE
        if method in ("set_postfix", "set_description", "set_postfix_str"):
            for argument in site.arguments:
                self.formatted(node, argument.node, argument.value, "tqdm")
            return NONE
        if method in ("parameters", "named_parameters"):
            return self.module_method(receiver.but(kind=Kind.MODULE), method, site)
        if method == "state_dict":  # of a module, most often
            held = PARAMETER.but(conf=Confidence.POSSIBLE, graph=DETACHED, device=receiver.device or ANYWHERE)
            return Value(Kind.CONTAINER, Confidence.POSSIBLE, qual="dict", elem=held)
        if method == "eval" and not site.arguments:
            return self.refine(receiver, {method})
        if method in ("train", "eval", "requires_grad_"):
            return receiver
        if method == "step" and ((not site.arguments and self._looks_like_optimizer(site)) or self._run_closure(site)):
            self.effect(EffectKind.OPTIMIZER_STEP, node, receiver)
            return UNKNOWN
        if method in _EFFECTS:
            kind, given = _EFFECTS[method]
            self.effect(kind, node, receiver)
            return given
        if method == "item" or method == "tolist":
            self.host_read(receiver, node)
            number = NUMBER.but(origins=(node,))
            return number if method == "item" else Value(Kind.CONTAINER, qual="list", elem=number, origins=(node,))
        if method == "numpy":
            return Value(Kind.NDARRAY, Confidence.LIKELY, device=HOST, origins=(node,))
        if method == "astype" and self.model.uses_numpy:
            return arrays.array(site, arrays.method_dtype(method, receiver, site), f"numpy.{method}").but(
                conf=Confidence.LIKELY
            )
        if method == "numel":
            return NUMBER
        if method == "size":
            return NUMBER.but(qual="tensor size") if site.arguments else Value(Kind.SHAPE, qual="tensor size")
        if method in ("items", "values", "keys") and not site.arguments:
            return _view_of_unknown(receiver, method)
        return self._perhaps_of_tensor(receiver, method, site)

    def _backward_of_unknown(self, receiver: Value, method: str, site: sites.Call) -> Value:
        """`loss.backward()`; the root is the argument of an engine, an accelerator, a scaler."""
        root = receiver
        root_node: cst.BaseExpression | None = site.receiver_node
        if site.arguments and (
            method == "manual_backward" or site.arguments[0].value.is_tensor or self._is_manager(receiver, site)
        ):
            root, root_node = site.arguments[0].value, site.arguments[0].node
        self.effect(EffectKind.BACKWARD, site.node, root)
        if method == "backward":
            self.effect(EffectKind.LAUNCH, site.node, root)
        self.note_root(root_node)
        return NONE

    def _put_into_unknown(self, receiver: Value, method: str, site: sites.Call) -> None:
        """`rows.append(x)`, where nothing is known of the rows."""
        for argument in site.arguments[-1:]:
            self.note_stored_parameter(argument.value)
            if site.receiver_node is not None:
                self.note_flow(site.receiver_node, factors(argument.node))
            if self.recording:
                name = holder(site.receiver_node)
                self.sites.stores.append(
                    sites.Store(
                        site.node, method, receiver, name, argument.node, argument.value, self.context, self.statement
                    )
                )

    def _perhaps_of_tensor(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        """A method that tensors have: of tensors alone, or of others too."""
        strong = method in _STRONG_TENSOR_METHODS
        if not strong and method not in known.REDUCTIONS and method not in _WEAK_TENSOR_METHODS:
            return None
        base = receiver.but(
            kind=Kind.TENSOR,
            conf=Confidence.POSSIBLE,
            device=receiver.device or ANYWHERE,
            graph=receiver.graph or MAYBE,
        )
        result = self.tensor_method(base, method, site)
        if strong:
            return result
        result = result.but()
        if result.kind in (Kind.TENSOR, Kind.BATCH) and self.model.uses_numpy and not receiver.device & DEVICE:
            result.conf = Confidence.POSSIBLE
        return result

    def _is_manager(self, receiver: Value, site: sites.Call) -> bool:
        """`accelerator.backward(loss)`, `fabric.backward(loss)`: the argument is the root, not the receiver."""
        value = site.arguments[0].value
        return value.kind is Kind.UNKNOWN and site.arguments[0].name is None and receiver.origins == ()

    def _is_logger(self, method: str, site: sites.Call) -> bool:
        """Whether it is logging's kind of logger by its name; its `log` takes a level first, and no text."""
        if method == "log" and site.arguments and site.arguments[0].value.kind is Kind.STRING:
            return False
        name = dotted(site.receiver_node) if site.receiver_node is not None else None
        return name is not None and "log" in name.rsplit(".", 1)[-1].lower()

    def _looks_like_optimizer(self, site: sites.Call) -> bool:
        name = dotted(site.receiver_node) if site.receiver_node is not None else None
        if name is None:
            return False
        duck = self.frame.info.duck.get(name, set())
        if "zero_grad" in duck:
            return True
        last = name.rsplit(".", 1)[-1].lower()
        return last.startswith("opt") or last.endswith(("optimizer", "optim", "_opt"))


def _view_of_unknown(receiver: Value, method: str) -> Value:
    """`table.items()`, `.values()`, `.keys()`, where nothing is known of the table: its members live where it does."""
    told = receiver.device != ANYWHERE or receiver.deps
    value = receiver.elem or (receiver.but(origins=(), ident=None, items=None) if told else UNKNOWN)
    if method == "values":
        return Value(Kind.CONTAINER, qual="values", elem=value)
    if method == "keys":
        return Value(Kind.CONTAINER, qual="list", elem=STRING)
    pair = Value(Kind.CONTAINER, qual="tuple", items={0: STRING, 1: value}, elem=value)
    return Value(Kind.CONTAINER, qual="items", elem=pair)
