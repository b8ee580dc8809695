"""Operators that rules must know to be silent, and the few among them that are not: reductions, order, algebra."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import torch.nn.functional as F
x = torch.randn(64, 64, device="cuda")
y = torch.randn(64, 64, device="cuda")
v = torch.rand(64, device="cuda")
p = torch.rand(4, 16, device="cuda")
ints = torch.randint(0, 10, (64,), device="cuda")
batch = torch.randn(4, 8, 8, device="cuda")
signal = torch.randn(1024, device="cuda")
window = torch.hann_window(64, device="cuda")
spectrum = torch.stft(signal, 64, window=window, return_complex=True)
quantiles = torch.tensor([0.25, 0.75], device="cuda")
"""

# Names that exist as a function of torch and as a method, of one tensor or of two.
UNARY = """acos angle asin atan bitwise_not ceil conj cos cosh count_nonzero cumsum deg2rad digamma erf erfc exp expm1
floor frac isneginf isposinf isreal lgamma log1p log10 log2 logit logical_not neg positive rad2deg reciprocal relu
resolve_conj sgn signbit sin sinc sinh softmax square tan trunc""".split()
BINARY = """arctan2 div eq floor_divide fmax fmin ge gt hypot isclose le logaddexp logical_and logical_or logical_xor lt
maximum minimum mul ne remainder sub true_divide""".split()
DIM = {"cumsum": ", 0", "softmax": ", -1"}


def _operand(name: str) -> str:
    return "ints" if name == "bitwise_not" else "v"


