"""Whether code is the plain side of a dispatch, or runs kernel by kernel at all."""

from __future__ import annotations

from typing import Final

from torchlint.semantics import surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import ClassInfo, FunctionInfo, Role
from torchlint.semantics.model import Model

_BRANCHES: Final = (Scope.BRANCH, Scope.HANDLER)
_KERNELS: Final = frozenset("cuda fused hip kernel npu triton xpu".split())
_FAR: Final = 8  # steps from function to caller or method


def eager(model: Model, context: Context) -> bool:
    """Whether the code is not compiled, not a test's reference, and not part of a hand-written autograd Function."""
    if surroundings.in_test(context) or surroundings.in_worker(context) or model.compiled(context) is not None:
        return False
    owner = context.owner
    if owner is None:
        return True
    if owner.role in (Role.AUTOGRAD, Role.OPTIMIZER_STEP) or _is_chosen(owner) or _is_variant(owner, frozenset()):
        return False
    if any(decorator.qual == "torch.jit.script" for _, decorator in owner.decorators):
        return False  # its fuser makes one kernel of what goes element by element
    if _has_kernel(owner, model):
        return False
    if owner.decorators and any(f is not owner and f.qualname == owner.qualname for f in model.functions.values()):
        return False  # one of several of that name, among which decorators choose
    return not owner.callers or any(not model.is_role(caller.context, Role.AUTOGRAD) for caller in owner.callers)


def _is_chosen(function: FunctionInfo) -> bool:
    """Whether the function, or its class, is defined in a branch: in place of one that is not there."""
    defined = function.cls.context if function.cls is not None else function.context
    return defined is not None and any(link.scope in _BRANCHES for link in defined.chain())


def _is_variant(function: FunctionInfo, seen: frozenset[FunctionInfo]) -> bool:
    """Whether a base class that is not read calls it, or another method of the same parameters in its place."""
    cls = function.cls
    if cls is None or function.role is Role.FORWARD or function in seen:
        return False
    if function.callers:
        owners = [caller.context.owner for caller in function.callers]
        return all(owner is not None and _is_variant(owner, seen | {function}) for owner in owners)
    names = [parameter.name for parameter in function.parameters]
    return cls.find_method("forward") is None and any(
        other is not function and [parameter.name for parameter in other.parameters] == names
        for other in cls.methods.values()
    )


def _has_kernel(function: FunctionInfo, model: Model) -> bool:
    """Whether a function beside it does the same on a device: `forward_cuda` or `forward` beside `forward_native`."""
    stem, _, last = function.name.rpartition("_")
    beside = function.cls.methods.values() if function.cls is not None else model.functions.values()
    plain = function.cls.methods.get(stem) if function.cls is not None else None
    if plain is not None and _is_in_place_of(plain, function):
        return True
    return (
        bool(stem)
        and last not in _KERNELS
        and any(
            other.cls is function.cls and other.name.rpartition("_")[::2] == (stem, kernel)
            for other in beside
            for kernel in _KERNELS
        )
    )


def _is_in_place_of(method: FunctionInfo, other: FunctionInfo) -> bool:
    """Whether a method takes what another one takes, and does without it."""
    return [p.name for p in method.parameters] == [p.name for p in other.parameters] and not any(
        effect.callee is other for effect in method.effects
    )


def has_fused_branch(model: Model, context: Context, names: frozenset[str]) -> bool:
    """Whether the function around, its class or family, its callers or what it calls also call a fused function."""
    functions: set[FunctionInfo] = set()
    owner = model.function_of(context)
    todo = [(owner, 0)]
    todo += [(effect.callee, _FAR) for effect in owner.effects if effect.callee is not None]
    while todo:
        function, far = todo.pop()
        if function in functions or far > _FAR or function is model.root:
            continue
        functions.add(function)
        if function.cls is not None:
            todo += [(method, far + 1) for cls in _family(model, function.cls) for method in cls.methods.values()]
        if function.parent is not None:
            todo.append((function.parent, far + 1))
        todo += [(caller.context.owner, far + 1) for caller in function.callers if caller.context.owner is not None]
    return any(
        (site.callee or site.method or "").rpartition(".")[2] in names
        and site.context.owner in functions
        and site.target is not owner  # `gelu(x)` calls what writes it out
        and not surroundings.on_host_alone(site.context)  # the host, or another backend: not in place of this
        for site in model.sites.calls
    )


def _family(model: Model, cls: ClassInfo) -> list[ClassInfo]:
    """The class, its ancestors and its descendants in this file."""
    return [
        other
        for other in model.classes.values()
        if other is cls or other.is_a(cls.qualname) or cls.is_a(other.qualname)
    ]
