"""Automatic mixed precision: autocast and the gradient scaler (TL403, TL404, TL111)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
from torch.nn.utils import clip_grad_norm_
model = torch.nn.Linear(16, 16).to("cuda")
x = torch.randn(8, 16, device="cuda")
scale = torch.tensor(1024.0, device="cuda")

def scaled(optimizer, **options):
    scaler = torch.amp.GradScaler("cuda", **options)
    scaler.scale(model(x).sum()).backward()
    optimizer.step()
    return scaler

plain = torch.optim.AdamW(model.parameters())
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
fused = torch.optim.AdamW(model.parameters(), fused=True)
fused_sgd = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
loss = model(x).sum()
"""

PLAIN = "scaler = scaled(plain)\n"
FUSED = "scaler = scaled(fused)\n"
OFF = "scaler = scaled(plain, enabled=False)\n"
SCALER = "torch.amp.GradScaler"

ROWS = (
    row('torch.amp.GradScaler("cuda")', SCALER),
    row("scaler.scale(loss)", f"{SCALER}.scale", setup=PLAIN),
    row("scaler.scale(loss).backward()", ".backward", setup=PLAIN),
    row("scaler.unscale_(plain)", f"{SCALER}.unscale_", setup=PLAIN),
    row("scaler.unscale_(fused)", f"{SCALER}.unscale_", setup=FUSED),
    row("scaler.step(plain)", f"{SCALER}.step", optimizer="plain", setup=PLAIN),
    row("scaler.step(sgd)", f"{SCALER}.step", optimizer="plain", setup="scaler = scaled(sgd)\n"),
    row("scaler.step(plain)", f"{SCALER}.step", optimizer="plain", setup=PLAIN + "scaler.unscale_(plain)\n"),
    row("scaler.step(fused)", f"{SCALER}.step", optimizer="fused", setup=FUSED),
    row("scaler.step(fused_sgd)", f"{SCALER}.step", optimizer="fused", setup="scaler = scaled(fused_sgd)\n"),
    row("scaler.step(fused)", f"{SCALER}.step", optimizer="fused", setup=FUSED + "scaler.unscale_(fused)\n"),
    row("scaler.step(plain)", f"{SCALER}.step", optimizer="plain", enabled="false", setup=OFF),
    row("scaler.update()", f"{SCALER}.update", setup=PLAIN + "scaler.step(plain)\n"),
    row("scaler.update()", f"{SCALER}.update", setup=FUSED + "scaler.step(fused)\n"),
    row("scaler.update(512.0)", f"{SCALER}.update", new_scale="number", setup=PLAIN + "scaler.step(plain)\n"),
    row("scaler.update(scale)", f"{SCALER}.update", new_scale="device", setup=PLAIN + "scaler.step(plain)\n"),
    row("scaler.get_scale()", f"{SCALER}.get_scale", setup=PLAIN),
    row("scaler.get_scale()", f"{SCALER}.get_scale", enabled="false", setup=OFF),
    row("scaler.state_dict()", f"{SCALER}.state_dict", setup=PLAIN),
    row("scaler.load_state_dict(scaler.state_dict())", f"{SCALER}.state_dict", setup=PLAIN),
    row("scaler.is_enabled()", f"{SCALER}.is_enabled", setup=PLAIN),
    row("scaler.get_growth_factor()", f"{SCALER}.get_growth_factor", setup=PLAIN),
    row(
        "clip_grad_norm_(model.parameters(), 1.0)",
        "torch.nn.utils.clip_grad_norm_",
        error_if_nonfinite="absent",
        setup=PLAIN + "scaler.unscale_(plain)\n",
    ),
    row('with torch.autocast("cuda", dtype=torch.float16): model(x)', "torch.autocast"),
    row('with torch.autocast("cuda", dtype=torch.bfloat16): model(x)', "torch.autocast"),
    row("torch.is_autocast_enabled()", "torch.is_autocast_enabled"),
)
