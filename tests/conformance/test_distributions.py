"""Distributions in imode and in PyTorch: moments, densities, samples, gradients, errors.

A case is an expression: `d` is the library's `distributions`, `P` makes a parameter that requires
grad, `C` a tensor that does not.
"""

import re

import pytest

from tests.conformance.side_by_side import agrees, error, run, same

MATRIX = "[[2.0, 0.5], [0.5, 1.0]]"
FACTOR = "[[1.4, 0.0], [0.3, 0.9]]"
CASES = [
    "Bernoulli(0.3)",
    "Bernoulli(P([0.0, 0.3, 0.5, 1.0]))",
    "Bernoulli(logits=P([[-2.0, 0.0], [0.5, 30.0]]))",
    "Bernoulli(P([0.3], 'float64'), validate_args=False)",
    "Beta(0.5, 2)",
    "Beta(P([0.3, 1.0, 7.0]), P([2.0, 1.0, 9.0]))",
    "Beta(P([[0.3], [20.0]], 'float64'), 0.2)",
    "Binomial(7, 0.25)",
    "Binomial(C([3.0, 0.0, 40.0]), P([0.0, 0.3, 0.9]))",
    "Binomial(5, logits=P([-1.0, 0.0, 3.0]))",
    "Categorical(P([1.0, 2.0, 0.0]))",
    "Categorical(logits=P([[0.0, -1.0, 2.0], [3.0, 3.0, 3.0]]))",
    "Categorical(P([[0.1, 0.9]], 'float64'))",
    "Cauchy(0.0, 2)",
    "Cauchy(P([1.0, -2.0]), P([0.5, 3.0]))",
    "Chi2(3.0)",
    "Chi2(P([0.5, 1.0, 30.0]))",
    "ContinuousBernoulli(0.3)",
    "ContinuousBernoulli(P([0.0, 0.1, 0.4995, 0.5, 0.9]))",
    "ContinuousBernoulli(logits=P([-3.0, 0.001, 2.0]))",
    "ContinuousBernoulli(P([0.3, 0.7]), lims=(0.2, 0.6))",
    "Dirichlet(P([0.5, 1.0, 4.0]))",
    "Dirichlet(P([[0.5, 0.7], [3.0, 2.0]]))",
    "Dirichlet(P([3.0, 2.0], 'float64'))",
    "Exponential(2)",
    "Exponential(P([0.1, 1.0, 9.0]))",
    "FisherSnedecor(3.0, 5.0)",
    "FisherSnedecor(P([1.0, 3.0, 8.0]), P([2.0, 4.0, 6.0]))",
    "Gamma(2.0, 3)",
    "Gamma(P([0.2, 1.0]), P([0.5, 1.0]))",
    "Gamma(P([0.2, 1.0, 30.0], 'float64'), P([0.5, 1.0, 2.0], 'float64'))",
    "Gamma(P([[0.2], [9.0]], 'float64'), 2.0)",
    "GeneralizedPareto(0.0, 1.0, 0.3)",
    "GeneralizedPareto(P([0.0, 1.0, 2.0, 0.0]), P([1.0, 2.0, 0.5, 1.0]), P([0.0, -0.4, 0.8, 2.0]))",
    "Geometric(0.3)",
    "Geometric(P([0.1, 1.0, 0.5]))",
    "Geometric(logits=P([-1.0, 2.0]))",
    "Gumbel(1, 2.0)",
    "Gumbel(P([0.0, -1.0]), P([0.5, 3.0]))",
    "Gumbel(P([[0.0], [2.0]]), 1.0)",
    "HalfCauchy(1.0)",
    "HalfCauchy(P([0.3, 4.0]))",
    "HalfNormal(2)",
    "HalfNormal(P([0.3, 4.0]))",
    "Independent(d.Normal(P([[0.0, 1.0], [2.0, 3.0]]), 1.0), 1)",
    "Independent(d.Bernoulli(P([[0.3, 0.6]])), 0)",
    "Independent(d.Categorical(P([[0.3, 0.7], [0.5, 0.5]])), 1)",
    "InverseGamma(3.0, 2)",
    "InverseGamma(P([0.5, 1.5, 5.0]), P([1.0, 2.0, 0.3]))",
    "Kumaraswamy(2.0, 3.0)",
    "Kumaraswamy(P([0.5, 1.0, 3.0]), P([2.0, 1.0, 0.7]))",
    "Laplace(0, 1)",
    "Laplace(P([0.0, 5.0]), P([0.3, 2.0]))",
    "LKJCholesky(2)",
    "LKJCholesky(3, P([0.5, 2.0]))",
    "LogNormal(0.0, 1)",
    "LogNormal(P([0.0, -1.0]), P([0.3, 1.0]))",
    "LogisticNormal(P([0.0, -1.0]), P([0.3, 1.0]))",
    "LogisticNormal(0.0, 1.0)",
    "LowRankMultivariateNormal(P([1.0, 2.0, 0.0]), P([[1.0], [0.5], [0.0]]), P([0.3, 1.0, 2.0]))",
    "LowRankMultivariateNormal(P([1.0, 2.0]), P([[[1.0], [0.5]]] * 3), P([0.3, 1.0]))",
    "MixtureSameFamily(d.Categorical(P([0.3, 0.7])), d.Normal(P([-1.0, 2.0]), P([0.5, 1.0])))",
    "MixtureSameFamily(d.Categorical(C([[0.3, 0.7], [0.5, 0.5]])),"
    " d.Normal(P([[-1.0, 2.0], [0.0, 1.0]]), 1.0))",
    "MixtureSameFamily(d.Categorical(P([0.3, 0.7])),"
    f" d.MultivariateNormal(P([[0.0, 1.0], [2.0, 3.0]]), C({MATRIX})))",
    "MixtureSameFamily(d.Categorical(P([0.3, 0.7])), d.Poisson(P([1.0, 9.0])))",
    "Multinomial(4, P([0.2, 0.3, 0.5]))",
    "Multinomial(3, logits=P([[0.0, -1.0], [2.0, 2.0]]))",
    f"MultivariateNormal(P([1.0, 2.0]), P({MATRIX}))",
    f"MultivariateNormal(P([1.0, 2.0]), precision_matrix=P({MATRIX}))",
    f"MultivariateNormal(P([[1.0, 2.0], [0.0, 0.0]]), scale_tril=P({FACTOR}))",
    f"MultivariateNormal(P([1.0, 2.0], 'float64'), P([{MATRIX}] * 3, 'float64'))",
    "NegativeBinomial(5, P([0.1, 0.5]))",
    "NegativeBinomial(P([0.0, 2.5]), logits=P([-1.0, 0.5]))",
    "NegativeBinomial(3.0, 0.4)",
    "Normal(0, 1)",
    "Normal(P([0.0, -1.0]), P([0.5, 3.0]))",
    "Normal(P([[0.0], [1.0]]), P([0.5, 1.0, 3.0]))",
    "Normal(P([[0.0], [1.0]], 'float64'), 2)",
    "OneHotCategorical(P([0.2, 0.3, 0.5]))",
    "OneHotCategorical(logits=P([[0.0, -1.0], [2.0, 2.0]]))",
    "OneHotCategoricalStraightThrough(P([0.2, 0.3, 0.5]))",
    "Pareto(1.0, 3)",
    "Pareto(P([1.0, 2.0, 0.5]), P([0.5, 1.5, 4.0]))",
    "Poisson(3)",
    "Poisson(P([0.0, 0.3, 40.0]))",
    "RelaxedBernoulli(C(0.7), 0.3)",
    "RelaxedBernoulli(P([0.7]), P([0.3, 0.9]))",
    "RelaxedBernoulli(P(2.0), logits=P([-1.0, 2.0]))",
    "relaxed_bernoulli.LogitRelaxedBernoulli(P(0.5), P([0.3, 0.9]))",
    "RelaxedOneHotCategorical(P(0.7), P([0.3, 0.5, 0.2]))",
    "RelaxedOneHotCategorical(P(0.7), logits=P([[0.3, 0.5], [0.0, -1.0]]))",
    "relaxed_categorical.ExpRelaxedCategorical(P(0.5), P([0.3, 0.9]))",
    "StudentT(3)",
    "StudentT(P([0.5, 1.5, 9.0]), P([0.0, 1.0, 2.0]), P([1.0, 2.0, 0.3]))",
    "TransformedDistribution(d.Normal(P([0.0, 1.0]), 1.0), d.ExpTransform())",
    "TransformedDistribution(d.Normal(P(0.0), 1.0), [d.AffineTransform(P([1.0, 2.0]), -2.0)])",
    "TransformedDistribution(d.Uniform(P([0.0, 0.0]), 1.0), [d.SigmoidTransform().inv])",
    "TransformedDistribution(d.Normal(P([[0.0, 1.0]]), 1.0), d.StickBreakingTransform())",
    "TransformedDistribution(d.Normal(P([0.0, 1.0]), 1.0), [])",
    "TransformedDistribution(d.Exponential(P([1.0])),"
    " [d.PowerTransform(P(0.5)), d.TanhTransform()])",
    "Uniform(0, 2)",
    "Uniform(P([0.0, -1.0]), P([1.0, 4.0]))",
    "VonMises(0.5, 2.0)",
    "VonMises(P([0.0, 3.0]), P([0.1, 5.0]))",
    "Weibull(1.0, 2)",
    "Weibull(P([0.5, 2.0]), P([0.7, 3.0]))",
    f"Wishart(P([3.0, 5.0]), P({MATRIX}))",
    f"Wishart(4, scale_tril=P({FACTOR}))",
    f"Wishart(P(3.5), precision_matrix=P([{MATRIX}] * 2))",
]  # fmt: skip
PROPERTIES = [
    *("has_rsample", "has_enumerate_support", "mean", "mode", "variance", "stddev", "probs"),
    *("logits", "loc", "scale", "covariance_matrix", "precision_matrix", "scale_tril"),
    *("temperature", "concentration", "concentration1", "concentration0", "rate", "df"),
]
METHODS = ["entropy", "perplexity", "enumerate_support"]


