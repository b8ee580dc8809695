"""torch.distributions with argument validation on (the default) and off (TL111)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import torch.distributions as D
loc = torch.zeros(8, 4, device="cuda")
scale = torch.rand(8, 4, device="cuda") + 0.1
positive = torch.rand(8, 4, device="cuda") + 0.5
probs = torch.softmax(torch.randn(8, 4, device="cuda"), -1)
logits = torch.randn(8, 4, device="cuda")
unit = torch.rand(8, 4, device="cuda") * 0.8 + 0.1
classes = torch.randint(0, 4, (8,), device="cuda")
binary = torch.randint(0, 2, (8, 4), device="cuda").float()
spd = torch.eye(4, device="cuda") * 2
normal = D.Normal(loc, scale)
unchecked = D.Normal(loc, scale, validate_args=False)
other = D.Normal(loc, scale)
categorical = D.Categorical(logits=logits)
categorical_probs = D.Categorical(probs=probs)
unchecked_categorical = D.Categorical(logits=logits, validate_args=False)
bernoulli = D.Bernoulli(logits=logits)
beta = D.Beta(positive, positive)
gamma = D.Gamma(positive, positive)
dirichlet = D.Dirichlet(positive)
multivariate = D.MultivariateNormal(loc, spd, validate_args=False)
squashed = D.TransformedDistribution(D.Normal(loc, scale), [D.TanhTransform(cache_size=1)])
mixture = D.MixtureSameFamily(D.Categorical(logits=logits), D.Normal(loc, scale))
independent = D.Independent(D.Normal(loc, scale), 1)
value = torch.randn(8, 4, device="cuda")
unchecked_bernoulli = D.Bernoulli(logits=logits, validate_args=False)
unchecked_beta = D.Beta(positive, positive, validate_args=False)
unchecked_independent = D.Independent(unchecked, 1, validate_args=False)
unchecked_squashed = D.TransformedDistribution(unchecked, [D.TanhTransform(cache_size=1)], validate_args=False)
"""

NORMAL = "torch.distributions.Normal"
CATEGORICAL = "torch.distributions.Categorical"
BERNOULLI = "torch.distributions.Bernoulli"
ON = {"validate_args": "absent"}
OFF = {"validate_args": "false"}

