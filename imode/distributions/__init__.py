"""Probability distributions, their transforms and constraints: PyTorch's torch.distributions.

A distribution samples (`sample`; `rsample`, with gradients to its parameters), and gives the
logarithm of its density (`log_prob`), its moments and its entropy. Each stands in a module of its
own, which is imported when the distribution is first used.

>>> normal = imode.distributions.Normal(imode.tensor([0.0, 1.0]), 1.0)
>>> normal.log_prob(imode.zeros(2))
tensor([-0.9189, -1.4189])
>>> imode.distributions.kl_divergence(normal, imode.distributions.Normal(0.0, 1.0))
tensor([0.0000, 0.5000])
"""

from imode import errors
from imode._core.importing import import_late as _import_late

_MODULES = ("constraints", "utils")
_TRANSFORMS = (
    *("AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform"),
    *("CorrCholeskyTransform", "CumulativeDistributionTransform", "ExpTransform"),
    *("IndependentTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform"),
    *("PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftplusTransform"),
    *("TanhTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform"),
    *("Transform", "identity_transform"),
)
_IN = {
    "bernoulli": ("Bernoulli",),
    "beta": ("Beta",),
    "binomial": ("Binomial",),
    "categorical": ("Categorical",),
    "cauchy": ("Cauchy",),
    "chi2": ("Chi2",),
    "constraint_registry": ("biject_to", "transform_to"),
    "continuous_bernoulli": ("ContinuousBernoulli",),
    "dirichlet": ("Dirichlet",),
    "distribution": ("Distribution",),
    "exp_family": ("ExponentialFamily",),
    "exponential": ("Exponential",),
    "fishersnedecor": ("FisherSnedecor",),
    "gamma": ("Gamma",),
    "generalized_pareto": ("GeneralizedPareto",),
    "geometric": ("Geometric",),
    "gumbel": ("Gumbel",),
    "half_cauchy": ("HalfCauchy",),
    "half_normal": ("HalfNormal",),
    "independent": ("Independent",),
    "inverse_gamma": ("InverseGamma",),
    "kl": ("kl_divergence", "register_kl"),
    "kumaraswamy": ("Kumaraswamy",),
    "laplace": ("Laplace",),
    "lkj_cholesky": ("LKJCholesky",),
    "log_normal": ("LogNormal",),
    "logistic_normal": ("LogisticNormal",),
    "lowrank_multivariate_normal": ("LowRankMultivariateNormal",),
    "mixture_same_family": ("MixtureSameFamily",),
    "multinomial": ("Multinomial",),
    "multivariate_normal": ("MultivariateNormal",),
    "negative_binomial": ("NegativeBinomial",),
    "normal": ("Normal",),
    "one_hot_categorical": ("OneHotCategorical", "OneHotCategoricalStraightThrough"),
    "pareto": ("Pareto",),
    "poisson": ("Poisson",),
    "relaxed_bernoulli": ("RelaxedBernoulli",),
    "relaxed_categorical": ("RelaxedOneHotCategorical",),
    "studentT": ("StudentT",),
    "transformed_distribution": ("TransformedDistribution",),
    "transforms": _TRANSFORMS,
    "uniform": ("Uniform",),
    "von_mises": ("VonMises",),
    "weibull": ("Weibull",),
    "wishart": ("Wishart",),
}
_WHERE = {name: module for module, names in _IN.items() for name in names}

__all__ = [*_WHERE]


def __getattr__(name):
    if name in _IN or name in _MODULES:
        return _import_late(f".{name}", __name__)
    if name not in _WHERE:
        raise errors.no_such_name(__name__, name)
    value = getattr(_import_late(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, *_IN, *_MODULES})