def scope(lib, leaves):
    """What a case's expression can name."""

    def constant(values, dtype="float32"):
        return lib.tensor(values, dtype=getattr(lib, dtype))

    def parameter(values, dtype="float32"):
        leaves.append(constant(values, dtype).requires_grad_())
        return leaves[-1]

    d = lib.distributions
    return {**vars(d), **{name: getattr(d, name) for name in dir(d)}, "d": d} | {
        "P": parameter,
        "C": constant,
    }


def made(lib, case, leaves=None):
    return eval(case, scope(lib, [] if leaves is None else leaves))


def attempt(function):
    """What a function returns, or how it fails."""
    found = []
    failed = error(lambda: found.append(function()))
    return found[0] if found else ["raises", *(re.sub(r"\s+", " ", text) for text in failed)]


def slopes(lib, result, leaves):
    """Gradients by all leaves of a weighted sum of a result's elements."""
    if not hasattr(result, "requires_grad") or not result.requires_grad:
        return None
    weights = lib.arange(1, result.numel() + 1, dtype=result.dtype).reshape(result.shape)
    finite = lib.where(lib.isfinite(result), result, lib.zeros_like(result))
    total = (weights * finite).sum()
    return attempt(lambda: list(lib.autograd.grad(total, leaves, None, True, allow_unused=True)))


