"""TL111: a library call on the hot path waits for the device inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeFix, Report, Rule
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._waits import Wait, as_operand, at_rate, waits
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.hotness import iterates
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind, Value

_FACTORISE: Final = """cholesky eig eigh eigvals eigvalsh inv lstsq lu_factor matrix_rank pinv solve svd svdvals
tensorinv tensorsolve""".split()
_FACTORISE_OLD: Final = "cholesky inverse pinverse svd svd_lowrank".split()
_DISTRIBUTIONS: Final = frozenset(
    """Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential FisherSnedecor Gamma
    Geometric Gumbel HalfCauchy HalfNormal Independent InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal
    LogisticNormal LowRankMultivariateNormal MixtureSameFamily Multinomial MultivariateNormal NegativeBinomial Normal
    OneHotCategorical OneHotCategoricalStraightThrough Pareto Poisson RelaxedBernoulli RelaxedOneHotCategorical StudentT
    TransformedDistribution Uniform VonMises Weibull Wishart""".split()
)
_VALIDATION: Final = "validate its arguments: it checks their values"

# The call: why it waits, and what to write instead.
_CALLS: Final[dict[str, tuple[str, str]]] = {
    **dict.fromkeys(
        (
            *(f"torch.linalg.{name}" for name in _FACTORISE),
            *(f"{owner}.{name}" for owner in ("torch", "torch.Tensor") for name in _FACTORISE_OLD),
        ),
        (
            "learn whether it succeeded",
            "keep it off the hot path, or use the `_ex` form, which reports failure in a tensor",
        ),
    ),
    **dict.fromkeys(
        (f"{owner}.{name}" for owner in ("torch", "torch.Tensor") for name in ("allclose", "equal")),
        ("give a Python truth value", "compare on the device and keep the answer there"),
    ),
    "torch.nn.functional.ctc_loss": ("read the lengths", "keep the lengths on the host"),
    "torch.nn.CTCLoss": ("read the lengths", "keep the lengths on the host"),
}
_CLIP: Final = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.get_total_norm")


class SyncLibraryCall(Rule):
    code = "TL111"
    name = "sync-library-call"
    bottleneck = "sync"
    summary = "A library call on the hot path waits for the device inside"
    fix_availability = FixAvailability.SOMETIMES
    calls = (
        *_CALLS,
        *_CLIP,
        *(f"torch.distributions.{name}" for name in sorted(_DISTRIBUTIONS)),
        *(f"torch.distributions.{name}.log_prob" for name in sorted(_DISTRIBUTIONS)),
        "torch.amp.GradScaler.get_scale",
        "torch.save",
    )

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        callee = site.callee or ""
        why, advice = _CALLS.get(callee, ("", ""))
        wait: Wait | None = None
        fix: NodeFix | None = None
        if why:
            wait = _of(_operand(site, callee), site, model)
        elif callee in _CLIP:
            asked = site.argument(3, "error_if_nonfinite")
            if asked is not None and asked.value.const is True:
                why, advice = (
                    "see whether the norm is finite",
                    "drop `error_if_nonfinite`, or look at the norm now and then",
                )
                wait = at_rate(model, site.context, Confidence.LIKELY)
                fix = _repairs.without_norm_check(site)
        elif callee.startswith("torch.distributions."):
            why, advice = _VALIDATION, "pass `validate_args=False` where the values are known to be valid"
            wait = self._validates(site, model)
            fix = _repairs.without_validation(model, _maker(site, model) or site)
        elif callee == "torch.save":
            saved = site.argument(0, "obj")
            if saved is not None and saved.value.is_tensor and saved.value.on_host:
                return
            why, advice = "copy every tensor to the host and write the file", "save every so many steps"
            # Few programs save on every step: a condition around it says when they do.
            often = Confidence.POSSIBLE if _is_conditional(site.context) else Confidence.LIKELY
            wait = at_rate(model, site.context, often, evident=False)
        else:
            why, advice = "read the scale", "read it now and then, or keep the tensor `scaler._scale` out of the step"
            wait = at_rate(model, site.context, Confidence.LIKELY, evident=False)
        if wait is not None:
            yield Report(
                site.node,
                f"{quote(site.node)} waits for the device {wait.often} to {why}",
                advice,
                wait.confidence,
                wait.related,
                fix,
            )

    def _validates(self, site: sites.Call, model: Model) -> Wait | None:
        """Making a distribution, or asking one for a log-probability, with its arguments validated."""
        if _validation_is_off(model):
            return None
        made = _maker(site, model)
        if made is None:
            return None
        asked = made.argument(None, "validate_args")
        if made.opaque_arguments or (asked is not None and asked.value.const is not True):
            return None
        given = [argument.value for argument in site.arguments]
        return _of(next((value for value in given if value.is_tensor), given[0] if given else None), site, model)


def _maker(site: sites.Call, model: Model) -> sites.Call | None:
    """The call that made the distribution which a call makes or asks."""
    if site.method != "log_prob" or site.receiver is None:
        return site
    return model.call(site.receiver.origin) if site.receiver.origin is not None else None


def _is_conditional(context: Context) -> bool:
    """Whether a condition stands between the code and the innermost loop or function around it that is the step."""
    for link in context.chain():
        if link.scope is Scope.BRANCH:
            return True
        if link.scope is Scope.FUNCTION or (link.scope is Scope.LOOP and iterates(link) is Iterates.STEPS):
            return False
    return False


def _of(operand: Value | None, site: sites.Call, model: Model) -> Wait | None:
    return waits(model, as_operand(operand), site.context, by_method=True) if operand is not None else None


def _operand(site: sites.Call, callee: str) -> Value | None:
    """The tensor that the call must see."""
    if callee.startswith("torch.Tensor."):
        return site.receiver
    if callee.endswith(("ctc_loss", "CTCLoss")):
        lengths = [site.argument(2, "input_lengths"), site.argument(3, "target_lengths")]
        return next((a.value for a in lengths if a is not None and a.value.kind is Kind.TENSOR), None)
    argument = site.argument(0, "input") or site.argument(None, "A")
    return argument.value if argument is not None else None


def _validation_is_off(model: Model) -> bool:
    return any((call.callee or "").endswith(".set_default_validate_args") for call in model.sites.calls)