ROWS = (
    row("D.Normal(loc, scale)", NORMAL, loc="device", **ON),
    row("D.Normal(loc, scale, validate_args=False)", NORMAL, loc="device", **OFF),
    row("D.Normal(loc, scale, validate_args=True)", NORMAL, loc="device", validate_args="true"),
    row("D.Normal(loc, 1.0)", NORMAL, loc="device", **ON),
    row("D.Normal(0.0, 1.0)", NORMAL, loc="number", **ON),
    row("normal.sample()", f"{NORMAL}.sample", **ON),
    row("normal.rsample()", f"{NORMAL}.rsample", **ON),
    row("normal.log_prob(value)", f"{NORMAL}.log_prob", **ON),
    row("unchecked.log_prob(value)", f"{NORMAL}.log_prob", **OFF),
    row("normal.entropy()", f"{NORMAL}.entropy"),
    row("normal.cdf(value)", f"{NORMAL}.cdf", **ON),
    row("normal.mean"),
    row("D.kl_divergence(normal, other)", "torch.distributions.kl_divergence"),
    row("D.Categorical(logits=logits)", CATEGORICAL, probs="absent", **ON),
    row("D.Categorical(logits=logits, validate_args=False)", CATEGORICAL, probs="absent", **OFF),
    row("D.Categorical(probs=probs)", CATEGORICAL, probs="given", **ON),
    row("D.Categorical(probs)", CATEGORICAL, probs="given", **ON),
    row("D.Categorical(probs=probs, validate_args=False)", CATEGORICAL, probs="given", **OFF),
    row("categorical.sample()", f"{CATEGORICAL}.sample"),
    row("categorical_probs.sample()", f"{CATEGORICAL}.sample"),
    row("categorical.log_prob(classes)", f"{CATEGORICAL}.log_prob", **ON),
    row("unchecked_categorical.log_prob(classes)", f"{CATEGORICAL}.log_prob", **OFF),
    row("categorical.entropy()", f"{CATEGORICAL}.entropy"),
    row("unchecked_categorical.sample()", f"{CATEGORICAL}.sample"),
    row("D.Bernoulli(logits=logits)", BERNOULLI, probs="absent", **ON),
    row("D.Bernoulli(probs=unit)", BERNOULLI, probs="given", **ON),
    row("D.Bernoulli(probs=unit, validate_args=False)", BERNOULLI, probs="given", **OFF),
    row("bernoulli.sample()", f"{BERNOULLI}.sample"),
    row("bernoulli.log_prob(binary)", f"{BERNOULLI}.log_prob", **ON),
    row("bernoulli.entropy()", f"{BERNOULLI}.entropy"),
    row("D.Uniform(loc, scale)", "torch.distributions.Uniform", **ON),
    row("D.Uniform(loc, scale, validate_args=False)", "torch.distributions.Uniform", **OFF),
    row("D.Beta(positive, positive)", "torch.distributions.Beta", **ON),
    row("D.Beta(positive, positive, validate_args=False)", "torch.distributions.Beta", **OFF),
    row("beta.sample()", "torch.distributions.Beta.sample"),
    row("beta.log_prob(unit)", "torch.distributions.Beta.log_prob", **ON),
    row("D.Gamma(positive, positive)", "torch.distributions.Gamma", **ON),
    row("gamma.rsample()", "torch.distributions.Gamma.rsample"),
    row("D.Dirichlet(positive)", "torch.distributions.Dirichlet", **ON),
    row("dirichlet.sample()", "torch.distributions.Dirichlet.sample"),
    row("D.Exponential(positive)", "torch.distributions.Exponential", **ON),
    row("D.Laplace(loc, scale)", "torch.distributions.Laplace", **ON),
    row("D.LogNormal(loc, scale)", "torch.distributions.LogNormal", **ON),
    row("D.Poisson(positive)", "torch.distributions.Poisson", **ON),
    row("D.OneHotCategorical(logits=logits)", "torch.distributions.OneHotCategorical", **ON),
    row("D.Multinomial(5, probs)", "torch.distributions.Multinomial", **ON),
    row("D.Multinomial(5, probs).sample()", "torch.distributions.Multinomial.sample"),
    row(
        "D.RelaxedOneHotCategorical(scale[0, :1], logits=logits)", "torch.distributions.RelaxedOneHotCategorical", **ON
    ),
    row("D.MultivariateNormal(loc, spd)", "torch.distributions.MultivariateNormal", **ON),
    row("D.MultivariateNormal(loc, spd, validate_args=False)", "torch.distributions.MultivariateNormal", **OFF),
    row("D.MultivariateNormal(loc, scale_tril=spd)", "torch.distributions.MultivariateNormal", **ON),
    row("multivariate.sample()", "torch.distributions.MultivariateNormal.sample"),
    row("multivariate.log_prob(value)", "torch.distributions.MultivariateNormal.log_prob", **OFF),
    row("D.Independent(unchecked, 1)", "torch.distributions.Independent", **ON),
    row("independent.log_prob(value)", "torch.distributions.Independent.log_prob", **ON),
    row("squashed.rsample()", "torch.distributions.TransformedDistribution.rsample"),
    row("squashed.log_prob(unit)", "torch.distributions.TransformedDistribution.log_prob", **ON),
    row("D.MixtureSameFamily(categorical, normal)", "torch.distributions.MixtureSameFamily", **ON),
    row("mixture.sample()", "torch.distributions.MixtureSameFamily.sample"),
    row("mixture.log_prob(value[:, 0])", "torch.distributions.MixtureSameFamily.log_prob", **ON),
    row("D.Gamma(positive, positive, validate_args=False)", "torch.distributions.Gamma", **OFF),
    row("D.Dirichlet(positive, validate_args=False)", "torch.distributions.Dirichlet", **OFF),
    row("D.Exponential(positive, validate_args=False)", "torch.distributions.Exponential", **OFF),
    row("D.Laplace(loc, scale, validate_args=False)", "torch.distributions.Laplace", **OFF),
    row("D.LogNormal(loc, scale, validate_args=False)", "torch.distributions.LogNormal", **OFF),
    row("D.Poisson(positive, validate_args=False)", "torch.distributions.Poisson", **OFF),
    row("D.OneHotCategorical(logits=logits, validate_args=False)", "torch.distributions.OneHotCategorical", **OFF),
    row("D.Multinomial(5, probs, validate_args=False)", "torch.distributions.Multinomial", **OFF),
    row("unchecked.sample()", f"{NORMAL}.sample", **OFF),
    row("unchecked.rsample()", f"{NORMAL}.rsample", **OFF),
    row("unchecked.cdf(value)", f"{NORMAL}.cdf", **OFF),
    row("unchecked_bernoulli.log_prob(binary)", f"{BERNOULLI}.log_prob", **OFF),
    row("unchecked_beta.log_prob(unit)", "torch.distributions.Beta.log_prob", **OFF),
    row("unchecked_independent.log_prob(value)", "torch.distributions.Independent.log_prob", **OFF),
    row("unchecked_squashed.log_prob(unit)", "torch.distributions.TransformedDistribution.log_prob", **OFF),
    row("categorical.mode"),
    row("categorical.probs"),
    row("normal.stddev"),
    row("D.Normal(loc, scale).log_prob(value).sum(-1)", NORMAL, loc="device", **ON),
    row("D.Categorical(probs=torch.softmax(logits, -1)).sample()", CATEGORICAL, probs="given", **ON),
)