@pytest.mark.parametrize("case", CASES)
def test_moments(lib, torch, case):
    def program(lib):
        leaves = []
        dist = made(lib, case, leaves)
        found = {name: attempt(lambda: getattr(dist, name)) for name in PROPERTIES}  # noqa: B023
        found |= {name: attempt(getattr(dist, name)) for name in METHODS}
        found["shapes"] = [list(dist.batch_shape), list(dist.event_shape)]
        for name in ("mean", "variance", "entropy"):
            value = attempt(lambda: getattr(dist, name))  # noqa: B023
            value = attempt(value) if callable(value) else value
            found[f"slopes of {name}"] = slopes(lib, value, leaves)
        found["repr"] = repr(dist)
        if "Geometric" not in case:  # has one here
            found["param_shape"] = attempt(lambda: list(dist.param_shape))
        found["support"] = attempt(lambda: repr(dist.support))
        found["constraints"] = {name: repr(c) for name, c in dist.arg_constraints.items()}
        return found

    same(run(program, lib), run(program, torch))


@pytest.mark.parametrize("case", CASES)
def test_samples_and_densities(lib, torch, case):
    def program(lib):
        leaves = []
        dist = made(lib, case, leaves)
        found = {"sample": attempt(dist.sample), "samples": attempt(lambda: dist.sample((2, 3)))}
        drawn = attempt(lambda: dist.rsample((5,)))
        found |= {"rsample": drawn, "slopes": slopes(lib, drawn, leaves)}
        value = dist.sample((4,))
        log_prob = attempt(lambda: dist.log_prob(value))
        found |= {"log_prob": log_prob, "its slopes": slopes(lib, log_prob, leaves)}
        below = attempt(lambda: dist.cdf(value))
        found |= {"cdf": below, "slopes of cdf": slopes(lib, below, leaves)}
        chance = (
            lib.rand((3, *dist.batch_shape), dtype=value.dtype)
            if value.is_floating_point()
            else lib.rand(3)
        )
        found["icdf"] = attempt(lambda: dist.icdf(chance))
        found["after"] = lib.rand(2)  # as many numbers were drawn
        return found

    same(run(program, lib), run(program, torch))


