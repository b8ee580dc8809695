"""Optimizers, gradient clipping, averages of parameters, foreach operators, schedulers."""

from __future__ import annotations

from benchmarks.waits.rows import Row, row

# Every optimizer takes one step in the set-up: the first one allocates its state.
SETUP = """
from torch.nn.utils import clip_grad_norm_, clip_grad_value_, get_total_norm
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, OneCycleLR, ReduceLROnPlateau
from torch.optim.swa_utils import AveragedModel, get_ema_avg_fn, get_ema_multi_avg_fn
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).to("cuda")
x = torch.randn(8, 16, device="cuda")
model(x).sum().backward()
params = list(model.parameters())
grads = [p.grad for p in params]
tensors = [p.detach().clone() for p in params]
others = [torch.randn_like(p) for p in params]
matrices = [p for p in params if p.dim() == 2]
s = torch.tensor(0.5, device="cuda")
loss = torch.rand((), device="cuda")
lr = torch.tensor(0.1, device="cuda")

def stepped(optimizer, parameters=params, **options):
    optimizer = getattr(torch.optim, optimizer)(parameters, **options)
    optimizer.step()
    return optimizer

def averaged(**options):
    average = AveragedModel(model, **options)
    average.update_parameters(model)
    return average

def closure():
    opt.zero_grad()
    value = model(x).square().sum()
    value.backward()
    return value

"""

STEP = "torch.optim.{}.step"


def step(optimizer: str, options: str = "", **states: str) -> Row:
    """One step of an optimizer made with these options."""
    setup = f'opt = stepped("{optimizer}"{", " if options else ""}{options})\n'
    return row("opt.step()", STEP.format(optimizer), setup=setup, **states)


