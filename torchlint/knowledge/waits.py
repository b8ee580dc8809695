"""Which expressions make the host wait for the device, and on which states of their arguments that depends.

The facts are measured (`benchmarks/waits/`) and generated into `waits_table`; this module looks them up. A fact is
about a *subject*:

- a function by its qualified name, a built-in by its bare one: `torch.bincount`, `float`, `math.sqrt`;
- a method of a tensor: `.item`; of another object by its class: `torch.amp.GradScaler.step`, `torch.optim.Adam.step`;
- a form of syntax: `truth` (a condition, `not`, `and`), `in`, `iteration` (loops, unpacking), `format` (f-string, `%`,
  `str.format`), `operand` (an arithmetic operator and its other side), `x[...]` (reading elements of a tensor),
  `x[...] =` (writing them), `sequence[...]` (elements of a list, tuple, str or range).

*States* say what is known of an argument of the subject, under the name of its parameter:

- `absent`, `given`, `true`, `false`, or a value that matters (`layout="jagged"`);
- what is passed: `number`, `list`, `ndarray`, `device` (a tensor there), `host` (a tensor there), `device scalar` and
  `host scalar` (0-d tensors), `device mask` and `device integers` (indices), ...: `states` lists what was measured;
- of a transfer: `source` and `target` (`device`, `pageable`, `pinned`), `non_blocking`, `nbytes`.

Tensors are on the device where no state says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from torchlint.knowledge.waits_table import ALWAYS, DEPENDS, NEVER

Verdict = Literal["always", "never", "depends"]

# The order of positional parameters, without `self`, for subjects where a wait depends on some of them; what takes any
# number of arguments begins with a star, what is not here is passed by keyword. Source: the PyTorch documentation.
PARAMETERS: Final[dict[str, tuple[str, ...]]] = {
    subject: tuple(parameters.split())
    for parameters, subjects in {
        "*size": ".expand .new_empty .new_ones .new_zeros torch.empty torch.ones torch.rand torch.randn torch.zeros",
        "*shape": ".reshape .view",
        "*repeats": ".repeat",
        "*dims": ".tile",
        "*end": "torch.arange",
        "*stop": "range",
        "*iterable": "max min",
        "iterable": "all any sorted",
        "x": "bool float int "
        "math.ceil math.cos math.exp math.floor math.isfinite math.isinf math.isnan math.log math.sqrt",
        "real imag": "complex",
        "chunks dim": ".chunk",
        "min max": ".clamp",
        "input min max": "torch.clamp",
        "dim index value": ".index_fill_",
        "indices values accumulate": ".index_put_",
        "mask value": ".masked_fill .masked_fill_",
        "dimension start length": ".narrow",
        "input dim start length": "torch.narrow",
        "size fill_value": ".new_full torch.full",
        "input fill_value": "torch.full_like",
        "data": ".new_tensor torch.tensor",
        "data dtype device": "torch.as_tensor",
        "mean std": ".normal_ torch.normal",
        "repeats dim": ".repeat_interleave",
        "input repeats dim": "torch.repeat_interleave",
        "shifts dims": ".roll",
        "input shifts dims": "torch.roll",
        "dim index": ".select",
        "split_size dim": ".split",
        "tensor split_size_or_sections dim": "torch.split",
        "dim": ".sum .unsqueeze",
        "input dim": "torch.cumsum",
        "k dim": ".topk",
        "input k dim": "torch.topk",
        "dim sizes": ".unflatten",
        "from to": ".uniform_",
        "n": "torch.eye torch.randperm",
        "input bins min max": "torch.histc",
        "start end steps": "torch.linspace",
        "low high size": "torch.randint",
        "indices values size": "torch.sparse_coo_tensor",
        "input diagonal": "torch.tril",
        "condition input other": "torch.where",
        "A n": "torch.linalg.matrix_power",
        "A ord dim": "torch.linalg.matrix_norm",
        "input p": "torch.nn.functional.dropout",
        "input size": "torch.nn.functional.interpolate",
        "input normalized_shape weight bias eps": "torch.nn.functional.layer_norm",
        "input negative_slope": "torch.nn.functional.leaky_relu",
        "tensor num_classes": "torch.nn.functional.one_hot",
        "input pad mode value": "torch.nn.functional.pad",
        "input threshold": "torch.nn.functional.threshold",
        "parameters max_norm norm_type error_if_nonfinite": "torch.nn.utils.clip_grad_norm_",
        "tensors norm_type error_if_nonfinite": "torch.nn.utils.get_total_norm",
        "input lengths batch_first enforce_sorted": "torch.nn.utils.rnn.pack_padded_sequence",
        "metrics": "torch.optim.lr_scheduler.ReduceLROnPlateau.step",
        "optimizer": "torch.amp.GradScaler.step",
        "state_dict": "torch.nn.Module.load_state_dict",
        "obj": "torch.save",
        "probs logits validate_args": "torch.distributions.Bernoulli torch.distributions.Categorical",
        "concentration1 concentration0 validate_args": "torch.distributions.Beta",
        "concentration validate_args": "torch.distributions.Dirichlet",
        "rate validate_args": "torch.distributions.Exponential torch.distributions.Poisson",
        "concentration rate validate_args": "torch.distributions.Gamma",
        "loc scale validate_args": "torch.distributions.Laplace torch.distributions.LogNormal "
        "torch.distributions.Normal",
        "low high validate_args": "torch.distributions.Uniform",
    }.items()
    for subject in subjects.split()
}


# What was not measured itself, and reads its numbers where a measured subject does.
RELATIVES: Final[dict[str, str]] = {
    relative: subject
    for subject, relatives in {
        "torch.add": "torch.subtract torch.rsub .subtract .index_add .index_add_",
        "torch.addmm": "torch.addbmm torch.addmv torch.addr torch.baddbmm .addmm_ .addbmm_ .addmv_ .addr_ .baddbmm_",
        "torch.addcdiv": "torch._foreach_addcdiv torch._foreach_addcdiv_",
        "torch.addcmul": "torch._foreach_addcmul torch._foreach_addcmul_",
        "torch._foreach_add_": "torch._foreach_add torch._foreach_sub torch._foreach_sub_",
        "torch.clamp": ".clamp_",
        "torch.linspace": "torch.logspace",
        "torch.distributions.Laplace": "torch.distributions.Distribution",
        ".view": ".resize_",
    }.items()
    for relative in relatives.split()
}


class Sized(NamedTuple):
    """A call of another package that waits unless it is told a size: where it takes the index of rows, and the size."""

    rows: int
    size: int
    name: str  # of the size


# Not measured: these packages were read. What is not told how many rows come out takes `int(index.max()) + 1` for it
# (`maybe_num_nodes` and `scatter` of torch_geometric/utils, `scatter_sum` of torch_scatter/scatter.py).
SIZED: Final[dict[str, Sized]] = {
    **{
        f"torch_scatter.scatter{kind}": Sized(1, 4, "dim_size")
        for kind in ("", "_add", "_max", "_mean", "_min", "_mul", "_sum")
    },
    **{f"torch_geometric.nn.global_{kind}_pool": Sized(1, 2, "size") for kind in ("add", "max", "mean")},
    "torch_geometric.utils.scatter": Sized(1, 3, "dim_size"),
    "torch_geometric.utils.degree": Sized(0, 1, "num_nodes"),
    "torch_geometric.utils.softmax": Sized(1, 3, "num_nodes"),
}
# Their kernels end in a `masked_select` of the boxes to keep, and of each class where they go over classes
# (torchvision/csrc/ops/cuda/nms_kernel.cu, torchvision/ops/boxes.py).
SUPPRESSING: Final = frozenset(
    f"torchvision.ops.{module}{name}" for module in ("", "boxes.") for name in ("nms", "batched_nms")
)


def kin(name: str) -> tuple[str, ...]:
    """The measured subjects that tell of a function (`torch.f`) or method (`.f`): itself, its twin, and a relative."""
    if name.startswith("."):
        twin = f"torch{name}"
    else:
        namespace, _, last = name.rpartition(".")
        twin = f".{last}" if namespace == "torch" else ""
    found = (name, twin, RELATIVES.get(name, ""), RELATIVES.get(twin, ""))
    return tuple(dict.fromkeys(subject for subject in found if subject and verdict(subject) is not None))


def parameters(subject: str, name: str) -> tuple[str, ...]:
    """The positional parameters of a subject, as they stand where it is called by the name of it or of its kin."""
    known = PARAMETERS.get(subject, ())
    if subject.startswith(".") and not name.startswith("."):
        return ("input", *(parameter.lstrip("*") for parameter in known))
    return known[1:] if name.startswith(".") and not subject.startswith(".") else known


def verdict(subject: str) -> Verdict | None:
    """Whether the subject waits in every measured form, in none, or in some; None where it was not measured."""
    if subject in ALWAYS:
        return "always"
    if subject in NEVER:
        return "never"
    return "depends" if subject in DEPENDS else None


def waiting() -> tuple[str, ...]:
    """The subjects that wait in some measured form at least, in the order of their names."""
    return tuple(sorted(ALWAYS | DEPENDS.keys()))


def states(subject: str) -> dict[str, frozenset[str]]:
    """The arguments on which waiting depends, each with its measured states; empty where it does not depend."""
    found: dict[str, set[str]] = {}
    for variant in DEPENDS.get(subject, ()):
        for argument, state in variant:
            found.setdefault(argument, set()).add(state)
    return {argument: frozenset(measured) for argument, measured in found.items()}


def waits(subject: str, known: Mapping[str, str] | None = None) -> bool | None:
    """Whether the subject makes the host wait when its arguments are in these states.

    True or False when the form with just these states was measured, or when all measured forms that have them agree.
    None where they differ, where nothing was measured, or where a state is none of those measured. Arguments that do
    not matter for the subject may be in `known`.
    """
    if subject not in DEPENDS:
        return True if subject in ALWAYS else False if subject in NEVER else None
    variants = DEPENDS[subject]
    matter = states(subject)
    given = {item for item in (known or {}).items() if item[0] in matter}
    answers = set()
    for variant, waiting in variants.items():
        if given == set(variant):
            return waiting
        if given <= set(variant):
            answers.add(waiting)
    return answers.pop() if len(answers) == 1 else None