@pytest.mark.parametrize("case", CASES)
def test_expand(lib, torch, case):
    def program(lib):
        leaves = []
        dist = made(lib, case, leaves)
        entropy = attempt(dist.entropy)
        larger = dist.expand((3, *dist.batch_shape))
        value = larger.sample((2,))
        found = {name: attempt(lambda: getattr(larger, name)) for name in PROPERTIES}  # noqa: B023
        log_prob = larger.log_prob(value)
        return [
            *(found, repr(larger), type(larger).__name__, value, log_prob, entropy),
            slopes(lib, log_prob, leaves),
            "Multinomial" in case or attempt(larger.entropy),
            list(larger.expand((2, *larger.batch_shape)).batch_shape),
            error(lambda: dist.expand((2, 7, 7))),
            larger._validate_args,
        ]

    # Numbers nearly cancel in the gradients of those of low rank.
    same(run(program, lib), run(program, torch), rtol=1e-4 if "LowRank" in case else 2e-5)


PAIRS = [
    case for case in CASES
    if case.count("P(") and "float64" not in case and not case.startswith(("Mixture", "relaxed"))
]  # fmt: skip


@pytest.mark.parametrize("case", PAIRS)
def test_divergences(lib, torch, case):
    """Of each distribution from each: what broadcasts together has one."""

    def program(lib):
        found = {}
        for other in PAIRS:
            leaves = []
            p, q = made(lib, case, leaves), made(lib, other, leaves)
            result = attempt(lambda: lib.distributions.kl_divergence(p, q))  # noqa: B023
            if isinstance(result, list) and result[1] != "NotImplementedError":
                result = result[:2]  # shapes that do not broadcast: the words are the operators'
            found[other] = [result, slopes(lib, result, leaves)]
        return found

    same(run(program, lib), run(program, torch))


