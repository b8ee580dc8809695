"""Context managers: what they mean for the code in them, and what they run."""

from __future__ import annotations

import libcst as cst

from torchlint.knowledge.names import AUTOCASTS
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within
from torchlint.semantics.reading.externals import ExternalReader
from torchlint.semantics.values import (
    ANYWHERE,
    DEVICE,
    UNKNOWN,
    Kind,
    Value,
)

_STACKS = ("contextlib.ExitStack", "contextlib.AsyncExitStack")


class ManagerReader(ExternalReader):
    """Reads what `with` enters and leaves."""

    def manager_flags(self, node: cst.BaseExpression, manager: Value) -> frozenset[str]:
        """What entering a context manager means for the code in it."""
        call = node if isinstance(node, cst.Call) else None
        qual = manager.qual or ""
        arguments = {}
        first: Value | None = None
        if call is not None:
            function = self.eval_quietly(call.func)
            own = function.fn is not None  # what it returns is entered, whatever it is passed
            qual = qual if own else function.qual or qual
            for argument in () if own else call.args:
                value = self.eval_quietly(argument.value)
                if argument.keyword is not None:
                    arguments[argument.keyword.value] = value
                elif first is None:
                    first = value
        flags: set[str] = set()
        if manager.fn is not None and qual == "context manager":
            return manager.fn.held or frozenset()  # what it enters itself
        if qual in ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode"):
            mode = arguments.get("mode", first)
            if manager.optional:
                flags.add("maybe_no_grad")
            elif mode is None or mode.const is True:
                flags.add("no_grad")
                if "inference_mode" in qual:
                    flags.add("inference_mode")
            elif mode.const is not False:
                flags.add("maybe_no_grad")
        elif qual in ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled"):
            if first is not None and first.const is False:
                flags.add("no_grad")
            elif first is not None and first.const is True:
                flags.add("enable_grad")
            else:
                flags.add("maybe_no_grad")
        elif qual in ("torch.enable_grad", "torch.autograd.enable_grad"):
            flags.add("enable_grad")
        elif qual in AUTOCASTS:
            flags.add("autocast")
            dtype = arguments.get("dtype")
            made = dtype.dtype if dtype is not None else manager.dtype
            if made:
                flags.add(f"autocast:{made}")
            if first is not None and first.device & DEVICE or ".cuda." in qual:
                self.model.accelerated = True
        elif qual.endswith(".no_sync") or (
            call is not None and isinstance(call.func, cst.Attribute) and call.func.attr.value == "no_sync"
        ):
            flags.add("no_sync")
        elif manager.optional:
            pass  # entered in some runs only
        elif qual in ("torch.profiler.profile", "torch.autograd.profiler.profile", "torch.autograd.profiler.emit_nvtx"):
            flags.add("profiler")
        elif qual in ("torch.autograd.detect_anomaly", "torch.autograd.set_detect_anomaly"):
            flags.add("anomaly")
        elif qual in ("torch.cuda.stream", "torch.Stream"):
            flags.add("stream")
        elif qual == "torch.cuda.graph":
            flags.add("graph capture")
        elif qual == "torch.device" and first is not None:
            flags.add(f"device:{first.device or ANYWHERE}")
        return frozenset(flags)

    def stacked_flags(self, node: cst.With, item: cst.WithItem, manager: Value) -> frozenset[str]:
        """What an exit stack enters in the body of its `with`: what runs in it after that runs under it."""
        bound = item.asname.name if item.asname is not None else item.item
        stack = dotted(bound) if manager.qual in _STACKS and isinstance(bound, cst.BaseExpression) else None
        flags: set[str] = set()
        for part in within([node.body]) if stack is not None else ():
            if type(part) is cst.Call and dotted(part.func) == f"{stack}.enter_context" and part.args:
                flags |= self.manager_flags(part.args[0].value, self.eval_quietly(part.args[0].value))
                if "no_grad" in flags and not _stands_in(part, node.body):
                    flags = flags - {"no_grad", "inference_mode"} | {"maybe_no_grad"}
        return frozenset(flags & {"no_grad", "inference_mode", "maybe_no_grad", "no_sync"})

    def entered(self, node: cst.BaseExpression, manager: Value) -> Value:
        """What `with manager as name` binds."""
        if manager.cls is not None:
            enter = manager.cls.find_method("__enter__")
            if enter is not None:
                self.called(enter, node)
                result = enter.returns
                return manager if result is None else self.instantiate(enter, result, {0: manager})
        if manager.fn is not None and manager.qual == "context manager":
            self.called(manager.fn, node, "enter")
            returns = manager.fn.returns
            return returns.elem if returns is not None and returns.elem is not None else UNKNOWN
        if manager.kind is Kind.UNKNOWN:
            return UNKNOWN
        return manager

    def left(self, manager: Value, statement: cst.CSTNode) -> None:
        """Leaving a context manager runs its `__exit__`."""
        if manager.cls is not None:
            leave = manager.cls.find_method("__exit__")
            if leave is not None:
                self.called(leave, statement)
        elif manager.fn is not None and manager.qual == "context manager":
            self.called(manager.fn, statement, "exit")


def _stands_in(call: cst.Call, body: cst.BaseSuite) -> bool:
    """Whether a call is a statement of a block itself: it runs whenever the block does."""
    return any(
        type(small) is cst.Expr and small.value is call
        for statement in body.body
        for small in (statement.body if type(statement) is cst.SimpleStatementLine else (statement,))
    )
