"""TL111: a library call on the hot path waits for the device inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.findings import Confidence
from torchlint.knowledge import waits as table
from torchlint.knowledge.names import DISTRIBUTIONS
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeFix, Report, Rule
from torchlint.rules.sync import _measured as measured
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._waits import Wait, as_operand, at_rate, waits
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.model import Model
from torchlint.semantics.rounds import iterates
from torchlint.semantics.values import Kind, Value

_FAMILIES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        " ".join(subject for subject in table.waiting() if subject.startswith("torch.linalg."))
        + " torch.cholesky torch.inverse torch.lobpcg torch.matrix_exp torch.pca_lowrank torch.pinverse torch.svd "
        "torch.svd_lowrank",
        "learn whether it succeeded",
        "keep it off the hot path, or use the `_ex` form where there is one, which reports failure in a tensor",
    ),
    (
        "torch.allclose torch.equal torch.is_nonzero torch.testing.assert_close",
        "give a Python truth value",
        "compare on the device and keep the answer there",
    ),
    ("torch.nn.functional.ctc_loss", "read the lengths", "keep the lengths on the host"),
    (
        "torch.nn.functional.gaussian_nll_loss",
        "see that no variance is negative",
        "write the loss out: `0.5 * (var.log() + (x - mean).square() / var)`",
    ),
    (
        "torch.cov torch.corrcoef",
        "see how many degrees of freedom are left",
        "centre the rows and multiply: `x @ x.T / (n - 1)`",
    ),
    ("torch.histc", "find the range of the values", "pass `min` and `max` as numbers"),
    ("torch.unravel_index", "check its arguments", "divide and take remainders on the device"),
    ("torch.combinations", "count the combinations", "index with `torch.triu_indices` of the size"),
    (
        "torch.istft",
        "see that the window covers every sample",
        "keep it off the hot path: losses on the spectrum need none",
    ),
    ("torch.normal", "see that no deviation is negative", "scale the noise: `mean + std * torch.randn_like(mean)`"),
    (
        ".to_sparse .to_sparse_csr torch.sparse_coo_tensor torch.sparse.sum",
        "count the elements or find the size",
        "build the sparse tensor once, with its size, and keep it",
    ),
    (
        "torch.nested.to_padded_tensor torch.nn.utils.rnn.unpad_sequence",
        "read the lengths",
        "work on the padded tensor with a mask",
    ),
    (
        "torch.nn.utils.rnn.pack_padded_sequence",
        "copy the order of the lengths to the device",
        "sort the batch where it is made, so that `enforce_sorted` may stay on",
    ),
    (
        "torch.nn.utils.clip_grad_norm_ torch.nn.utils.get_total_norm",
        "see whether the norm is finite",
        "drop `error_if_nonfinite`, or look at the norm now and then",
    ),
    (
        "torch.amp.GradScaler.get_scale torch.amp.GradScaler.state_dict",
        "read the scale",
        "read it now and then, or keep the tensor `scaler._scale` out of the step",
    ),
    (
        "torch.optim.lr_scheduler.ReduceLROnPlateau.step",
        "compare the metric with the best one",
        "step it once an epoch, with a number that was read for the log anyway",
    ),
    (
        "torch.optim.swa_utils.AveragedModel.update_parameters",
        "see whether it is the first update",
        "average with `torch._foreach_lerp_`, or update every so many steps",
    ),
    (
        "torch.optim.Adam.step torch.optim.SGD.step",
        "read the learning rate",
        "pass `fused=True`, or the learning rate as a number",
    ),
)
_FAMILY: Final = {subject: (why, advice) for subjects, why, advice in _FAMILIES for subject in subjects.split()}
_MODULES: Final = {
    "torch.nn.CTCLoss": "torch.nn.functional.ctc_loss",
    "torch.nn.GaussianNLLLoss": "torch.nn.functional.gaussian_nll_loss",
}
_CLIP: Final = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.get_total_norm")
_SCALER: Final = "torch.amp.GradScaler."
_LENGTHS: Final = "torch.nn.functional.ctc_loss"
# These are waited for by their owners, and there is no other call to make: worth a word where somebody looks closely.
_INHERENT: Final = frozenset(("torch.optim.swa_utils.AveragedModel.update_parameters",))
_VALIDATION: Final = (
    "validate its arguments: it checks their values",
    "pass `validate_args=False` where the values are known to be valid",
)
# Distributions that were not measured check their arguments by the same code as these.
_TYPICAL: Final = {"": "torch.distributions.Laplace", ".log_prob": "torch.distributions.Normal.log_prob"}


class SyncLibraryCall(Rule):
    code = "TL111"
    name = "sync-library-call"
    bottleneck = "sync"
    summary = "A library call on the hot path waits for the device inside"
    fix_availability = FixAvailability.SOMETIMES
    calls = (
        *_FAMILY,
        *_MODULES,
        *(f"torch.Tensor{name.removeprefix('torch')}" for name in _FAMILY if name.count(".") == 1),
        ".step",
        ".update_parameters",
        *(
            f"torch.distributions.{name}{asked}"
            for name in sorted(DISTRIBUTIONS)
            for asked in ("", ".log_prob", ".cdf")
        ),
        "torch.save",
        *table.SIZED,
        *table.SUPPRESSING,
    )

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        callee = site.callee or ""
        fix: NodeFix | None = None
        if callee.startswith("torch.distributions."):
            why, advice = _VALIDATION
            wait = _validates(site, model)
            fix = _repairs.without_validation(_maker(site, model) or site)
        elif callee == "torch.save":
            why, advice = "copy every tensor to the host and write the file", "save every so many steps"
            wait = _saves(site, model)
        elif callee in table.SIZED:
            known = table.SIZED[callee]
            why, advice = "find the size of its result", f"pass `{known.name}`, which the batch knows"
            wait = _sizes(site, known, model)
        elif callee in table.SUPPRESSING:
            why, advice = (
                "learn how many boxes stay",
                "run it once for all images and classes, with offsets between them",
            )
            boxes = site.argument(0, "boxes")
            wait = waits(model, as_operand(boxes.value), site.context, by_method=True) if boxes is not None else None
            wait = wait and Wait(Confidence.POSSIBLE, wait.hot)  # there is no other call to make
        else:
            name = _subject(site)
            if name is None:
                return
            why, advice = _FAMILY[name]
            wait = _waits(site, name, model)
            if name in _CLIP:
                fix = _repairs.without_norm_check(site)
        if wait is not None:
            yield Report(
                site.node,
                f"{quote(site.node)} waits for the device {wait.often} to {why}",
                advice,
                wait.confidence,
                wait.related,
                fix,
            )


def _subject(site: sites.Call) -> str | None:
    """What is called, where it is in one of the families."""
    name = measured.name_of(site)
    if name is None or (name.startswith(".") and not (site.callee or "").startswith("torch.Tensor.")):
        return None  # things that are unknown have methods of these names as well
    if name in _MODULES:
        return _MODULES[name] if site.result.kind is not Kind.MODULE else None
    return next((subject for subject in (name, f"torch{name}") if subject in _FAMILY), None)


def _waits(site: sites.Call, name: str, model: Model) -> Wait | None:
    """Whether a call was measured to wait in the form in which it is written."""
    if name.startswith("torch.optim.") and site.receiver is not None and site.receiver.kind is Kind.OPTIMIZER:
        made = model.call(site.receiver.origin) if site.receiver.origin is not None else None
        rate = made.argument(1, "lr") if made is not None else None
        if made is None or rate is None or not measured.waits_as_called(made, name):
            return None
        return waits(model, rate.value, site.context) if rate.value.kind is Kind.TENSOR else None
    called = name if name in _MODULES.values() else measured.name_of(site) or name
    if not measured.waits_as_called(site, called):
        return None
    if name in _CLIP or name.startswith(_SCALER):
        return at_rate(model, site.context, Confidence.LIKELY, evident=name in _CLIP)
    if name in _INHERENT:
        return at_rate(model, site.context, Confidence.POSSIBLE, evident=False)
    operand = _operand(site, name)
    wait = waits(model, as_operand(operand), site.context, by_method=True) if operand is not None else None
    if wait is not None and name == _LENGTHS and not _lengths_on_device(site):
        return Wait(Confidence.POSSIBLE, wait.hot)  # it waits all the same, and nothing can be done about it
    return wait


def _operand(site: sites.Call, name: str) -> Value | None:
    """The tensor that the call must see."""
    if (site.callee or "").startswith("torch.Tensor."):
        return site.receiver
    if name == "torch.normal":
        deviation = site.argument(1, "std")
        return deviation.value if deviation is not None else None
    argument = site.argument(0, "input") or site.argument(None, "A") or site.argument(None, "metrics")
    if argument is None:
        return None
    if argument.value.kind is Kind.CONTAINER and argument.value.elem is not None:
        return argument.value.elem
    return argument.value


def _lengths_on_device(site: sites.Call) -> bool:
    lengths = (site.argument(2, "input_lengths"), site.argument(3, "target_lengths"))
    return any(given is not None and given.value.kind is Kind.TENSOR and not given.value.on_host for given in lengths)


def _saves(site: sites.Call, model: Model) -> Wait | None:
    saved = site.argument(0, "obj")
    if saved is not None and saved.value.is_tensor and saved.value.on_host:
        return None
    hot = model.hot(site.context)
    if hot is not None and hot.phases:
        return None
    # Few programs save on every step: a condition around it says when they do.
    often = Confidence.POSSIBLE if _is_conditional(site.context) else Confidence.LIKELY
    return at_rate(model, site.context, often, evident=False)


def _sizes(site: sites.Call, known: table.Sized, model: Model) -> Wait | None:
    index, size = site.argument(known.rows), site.argument(known.size, known.name)
    given = (size, site.argument(None, "out"))  # what is filled has its size
    told = any(argument is not None and argument.value.kind is not Kind.NONE for argument in given)
    if told or site.opaque_arguments or (index is not None and index.value.kind is Kind.NONE):
        return None
    return waits(model, as_operand(index.value), site.context, by_method=True) if index is not None else None


def _validates(site: sites.Call, model: Model) -> Wait | None:
    """Making a distribution, or asking one for a density, with its arguments validated."""
    made = _maker(site, model)
    if made is None or made.opaque_arguments or _validation_is_off(model):
        return None
    asked = made.argument(None, "validate_args")
    if asked is not None and asked.value.const is not True:
        return None
    callee = site.callee or ""
    part = f".{site.method}" if made is not site else ""
    subject = callee if table.verdict(callee) is not None else _TYPICAL.get(part, "")
    validated = {"validate_args": "absent" if asked is None else "true"}
    if table.verdict(subject) == "never" or table.waits(subject, validated) is False:
        return None
    given = [argument.value for argument in site.arguments]
    operand = next((value for value in given if value.is_tensor), given[0] if given else None)
    return waits(model, as_operand(operand), site.context, by_method=True) if operand is not None else None


def _maker(site: sites.Call, model: Model) -> sites.Call | None:
    """The call that made the distribution which a call makes or asks."""
    if site.receiver is None or site.receiver.kind is not Kind.OBJECT:
        return site
    return model.call(site.receiver.origin) if site.receiver.origin is not None else None


def _is_conditional(context: Context) -> bool:
    """Whether a condition stands between the code and the loop or function that is the step, or in every caller."""

    def stands(link: Context) -> bool | None:
        if link.scope is Scope.BRANCH:
            return True
        return False if link.scope is Scope.LOOP and iterates(link) is Iterates.STEPS else None

    return context.on_every_way(stands)


def _validation_is_off(model: Model) -> bool:
    return any((call.callee or "").endswith(".set_default_validate_args") for call in model.sites.calls)