WRONG = [
    "Bernoulli(1.5)",
    "Bernoulli(logits=C([0.0, float('nan')]))",
    "Bernoulli()",
    "Bernoulli(0.1, 0.2)",
    "Beta(-1.0, 2.0)",
    "Beta(C([1.0, 0.0]), 2.0)",
    "Binomial(-1, 0.5)",
    "Binomial(1.5, 0.5)",
    "Binomial(2)",
    "Categorical(C(1.0))",
    "Categorical(logits=C(1.0))",
    "Categorical()",
    "Categorical(C([-1.0, 2.0]))",
    "Categorical(C([0.0, 0.0]))",
    "Cauchy(0.0, -1.0)",
    "Chi2(0.0)",
    "ContinuousBernoulli(2.0, validate_args=True)",
    "Dirichlet(C(1.0))",
    "Dirichlet(C([0.0, 1.0]))",
    "Exponential(0.0)",
    "Exponential('a')",
    "FisherSnedecor(0.0, 1.0)",
    "Gamma(0.0, 1.0)",
    "Gamma(1.0, C([1.0, -1.0]))",
    "GeneralizedPareto(0.0, -1.0, 0.0)",
    "Geometric(0.0)",
    "Geometric(C([0.5, 0.0]))",
    "Geometric(2.0)",
    "Gumbel(0.0, -1.0)",
    "HalfCauchy(-1.0)",
    "HalfNormal(-1.0)",
    "Independent(d.Normal(0.0, 1.0), 1)",
    "InverseGamma(-1.0, 1.0)",
    "Kumaraswamy(0.0, 1.0)",
    "Laplace(float('nan'), 1.0)",
    "LKJCholesky(1)",
    "LKJCholesky(2, -1.0)",
    "LogNormal(0.0, -1.0)",
    "LogisticNormal(C([0.0]), C([-1.0]))",
    "LowRankMultivariateNormal(C(0.0), C([[1.0]]), C([1.0]))",
    "LowRankMultivariateNormal(C([0.0]), C([1.0]), C([1.0]))",
    "LowRankMultivariateNormal(C([0.0]), C([[1.0], [2.0]]), C([1.0]))",
    "LowRankMultivariateNormal(C([0.0]), C([[1.0]]), C([1.0, 2.0]))",
    "LowRankMultivariateNormal(C([[0.0]] * 2), C([[[1.0]]] * 3), C([1.0]))",
    "MixtureSameFamily(d.Normal(0.0, 1.0), d.Normal(0.0, 1.0))",
    "MixtureSameFamily(d.Categorical(C([1.0, 1.0])), 3)",
    "MixtureSameFamily(d.Categorical(C([1.0, 1.0])), d.Normal(C([1.0, 1.0, 1.0]), 1.0))",
    "MixtureSameFamily(d.Categorical(C([[1.0, 1.0]] * 3)), d.Normal(C([[1.0, 1.0]] * 2), 1.0))",
    "Multinomial(1.5, C([1.0]))",
    "Multinomial(-1, C([1.0]))",
    "MultivariateNormal(C(0.0))",
    "MultivariateNormal(C([0.0]))",
    "MultivariateNormal(C([0.0]), C([[1.0]]), C([[1.0]]))",
    "MultivariateNormal(C([0.0]), C([1.0]))",
    "MultivariateNormal(C([0.0]), scale_tril=C([1.0]))",
    "MultivariateNormal(C([0.0]), precision_matrix=C([1.0]))",
    "MultivariateNormal(C([0.0, 0.0]), C([[1.0, 2.0], [2.0, 1.0]]))",
    "MultivariateNormal(C([0.0, 0.0]), scale_tril=C([[1.0, 2.0], [2.0, 1.0]]))",
    "NegativeBinomial(-1, 0.5)",
    "NegativeBinomial(1, 1.0)",
    "NegativeBinomial(1)",
    "Normal(0.0, 0.0)",
    "Normal(C([0.0, 1.0]), C([1.0, -1.0]))",
    "Normal(float('nan'), 1.0)",
    "Normal(C([0.0, 1.0]), C([1.0, 1.0, 1.0]))",
    "Normal('a', 1.0)",
    "Normal(None, 1.0)",
    "OneHotCategorical(C(1.0))",
    "Pareto(-1.0, 1.0)",
    "Poisson(-1.0)",
    "RelaxedBernoulli(C(1.0), 2.0)",
    "RelaxedOneHotCategorical(C(1.0), C(1.0))",
    "StudentT(-1.0)",
    "TransformedDistribution(d.Normal(0.0, 1.0), 3)",
    "TransformedDistribution(d.Normal(0.0, 1.0), [3])",
    "TransformedDistribution(d.Normal(0.0, 1.0), d.StickBreakingTransform())",
    "Uniform(1.0, 0.0)",
    "Uniform(C([0.0, 2.0]), 1.0)",
    "VonMises(0.0, -1.0)",
    "Weibull(-1.0, 1.0)",
    "Wishart(3.0)",
    "Wishart(0.5, C([[1.0, 0.0], [0.0, 1.0]]))",
    "Wishart(3.0, C([1.0]))",
    "PowerTransform('a')",
    "ExpTransform(cache_size=2)",
    "ReshapeTransform((2,), (3,))",
    "CatTransform([1])",
    "CatTransform([d.ExpTransform()], lengths=[1, 2])",
    "StackTransform([1])",
    "biject_to(d.constraints.dependent)",
    "transform_to(d.constraints.boolean)",
    "biject_to.register(3, 4)",
    "kl_divergence(d.Normal(0.0, 1.0), d.Poisson(1.0))",
    "kl_divergence(d.Bernoulli(0.5), d.Normal(0.0, 1.0))",
    "kl_divergence(d.Binomial(3, C(0.5)), d.Binomial(4, C(0.5)))",
    f"kl_divergence(d.MultivariateNormal(C([0.0, 0.0]), C({MATRIX})),"
    " d.MultivariateNormal(C([0.0]), C([[1.0]])))",
    "Binomial(C([1.0, 2.0]), 0.5).entropy()",
    "Binomial(C([1.0, 2.0]), 0.5).enumerate_support()",
    "Independent(d.Bernoulli(C([0.5])), 1).enumerate_support()",
    "Gumbel(0.0, 1.0).enumerate_support()",
    "Distribution().mean",
    "Distribution().mode",
    "Distribution().sample()",
    "Distribution().expand(())",
    "Distribution().log_prob(3)",
    "Poisson(1.0).rsample()",
    "Poisson(1.0).mode",
    "Normal(0.0, 1.0).log_prob(0.5)",
    "Normal(0.0, 1.0).log_prob(C([float('nan')]))",
    "Normal(C([0.0, 1.0]), 1.0).log_prob(C([1.0, 2.0, 3.0]))",
    "Gamma(1.0, 1.0).log_prob(C(-1.0))",
    "Beta(1.0, 1.0).log_prob(C([0.5, 2.0]))",
    "Bernoulli(0.5).log_prob(C(0.5))",
    "Categorical(C([1.0, 1.0])).log_prob(C(2.0))",
    "Dirichlet(C([1.0, 1.0])).log_prob(C([0.5, 0.6]))",
    "Dirichlet(C([1.0, 1.0])).log_prob(C([1.0]))",
    "Dirichlet(C([1.0, 1.0])).log_prob(C(0.5))",
    "Multinomial(2, C([1.0, 1.0])).log_prob(C([2.0, 1.0]))",
    "OneHotCategorical(C([1.0, 1.0])).log_prob(C([1.0, 1.0]))",
    "Uniform(0.0, 1.0).log_prob(C(2.0))",
    "Uniform(0.0, 1.0).cdf(C(2.0))",
    "Pareto(2.0, 1.0).log_prob(C(1.0))",
    "Poisson(1.0).log_prob(C(0.5))",
    f"Wishart(3.0, C({MATRIX})).log_prob(C([[1.0, 2.0], [2.0, 1.0]]))",
    "LKJCholesky(2).log_prob(C([[1.0, 0.0], [0.5, 0.5]]))",
    "Independent(d.Normal(C([0.0]), 1.0), 1).support.check(C(0.0))",
]