ROWS = (
    step("SGD", "lr=0.1", fused="absent", foreach="absent", lr="number"),
    step("SGD", "lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True", fused="absent", foreach="absent", lr="number"),
    step("SGD", "lr=0.1, foreach=False", fused="absent", foreach="false", lr="number"),
    step("SGD", "lr=0.1, fused=True", fused="true", foreach="absent", lr="number"),
    step("Adam", "", fused="absent", foreach="absent", capturable="absent", lr="number"),
    step("Adam", "amsgrad=True", fused="absent", foreach="absent", capturable="absent", lr="number"),
    step("Adam", "foreach=False", fused="absent", foreach="false", capturable="absent", lr="number"),
    step("Adam", "fused=True", fused="true", foreach="absent", capturable="absent", lr="number"),
    step("Adam", "capturable=True", fused="absent", foreach="absent", capturable="true", lr="number"),
    step("Adam", "lr=lr, foreach=False", fused="absent", foreach="false", capturable="absent", lr="device"),
    step("Adam", "lr=lr, fused=True", fused="true", foreach="absent", capturable="absent", lr="device"),
    step("Adam", "lr=lr, capturable=True", fused="absent", foreach="absent", capturable="true", lr="device"),
    step("AdamW", "", fused="absent", foreach="absent", capturable="absent"),
    step("AdamW", "foreach=False", fused="absent", foreach="false", capturable="absent"),
    step("AdamW", "fused=True", fused="true", foreach="absent", capturable="absent"),
    step("AdamW", "capturable=True", fused="absent", foreach="absent", capturable="true"),
    step("RMSprop"),
    step("Adagrad"),
    step("ASGD", "foreach=False"),
    step("Adafactor", "foreach=False"),
    step("SGD", "lr=lr", fused="absent", foreach="absent", lr="device"),
    step("SGD", "lr=lr, fused=True", fused="true", foreach="absent", lr="device"),
    step("SGD", "lr=lr, foreach=False", fused="absent", foreach="false", lr="device"),
    step("Adamax", "foreach=False"),
    step("RAdam", "foreach=False"),
    step("NAdam", "foreach=False"),
    step("Adadelta"),
    step("Adamax"),
    step("NAdam"),
    step("RAdam"),
    step("Rprop"),
    step("ASGD"),
    step("Adafactor"),
    step("Muon", "parameters=matrices"),
    row("opt.step(closure)", STEP.format("LBFGS"), setup="opt = torch.optim.LBFGS(params, max_iter=2)\n"),
    row("opt.zero_grad()", "torch.optim.Optimizer.zero_grad", setup='opt = stepped("Adam")\n'),
    row(
        "opt.zero_grad(set_to_none=False)",
        "torch.optim.Optimizer.zero_grad",
        setup='opt = stepped("Adam")\n',
    ),
    row("opt.state_dict()", "torch.optim.Optimizer.state_dict", setup='opt = stepped("Adam")\n'),
    row(
        "opt.load_state_dict(opt.state_dict())",
        "torch.optim.Optimizer.load_state_dict",
        setup='opt = stepped("Adam")\n',
    ),
    row("torch.optim.AdamW(params)", "torch.optim.AdamW"),
    # Clipping
    row("clip_grad_norm_(params, 1.0)", "torch.nn.utils.clip_grad_norm_", error_if_nonfinite="absent"),
    row("clip_grad_norm_(params, 1.0, foreach=False)", "torch.nn.utils.clip_grad_norm_", error_if_nonfinite="absent"),
    row("clip_grad_norm_(params, 1.0, foreach=True)", "torch.nn.utils.clip_grad_norm_", error_if_nonfinite="absent"),
    row(
        'clip_grad_norm_(params, 1.0, norm_type=float("inf"))',
        "torch.nn.utils.clip_grad_norm_",
        error_if_nonfinite="absent",
    ),
    row(
        "clip_grad_norm_(params, 1.0, error_if_nonfinite=False)",
        "torch.nn.utils.clip_grad_norm_",
        error_if_nonfinite="false",
    ),
    row(
        "clip_grad_norm_(params, 1.0, error_if_nonfinite=True)",
        "torch.nn.utils.clip_grad_norm_",
        error_if_nonfinite="true",
    ),
    row("clip_grad_norm_(params, 1.0).item()", ".item"),
    row("clip_grad_norm_(params, s)", "torch.nn.utils.clip_grad_norm_", max_norm="device"),
    row("clip_grad_value_(params, 1.0)", "torch.nn.utils.clip_grad_value_"),
    row("get_total_norm(grads)", "torch.nn.utils.get_total_norm", error_if_nonfinite="absent"),
    row(
        "get_total_norm(grads, error_if_nonfinite=True)",
        "torch.nn.utils.get_total_norm",
        error_if_nonfinite="true",
    ),
    row("torch.norm(torch.stack([g.norm() for g in grads]))", "torch.norm"),
    row("sum(g.norm().item() ** 2 for g in grads) ** 0.5", ".item"),
    row("for g in grads: g.mul_(0.5)", ".mul_"),
    row("for p in params: p.grad.zero_()", ".zero_"),
    # Averages of parameters
    row("averaged().update_parameters(model)", "torch.optim.swa_utils.AveragedModel.update_parameters"),
    row(
        "average.update_parameters(model)",
        "torch.optim.swa_utils.AveragedModel.update_parameters",
        setup="average = averaged()\n",
    ),
    row(
        "average.update_parameters(model)",
        "torch.optim.swa_utils.AveragedModel.update_parameters",
        setup="average = averaged(multi_avg_fn=get_ema_multi_avg_fn(0.99))\n",
    ),
    row(
        "average.update_parameters(model)",
        "torch.optim.swa_utils.AveragedModel.update_parameters",
        setup='average = averaged(avg_fn=get_ema_avg_fn(0.99), device="cuda")\n',
    ),
    row("for p, q in zip(tensors, others): p.mul_(0.99).add_(q, alpha=0.01)", ".add_", alpha="number"),
    row("for p, q in zip(tensors, others): p.lerp_(q, 0.01)", ".lerp_", weight="number"),
    row("for p, q in zip(tensors, others): p.copy_(q)", ".copy_", source="device", target="device"),
    # Foreach operators
    row("torch._foreach_add_(tensors, others, alpha=0.1)", "torch._foreach_add_", alpha="number"),
    row("torch._foreach_add_(tensors, others, alpha=s)", "torch._foreach_add_", alpha="device"),
    row("torch._foreach_add_(tensors, 1.0)", "torch._foreach_add_", alpha="absent"),
    row("torch._foreach_mul_(tensors, 0.5)", "torch._foreach_mul_"),
    row("torch._foreach_mul_(tensors, s)", "torch._foreach_mul_"),
    row("torch._foreach_mul_(tensors, others)", "torch._foreach_mul_"),
    row("torch._foreach_div_(tensors, others)", "torch._foreach_div_"),
    row("torch._foreach_lerp_(tensors, others, 0.1)", "torch._foreach_lerp_"),
    row("torch._foreach_copy_(tensors, others)", "torch._foreach_copy_"),
    row("torch._foreach_norm(tensors)", "torch._foreach_norm"),
    row("torch._foreach_zero_(tensors)", "torch._foreach_zero_"),
    row("torch._foreach_sqrt(tensors)", "torch._foreach_sqrt"),
    row("torch._foreach_addcdiv_(tensors, others, others, value=-0.1)", "torch._foreach_addcdiv_"),
    row("torch._foreach_addcmul_(tensors, others, others, value=0.1)", "torch._foreach_addcmul_"),
    row("torch._foreach_clamp_min_(tensors, 0.0)", "torch._foreach_clamp_min_"),
    row("torch._foreach_maximum_(tensors, 0.0)", "torch._foreach_maximum_"),
    # Schedulers
    row(
        "scheduler.step()",
        "torch.optim.lr_scheduler.CosineAnnealingLR.step",
        setup='scheduler = CosineAnnealingLR(stepped("SGD"), 10)\n',
    ),
    row(
        "scheduler.step()",
        "torch.optim.lr_scheduler.LambdaLR.step",
        setup='scheduler = LambdaLR(stepped("SGD"), lambda epoch: 0.9)\n',
    ),
    row(
        "scheduler.step()",
        "torch.optim.lr_scheduler.OneCycleLR.step",
        setup='scheduler = OneCycleLR(stepped("SGD"), 0.1, 10)\n',
    ),
    row(
        "scheduler.step(loss)",
        "torch.optim.lr_scheduler.ReduceLROnPlateau.step",
        metrics="device",
        setup='scheduler = ReduceLROnPlateau(stepped("SGD"))\n',
    ),
    row(
        "scheduler.step(0.5)",
        "torch.optim.lr_scheduler.ReduceLROnPlateau.step",
        metrics="number",
        setup='scheduler = ReduceLROnPlateau(stepped("SGD"))\n',
    ),
)
