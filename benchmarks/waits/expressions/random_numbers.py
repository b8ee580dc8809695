"""Random numbers and generators."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import random
import numpy as np
x = torch.randn(64, 64, device="cuda")
std = torch.rand(64, 64, device="cuda") + 0.1
p = torch.rand(4, 16, device="cuda")
v = torch.rand(8, device="cuda")
generator = torch.Generator(device="cuda")
state = generator.get_state()
cuda_state = torch.cuda.get_rng_state()
"""

ROWS = (
    row('torch.rand(8, device="cuda")', "torch.rand", size="number"),
    row('torch.randn(8, device="cuda")', "torch.randn", size="number"),
    row('torch.randn(8, device="cuda", generator=generator)', "torch.randn", size="number"),
    row('torch.randint(0, 10, (8,), device="cuda")', "torch.randint", high="number"),
    row('torch.randperm(64, device="cuda")', "torch.randperm", n="number"),
    row('torch.randperm(100_000, device="cuda")', "torch.randperm", n="number"),
    row("torch.multinomial(p, 1)", "torch.multinomial"),
    row("torch.multinomial(p, 1, replacement=True)", "torch.multinomial"),
    row("torch.multinomial(p, 4)", "torch.multinomial"),
    row("torch.multinomial(p, 4, replacement=True)", "torch.multinomial"),
    row("p.multinomial(num_samples=1)", ".multinomial"),
    row("torch.bernoulli(p)", "torch.bernoulli"),
    row("p.bernoulli()", ".bernoulli"),
    row("torch.normal(x, std)", "torch.normal", mean="device", std="device"),
    row("torch.normal(x, 1.0)", "torch.normal", mean="device", std="number"),
    row("torch.normal(0.0, std)", "torch.normal", mean="number", std="device"),
    row('torch.normal(0.0, 1.0, (8,), device="cuda")', "torch.normal", mean="number", std="number"),
    row("torch.poisson(p)", "torch.poisson"),
    row("torch.distributions.utils.clamp_probs(p)"),
    row("x.normal_()", ".normal_", std="absent"),
    row("x.normal_(0.0, 0.02)", ".normal_", std="number"),
    row("x.uniform_(-1, 1)", ".uniform_", to="number"),
    row("x.exponential_()", ".exponential_"),
    row("x.bernoulli_(0.5)", ".bernoulli_"),
    row("x.random_()", ".random_"),
    row("x.cauchy_()", ".cauchy_"),
    row("x.log_normal_()", ".log_normal_"),
    row("x.geometric_(0.5)", ".geometric_"),
    row("torch.manual_seed(0)", "torch.manual_seed"),
    row("torch.cuda.manual_seed(0)", "torch.cuda.manual_seed"),
    row("torch.cuda.manual_seed_all(0)", "torch.cuda.manual_seed_all"),
    row("torch.seed()", "torch.seed"),
    row('torch.Generator(device="cuda")', "torch.Generator"),
    row("generator.manual_seed(0)", "torch.Generator.manual_seed"),
    row("generator.seed()", "torch.Generator.seed"),
    row("generator.get_state()", "torch.Generator.get_state"),
    row("generator.set_state(state)", "torch.Generator.set_state"),
    row("torch.get_rng_state()", "torch.get_rng_state"),
    row("torch.cuda.get_rng_state()", "torch.cuda.get_rng_state"),
    row("torch.cuda.set_rng_state(cuda_state)", "torch.cuda.set_rng_state"),
    row("torch.nn.init.normal_(x)", "torch.nn.init.normal_"),
    row("torch.nn.init.xavier_uniform_(x)", "torch.nn.init.xavier_uniform_"),
    row("torch.nn.init.kaiming_normal_(x)", "torch.nn.init.kaiming_normal_"),
    row("torch.nn.init.trunc_normal_(x)", "torch.nn.init.trunc_normal_"),
    row("torch.nn.init.orthogonal_(x)", "torch.nn.init.orthogonal_"),
)