@pytest.mark.parametrize("case", WRONG)
def test_errors(lib, torch, case):
    def program(lib):
        return attempt(lambda: made(lib, case))

    same(run(program, lib), run(program, torch))


GRIDS = [
    ("C([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 1e-7, float('inf'), float('nan')])", """boolean real
        nonnegative_integer positive_integer positive nonnegative unit_interval
        integer_interval(0,1) greater_than(0.5) greater_than_eq(0.5) less_than(0.5)
        interval(-1.0,0.5) half_open_interval(-1.0,0.5) interval(C(0.0),C(1.0))
        _IntegerLessThan(1) MixtureSameFamilyConstraint(positive) independent(positive,0)"""),
    ("C([[0.0, 1.0], [0.5, 0.5], [0.3, 0.3], [2.0, -1.0], [0.0, 0.0], [3.0, 1.0]])", """one_hot
        simplex real_vector multinomial(2) independent(positive,1) independent(positive,2)
        MixtureSameFamilyConstraint(simplex) cat([positive,unit_interval],-1)
        cat([positive,boolean],0,[4,2]) stack([positive,unit_interval],-1)
        stack([simplex,real_vector,one_hot,simplex,simplex,simplex],0)"""),
    (f"C([{MATRIX}, {FACTOR}, [[1.0, 0.0], [0.6, 0.8]], [[1.0, 2.0], [2.0, 1.0]], "
     "[[0.0, 0.0], [0.0, 0.0]], [[-1.0, 0.0], [1.0, 1.0]]])", """lower_triangular lower_cholesky
        corr_cholesky square symmetric positive_semidefinite positive_definite
        independent(real,2)"""),
    ("C([[[2.0, 0.5], [0.5, 1.0]], [[0.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [2.0, 1.0]]])",
     "symmetric positive_semidefinite positive_definite"),
    ("C([[1.0, 2.0, 3.0]])", "square symmetric positive_definite"),
]  # fmt: skip