ROWS = (
    # Reductions and statistics
    row("x.sum()", ".sum", dim="absent"),
    row("x.mean()", ".mean"),
    row("x.mean(dim=1)", ".mean"),
    row("x.max()", ".max"),
    row("x.max(dim=1)", ".max"),
    row("x.min()", ".min"),
    row("torch.max(x)", "torch.max"),
    row("torch.max(x, y)", "torch.max"),
    row("torch.min(x, dim=0)", "torch.min"),
    row("x.amax(1)", ".amax"),
    row("torch.aminmax(x)", "torch.aminmax"),
    row("x.argmax(-1)", ".argmax"),
    row("x.argmin()", ".argmin"),
    row("x.std()", ".std"),
    row("x.var(0)", ".var"),
    row("x.norm()", ".norm"),
    row("torch.norm(x)", "torch.norm"),
    row("torch.norm(x, p=2, dim=1)", "torch.norm"),
    row("x.prod()", ".prod"),
    row("x.logsumexp(1)", ".logsumexp"),
    row("torch.median(x)", "torch.median"),
    row("x.median(dim=1)", ".median"),
    row("torch.nanmedian(x)", "torch.nanmedian"),
    row("torch.mode(x, dim=1)", "torch.mode"),
    row("torch.kthvalue(x, 3)", "torch.kthvalue"),
    row("torch.quantile(x, 0.5)", "torch.quantile", q="number"),
    row("torch.quantile(x, quantiles, dim=1)", "torch.quantile", q="device"),
    row("torch.nanquantile(x, 0.5)", "torch.nanquantile"),
    row("torch.nanmean(x)", "torch.nanmean"),
    row("torch.dist(x, y)", "torch.dist"),
    row("torch.cov(x)", "torch.cov"),
    row("torch.corrcoef(x)", "torch.corrcoef"),
    row("torch.trace(x)", "torch.trace"),
    row("torch.cumsum(x, 1)", "torch.cumsum", dim="number"),
    row("torch.cumprod(x, 1)", "torch.cumprod"),
    row("torch.logcumsumexp(x, 1)", "torch.logcumsumexp"),
    row("torch.cummax(x, 1)", "torch.cummax"),
    row("torch.diff(v)", "torch.diff"),
    row("torch.trapezoid(v)", "torch.trapezoid"),
    row("torch.gradient(v)", "torch.gradient"),
    # Order
    row("torch.sort(x)", "torch.sort"),
    row("v.sort(descending=True)", ".sort"),
    row("torch.sort(ints, stable=True)", "torch.sort"),
    row("torch.argsort(x)", "torch.argsort"),
    row("x.argsort(dim=0)", ".argsort"),
    row("torch.msort(x)", "torch.msort"),
    row("torch.topk(x, 3)", "torch.topk", k="number"),
    row("x.topk(3, dim=0)", ".topk", k="number"),
    # Elementwise
    row("x + y"),
    row("x * 2"),
    row("x / 2"),
    row("x // 2"),
    row("x % 3"),
    row("x.exp()", ".exp"),
    row("torch.log(v)", "torch.log"),
    row("torch.sqrt(v)", "torch.sqrt"),
    row("torch.rsqrt(v)", "torch.rsqrt"),
    row("x.abs()", ".abs"),
    row("torch.sign(x)", "torch.sign"),
    row("x.round()", ".round"),
    row("torch.nan_to_num(x)", "torch.nan_to_num"),
    row("x.nan_to_num_(0.0)", ".nan_to_num_"),
    row("torch.clamp(x, 0.0, 1.0)", "torch.clamp", min="number", max="number"),
    row("x.clamp(min=0.0)", ".clamp", min="number", max="absent"),
    row("x.sigmoid()", ".sigmoid"),
    row("torch.sigmoid(x)", "torch.sigmoid"),
    row("x.tanh()", ".tanh"),
    row("torch.erfinv(x.clamp(-0.9, 0.9))", "torch.erfinv"),
    row("torch.xlogy(x, v)", "torch.xlogy"),
    row("torch.fmod(x, 2)", "torch.fmod"),
    row("torch.addcmul(x, x, y)", "torch.addcmul", value="absent"),
    row("torch.special.expit(x)", "torch.special.expit"),
    row("torch.special.gammaln(v)", "torch.special.gammaln"),
    row("torch.polar(v, v)", "torch.polar"),
    row("torch.view_as_complex(x.view(64, 32, 2))", "torch.view_as_complex"),
    row("x.square_()", ".square_"),
    # Shape and layout
    row("x.view(-1)", ".view", shape="number"),
    row("x.reshape(8, -1)", ".reshape", shape="number"),
    row("x.permute(1, 0)", ".permute"),
    row("x.transpose(0, 1)", ".transpose"),
    row("x.t().contiguous()", ".contiguous"),
    row("x.flatten()", ".flatten"),
    row("x.unsqueeze(0)", ".unsqueeze", dim="number"),
    row("x.squeeze()", ".squeeze"),
    row("x.expand(2, 64, 64)", ".expand", size="number"),
    row("x.repeat(2, 1)", ".repeat", repeats="number"),
    row("torch.cat([x, y])", "torch.cat"),
    row("torch.stack([x, y])", "torch.stack"),
    row("torch.hstack([v, v])", "torch.hstack"),
    row("x.chunk(4)", ".chunk", chunks="number"),
    row("x.unbind(0)", ".unbind"),
    row("x.flip(0)", ".flip"),
    row("torch.rot90(x)", "torch.rot90"),
    row('torch.meshgrid(v, v, indexing="ij")', "torch.meshgrid"),
    row("torch.triu(x, diagonal=1)", "torch.triu"),
    row("x.unfold(0, 2, 1)", ".unfold"),
    row("torch.broadcast_tensors(x, v)", "torch.broadcast_tensors"),
    row("torch.movedim(batch, 0, 1)", "torch.movedim"),
    # Algebra
    row("x @ y", "torch.matmul"),
    row("torch.matmul(x, y)", "torch.matmul"),
    row("torch.mm(x, y)", "torch.mm"),
    row("torch.bmm(batch, batch)", "torch.bmm"),
    row('torch.einsum("ij,jk->ik", x, y)', "torch.einsum"),
    row('torch.einsum("bij,bjk->bik", batch, batch)', "torch.einsum"),
    row("torch.addmm(x, x, y)", "torch.addmm", alpha="absent", beta="absent"),
    row("torch.baddbmm(batch, batch, batch)", "torch.baddbmm"),
    row("torch.tensordot(x, y, 1)", "torch.tensordot"),
    row("torch.dot(v, v)", "torch.dot"),
    row("torch.outer(v, v)", "torch.outer"),
    row("torch.kron(batch[0], batch[1])", "torch.kron"),
    row("torch.cross(x[:, :3], y[:, :3], dim=1)", "torch.cross"),
    row("torch.cdist(x, y)", "torch.cdist"),
    row("torch.cdist(x, y, p=1)", "torch.cdist"),
    row("F.pdist(x)", "torch.nn.functional.pdist"),
    row("torch.renorm(x, 2, 0, 1.0)", "torch.renorm"),
    # Signals
    row("torch.fft.fft(signal)", "torch.fft.fft"),
    row("torch.fft.rfft(signal)", "torch.fft.rfft"),
    row("torch.fft.irfft(torch.fft.rfft(signal))", "torch.fft.irfft"),
    row("torch.stft(signal, 64, window=window, return_complex=True)", "torch.stft"),
    row("torch.istft(spectrum, 64, window=window)", "torch.istft"),
    # Many more of one kind
    *(row(f"torch.{name}({_operand(name)}{DIM.get(name, '')})", f"torch.{name}") for name in UNARY),
    *(row(f"{_operand(name)}.{name}({DIM.get(name, '')[2:]})", f".{name}") for name in UNARY),
    *(row(f"torch.{name}(x, y)", f"torch.{name}") for name in BINARY),
    *(row(f"x.{name}(y)", f".{name}") for name in BINARY),
    row("x.add_(y)", ".add_", alpha="absent"),
    row("x.mul_(y)", ".mul_"),
    row("x.matmul(y)", ".matmul"),
    row("x.mm(y)", ".mm"),
    row("x.softmax(-1)", ".softmax"),
    row("torch.clone(x)", "torch.clone"),
    row("torch.argmax(x, dim=1)", "torch.argmax"),
    row("torch.sum(x)", "torch.sum"),
    row("torch.mean(x)", "torch.mean"),
    row("torch.std(x)", "torch.std"),
    row("torch.var_mean(x)", "torch.var_mean"),
    row("torch.permute(x, (1, 0))", "torch.permute"),
    row("torch.reshape(x, (8, -1))", "torch.reshape"),
    row("torch.chunk(x, 4)", "torch.chunk"),
    row("torch.unbind(x)", "torch.unbind"),
    row("torch.flatten(x)", "torch.flatten"),
    row("torch.squeeze(x)", "torch.squeeze"),
    row("torch.exp(x)", "torch.exp"),
    row("torch.abs(x)", "torch.abs"),
    row("torch.roll(x, 1)", "torch.roll", shifts="number"),
    row("torch.vstack([x, y])", "torch.vstack"),
    row("torch.concat([x, y])", "torch.concat"),
    row("torch.nn.functional.logsigmoid(x)", "torch.nn.functional.logsigmoid"),
    row("torch.nn.functional.softplus(x)", "torch.nn.functional.softplus"),
    row("torch.logsumexp(x, 1)", "torch.logsumexp"),
)