@agrees
def test_constraints(lib):
    c = lib.distributions.constraints
    found = {}
    for grid, names in GRIDS:
        known = scope(lib, []) | vars(c)
        for name in names.split():
            constraint = eval(name, known)
            found[f"{name} {grid}"] = [
                attempt(lambda: constraint.check(eval(grid, known))),  # noqa: B023
                *(repr(constraint), constraint.is_discrete, constraint.event_dim),
                attempt(lambda: repr(lib.distributions.biject_to(constraint))),  # noqa: B023
                attempt(lambda: repr(lib.distributions.transform_to(constraint))),  # noqa: B023
            ]
    dependent = c.dependent(is_discrete=True)
    return [
        *(found, dependent.is_discrete, error(lambda: dependent.event_dim)),
        *(error(lambda: c.dependent.is_discrete), error(lambda: c.dependent.check(3))),
        *(c.is_dependent(dependent), dependent(event_dim=2).event_dim),
        c.is_dependent(lib.distributions.Uniform.support),
        lib.distributions.Uniform.support.event_dim,
        *(error(lambda: c.independent(3, 1)), error(lambda: c.independent(c.real, 1.0))),
        *(error(lambda: c.independent(c.real, -1)), error(lambda: c.cat([3]))),
        *(error(lambda: c.MixtureSameFamilyConstraint(3)), error(lambda: c.stack([3]))),
        *(error(lambda: c.cat([c.real], lengths=[1, 2])), repr(lib.distributions.Normal.support)),
        error(lambda: c.cat([c.real], 3).check(lib.ones(2))),
        error(lambda: c.Constraint().check(3)),
        *(error(lambda: c.stack([c.real], 3).check(lib.ones(2))), c.cat([c.simplex]).event_dim),
        *(c.stack([c.simplex], -1).event_dim, c.stack([c.boolean]).is_discrete),
    ]  # fmt: skip


VECTOR, SQUARE = "[[0.3, -1.0, 2.0], [0.0, 0.5, 1.0]]", "[[0.3, -1.0], [0.5, 0.2]]"
TRANSFORMS = {
    f"P({VECTOR})": """ExpTransform() SigmoidTransform() SoftplusTransform() TanhTransform()
        AbsTransform() AffineTransform(1.0,-2) AffineTransform(P(1.0),P([1.0,2.0,3.0]))
        AffineTransform(0,3.0,event_dim=1) AffineTransform(C([1.0,2.0,3.0]),P([1.0,2.0,3.0]),1)
        StickBreakingTransform() SoftmaxTransform() CorrCholeskyTransform() identity_transform
        ComposeTransform([d.ExpTransform(),d.PowerTransform(P(2.0))]) ReshapeTransform((3,),(3,1))
        ReshapeTransform((2,3),(6,)) IndependentTransform(d.TanhTransform(),1)
        IndependentTransform(d.ExpTransform(),2)
        ComposeTransform([d.AffineTransform(0.0,2.0),d.StickBreakingTransform()])
        CumulativeDistributionTransform(d.Normal(P(0.0),P(2.0)))
        CatTransform([d.ExpTransform(),d.TanhTransform()],-1,[1,2])
        CatTransform([d.ExpTransform(),d.TanhTransform()])
        CatTransform([d.StickBreakingTransform(),d.StickBreakingTransform()])
        StackTransform([d.ExpTransform(),d.TanhTransform()]) LowerCholeskyTransform().inv
        StackTransform([d.ExpTransform(),d.TanhTransform(),d.AbsTransform()],-1)
        biject_to(d.constraints.simplex) transform_to(d.constraints.interval(P(1.0),P(3.0)))
        transform_to(d.constraints.less_than(P(1.0))) biject_to(d.constraints.corr_cholesky)
        biject_to(d.constraints.independent(d.constraints.positive,1))
        transform_to(d.constraints.cat([d.constraints.real,d.constraints.positive]))
        transform_to(d.constraints.stack([d.constraints.real,d.constraints.positive]))
        ExpTransform(cache_size=1) PowerTransform(2.0,cache_size=1) TanhTransform().with_cache()
        ComposeTransform([d.ExpTransform(),d.TanhTransform()],cache_size=1)
        StackTransform([d.ExpTransform()]) CatTransform([d.ExpTransform()],7)""",
    "P([0.3, 1.0, 2.0])": """ExpTransform().inv PowerTransform(2) PowerTransform(P([-1.0,0.5,2.0]))
        ComposeTransform([d.ExpTransform().inv,d.AffineTransform(1.0,2.0)]).inv
        SoftplusTransform().inv""",
    f"P([{SQUARE}, {SQUARE}])": """LowerCholeskyTransform() PositiveDefiniteTransform()
        transform_to(d.constraints.positive_definite) transform_to(d.constraints.lower_cholesky)""",
}  # fmt: skip


@pytest.mark.parametrize("grid", TRANSFORMS)
def test_transforms(lib, torch, grid):
    def program(lib):
        found = {}
        for name in TRANSFORMS[grid].split():
            leaves = []
            known = scope(lib, leaves)
            x, t = eval(grid, known), eval(name, known)
            y = attempt(lambda: t(x))  # noqa: B023
            back = attempt(lambda: t.inv(y))  # noqa: B023
            log_det = attempt(lambda: t.log_abs_det_jacobian(x, y))  # noqa: B023
            found[name] = [
                *(y, slopes(lib, y, leaves), back, log_det, slopes(lib, log_det, leaves)),
                attempt(lambda: t.inv.log_abs_det_jacobian(y, x)),  # noqa: B023
                *(repr(t), repr(t.inv), t.bijective, attempt(lambda: t.sign)),  # noqa: B023
                *(attempt(lambda: repr(t.domain)), attempt(lambda: repr(t.codomain))),  # noqa: B023
                *(attempt(lambda: t.event_dim), attempt(lambda: t.inv.domain.event_dim)),  # noqa: B023
                *(t.inv.inv is t, t == t.inv.inv, t == eval(name, scope(lib, []))),
                *(t == lib.distributions.ExpTransform(), t != t),
                [attempt(lambda: list(t.forward_shape(lib.Size(s)))) for s in SHAPES],  # noqa: B023
                [attempt(lambda: list(t.inverse_shape(lib.Size(s)))) for s in SHAPES],  # noqa: B023
                attempt(lambda: t.with_cache()(x)),  # noqa: B023
            ]
        return found

    same(run(program, lib), run(program, torch))


SHAPES = [(), (3,), (2, 3), (2, 2, 2), (6,), (3, 1)]


@agrees
def test_utils(lib):
    u = lib.distributions.utils
    x = lib.tensor([0.0, 0.25, 1.0], dtype=lib.float64)
    matrix = lib.arange(9.0).reshape(3, 3)
    return [
        *(u.broadcast_all(1, x, 2.0), u.broadcast_all(1, 2), u.broadcast_all(x[:1], x)),
        *(u.clamp_probs(x), u.probs_to_logits(x), u.probs_to_logits(x, True)),
        *(u.logits_to_probs(x), u.logits_to_probs(x, is_binary=True)),
        [u.tril_matrix_to_vec(matrix, diag) for diag in (-2, -1, 0, 1, 2)],
        [u.vec_to_tril_matrix(lib.arange(float(n)), diag) for n, diag in ((6, 0), (3, -1))],
        *(error(lambda: u.tril_matrix_to_vec(matrix, 3)), error(lambda: u.broadcast_all("a"))),
        *(error(lambda: u.vec_to_tril_matrix(lib.ones(4))), error(lambda: u.broadcast_all(1j))),
    ]


@agrees
def test_subclasses(lib):
    d = lib.distributions

    class Mine(d.Normal):
        pass

    class Shifted(d.Normal):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    class Own(d.Distribution):
        arg_constraints = {"x": d.constraints.positive}

        def __init__(self, x, validate_args=None):
            self.x = x
            super().__init__(x.shape, validate_args=validate_args)

    class Bare(d.Distribution):
        pass

    class Expands(d.Gamma):
        def __init__(self, x):
            super().__init__(x, x)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Expands, _instance)
            new.kept = True
            return super().expand(batch_shape, new)

    one = lib.ones(2)
    large = Expands(one).expand((3, 2))
    d.Distribution.set_default_validate_args(False)
    unchecked = d.Normal(0.0, -1.0).scale
    d.Distribution.set_default_validate_args(True)
    return [
        *(type(Mine(0.0, 1.0).expand((2,))).__name__, error(lambda: Shifted(0.0).expand((2,)))),
        *(error(lambda: Own(-one)), repr(Own(one)), error(lambda: Own(one).expand((2,)))),
        *(Own(-one, validate_args=False).x, error(lambda: Own(one).log_prob(one))),
        *(list(Bare(validate_args=True).batch_shape), large.rate, large.kept, unchecked),
        *(d.kl_divergence(Mine(0.0, 1.0), d.Normal(1.0, 1.0)), d.kl_divergence(large, large)),
        *(error(lambda: d.Distribution.set_default_validate_args(3)), d.Normal(0, 1).sample_n(2)),
    ]
