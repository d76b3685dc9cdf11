"""Distributions by what must hold of them: sums of 1, derivatives, divergences, transforms."""

import math
import warnings

import numpy as np
import pytest

import imode
from imode import distributions as d
from imode.distributions import kl

DOUBLE = imode.float64


def t(*values):
    return imode.tensor(values if len(values) > 1 else values[0], dtype=DOUBLE)


def line(low, high, n=200_001):
    """Midpoints of n equal steps, and their length."""
    step = (high - low) / n
    return imode.arange(n, dtype=DOUBLE) * step + (low + step / 2), step


# ---- densities -----------------------------------------------------------------------------------

# A distribution of numbers and a range that holds nearly all of it.
CONTINUOUS = {
    "Beta": (lambda: d.Beta(t(2.5), t(1.5)), 0, 1),
    "Cauchy": (lambda: d.Cauchy(t(1.0), t(0.001)), -9, 11),
    "Chi2": (lambda: d.Chi2(t(5.0)), 0, 80),
    "ContinuousBernoulli": (lambda: d.ContinuousBernoulli(t(0.2)), 0, 1),
    "Exponential": (lambda: d.Exponential(t(2.0)), 0, 30),
    "FisherSnedecor": (lambda: d.FisherSnedecor(t(6.0), t(40.0)), 0, 60),
    "Gamma": (lambda: d.Gamma(t(3.0), t(2.0)), 0, 40),
    "GeneralizedPareto": (lambda: d.GeneralizedPareto(t(1.0), t(2.0), t(-0.5)), 1, 5),
    "Gumbel": (lambda: d.Gumbel(t(1.0), t(2.0)), -6, 60),
    "HalfCauchy": (lambda: d.HalfCauchy(t(0.001)), 0, 10),
    "HalfNormal": (lambda: d.HalfNormal(t(2.0)), 0, 30),
    "InverseGamma": (lambda: d.InverseGamma(t(9.0), t(5.0)), 0, 40),
    "Kumaraswamy": (lambda: d.Kumaraswamy(t(2.0), t(3.0)), 0, 1),
    "Laplace": (lambda: d.Laplace(t(1.0), t(0.5)), -20, 20),
    "LogNormal": (lambda: d.LogNormal(t(0.0), t(0.5)), 0, 40),
    "MixtureSameFamily": (
        lambda: d.MixtureSameFamily(d.Categorical(t(0.3, 0.7)), d.Normal(t(-2.0, 1.0), t(0.5))),
        *(-12, 12),
    ),
    "Normal": (lambda: d.Normal(t(1.0), t(2.0)), -20, 22),
    "Pareto": (lambda: d.Pareto(t(1.0), t(9.0)), 1, 40),
    "RelaxedBernoulli": (lambda: d.RelaxedBernoulli(t(2.0), t(0.3)), 0, 1),
    "StudentT": (lambda: d.StudentT(t(9.0), t(1.0), t(0.1)), -20, 22),
    "Uniform": (lambda: d.Uniform(t(-1.0), t(3.0)), -1, 3),
    "VonMises": (lambda: d.VonMises(t(0.5), t(2.0)), -math.pi, math.pi),
    "Weibull": (lambda: d.Weibull(t(2.0), t(1.5)), 0, 40),
}
WITHOUT = {  # what is not there, in PyTorch neither; or a moment that a finite range does not show
    "cdf": {"Beta", "FisherSnedecor", "StudentT", "VonMises", "RelaxedBernoulli"},
    "icdf": {"Chi2", "Gamma", "InverseGamma", "MixtureSameFamily"},
    "moments": {"Cauchy", "HalfCauchy", "RelaxedBernoulli", "VonMises"},
    "entropy": {"FisherSnedecor", "MixtureSameFamily", "RelaxedBernoulli", "VonMises", "StudentT"},
}
EXACT = 2e-3  # of sums over so many steps, and of what lies outside of the range


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_density_has_the_integrals_that_the_methods_give(name):
    make, low, high = CONTINUOUS[name]
    dist = make()
    x, step = line(low, high)
    density = dist.log_prob(x).exp() * step
    assert density.sum().item() == pytest.approx(1, abs=EXACT)
    if name not in WITHOUT["moments"]:
        mean = (density * x).sum()
        assert dist.mean.item() == pytest.approx(mean.item(), abs=EXACT)
        variance = (density * (x - mean) ** 2).sum().item()
        assert dist.variance.item() == pytest.approx(variance, rel=0.01)
        assert dist.stddev.item() == pytest.approx(variance**0.5, rel=0.01)
    if name not in WITHOUT["entropy"] | {"Cauchy", "HalfCauchy"}:
        kept = density > 0
        entropy = -(density * dist.log_prob(x))[kept].sum().item()
        assert dist.entropy().item() == pytest.approx(entropy, abs=EXACT)
        assert dist.perplexity().item() == pytest.approx(math.exp(entropy), rel=0.01)
    if name not in WITHOUT["cdf"]:
        below = density.cumsum(0)[:: 200_001 // 10]
        found = dist.cdf((x + step / 2)[:: 200_001 // 10].clamp(max=high))
        np.testing.assert_allclose(found, below, atol=EXACT)


@pytest.mark.parametrize("name", sorted(CONTINUOUS.keys() - WITHOUT["cdf"] - WITHOUT["icdf"]))
def test_icdf_is_the_inverse_of_cdf(name):
    dist, chance = CONTINUOUS[name][0](), t(0.01, 0.3, 0.5, 0.9)
    np.testing.assert_allclose(dist.cdf(dist.icdf(chance)), chance, atol=1e-9)


DISCRETE = {
    "Bernoulli": (lambda: d.Bernoulli(t(0.3)), 2),
    "Binomial": (lambda: d.Binomial(9, t(0.3)), 10),
    "Categorical": (lambda: d.Categorical(t(0.3, 0.5, 0.2)), 3),
    "Geometric": (lambda: d.Geometric(t(0.3)), 200),
    "NegativeBinomial": (lambda: d.NegativeBinomial(t(3.5), t(0.4)), 200),
    "Poisson": (lambda: d.Poisson(t(4.0)), 100),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities_have_the_sums_that_the_methods_give(name):
    make, n = DISCRETE[name]
    dist, x = make(), imode.arange(n, dtype=DOUBLE)
    chance = dist.log_prob(x).exp()
    assert chance.sum().item() == pytest.approx(1)
    if name != "Categorical":
        mean = (chance * x).sum()
        assert dist.mean.item() == pytest.approx(mean.item())
        assert dist.variance.item() == pytest.approx((chance * (x - mean) ** 2).sum().item())
    if name not in ("NegativeBinomial", "Poisson"):
        assert dist.entropy().item() == pytest.approx(-(chance * chance.log()).sum().item())
    if dist.has_enumerate_support:
        assert dist.enumerate_support().equal(x.to(dist.enumerate_support().dtype))


def test_vectors_have_the_densities_of_their_parts():
    x = t([0.5, -1.0], [2.0, 0.0])
    normal = d.Normal(t(0.0, 1.0), t(1.0, 2.0))
    expected = normal.log_prob(x).sum(-1)
    factor = imode.diag(t(1.0, 2.0))
    low = d.LowRankMultivariateNormal(t(0.0, 1.0), imode.zeros(2, 1, dtype=DOUBLE), t(1.0, 4.0))
    for same in (
        d.Independent(normal, 1),
        d.MultivariateNormal(t(0.0, 1.0), scale_tril=factor),
        d.MultivariateNormal(t(0.0, 1.0), factor**2),
        d.MultivariateNormal(t(0.0, 1.0), precision_matrix=imode.diag(t(1.0, 0.25))),
        low,
    ):
        np.testing.assert_allclose(same.log_prob(x), expected)
        np.testing.assert_allclose(same.entropy(), normal.entropy().sum())
    multinomial = d.Multinomial(1, t(0.3, 0.7))
    one_hot = d.OneHotCategorical(t(0.3, 0.7))
    for case in one_hot.enumerate_support():
        assert multinomial.log_prob(case).item() == pytest.approx(one_hot.log_prob(case).item())
    x = t(0.2, 0.6)
    shares = d.Dirichlet(t(2.0, 3.0)).log_prob(imode.stack([x, 1 - x], -1))
    np.testing.assert_allclose(shares, d.Beta(t(2.0), t(3.0)).log_prob(x))
    np.testing.assert_allclose(  # a 1 × 1 Wishart matrix is a gamma number
        d.Wishart(t(4.0), t([[3.0]]).reshape(1, 1)).log_prob(x.reshape(2, 1, 1)),
        d.Gamma(t(2.0), t(1 / 6)).log_prob(x),
    )
    value = d.LKJCholesky(2, t(1.0)).log_prob(t([1.0, 0.0], [0.6, 0.8]))
    assert value.item() == pytest.approx(math.log(0.5))  # the correlation is uniform in (-1, 1)


# ---- samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONTINUOUS | DISCRETE)
def test_samples_have_the_mean_and_variance(name):
    dist = (CONTINUOUS | DISCRETE)[name][0]()
    x = dist.sample((20_000,)).to(DOUBLE)
    assert x.shape == (20_000,) and not x.requires_grad
    assert dist.support.check(x).all()
    if name in WITHOUT["moments"] or name == "Categorical":
        return
    error = (dist.variance / 20_000).sqrt().item()
    assert x.mean().item() == pytest.approx(dist.mean.item(), abs=5 * error)
    assert x.var().item() == pytest.approx(dist.variance.item(), rel=0.3)


@pytest.mark.parametrize(
    "make",
    [
        lambda a: d.Gamma(a, 1.0),
        lambda a: d.Gamma(1.0, a),
        lambda a: d.Beta(a, 2.0),
        lambda a: d.Beta(0.7, a),
        lambda a: d.Chi2(a),
        lambda a: d.StudentT(9.0, a, a),
        lambda a: d.FisherSnedecor(6.0, a + 4),
        lambda a: d.InverseGamma(a + 4, 1.0),
        lambda a: d.Normal(a, a),
        lambda a: d.Weibull(a, 2.0),
        lambda a: d.Kumaraswamy(a, 2.0),
        lambda a: d.ContinuousBernoulli(a / 50),
    ],
)
@pytest.mark.parametrize("value", [0.4, 3.0, 15.0])
def test_the_mean_gradient_of_samples_is_that_of_the_mean(make, value):
    a = t(value).requires_grad_()
    (slope,) = imode.autograd.grad(make(a).mean, a)
    many = t(value).expand(20_000).detach().requires_grad_()
    (slopes,) = imode.autograd.grad(make(many).rsample().sum(), many)
    error = slopes.std().item() / 20_000**0.5
    assert slopes.mean().item() == pytest.approx(
        slope.item(), abs=5 * error + 1e-3 * abs(slope.item())
    )


def test_the_derivative_of_a_gamma_number_keeps_its_quantile():
    a, x = imode.meshgrid(t(0.1, 0.9, 3.0, 7.5, 9.0, 40.0), t(0.3, 0.7, 1.0, 1.4), indexing="ij")
    x = a * x
    h = 1e-5
    by_shape = (imode.special.gammainc(a + h, x) - imode.special.gammainc(a - h, x)) / (2 * h)
    expected = -by_shape / d.Gamma(a, t(1.0)).log_prob(x).exp()
    np.testing.assert_allclose(imode._standard_gamma_grad(a, x), expected, rtol=3e-3)


def test_gradients_of_dirichlet_samples_sum_to_zero():
    """The shares always sum to 1."""
    a = t(0.5, 2.0, 30.0).requires_grad_()
    sample = d.Dirichlet(a).rsample()
    (slope,) = imode.autograd.grad(sample.sum(), a)
    np.testing.assert_allclose(slope, 0, atol=1e-12)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        (slope,) = imode.autograd.grad(
            d.Dirichlet(a).rsample().square().sum(), a, create_graph=True
        )
        slope.sum().backward()


# ---- divergences ---------------------------------------------------------------------------------


def _pairs():
    for p, q in kl._KL_REGISTRY:
        if p is not q and p.__name__ in CONTINUOUS and q.__name__ in CONTINUOUS:
            yield p.__name__, q.__name__


def test_divergences_are_the_integrals():
    compared = 0
    for p_name, q_name in _pairs():
        if "ContinuousBernoulli" in (p_name, q_name) and "Uniform" in (p_name, q_name):
            continue  # as PyTorch's: infinite where one reaches to the other's end
        p, q = CONTINUOUS[p_name][0](), CONTINUOUS[q_name][0]()
        found = d.kl_divergence(p, q).item()
        x, step = line(*CONTINUOUS[p_name][1:])
        q._validate_args = False
        log_p = p.log_prob(x)
        if not q.support.check(x).all() and q_name != "Kumaraswamy":
            assert found == math.inf, (p_name, q_name)
            continue
        terms = (log_p.exp() * (log_p - q.log_prob(x)) * step)[log_p.exp() > 0]
        assert found == pytest.approx(terms.sum().item(), abs=EXACT), (p_name, q_name)
        compared += 1
    assert compared > 15


@pytest.mark.parametrize("name", ["Normal", "Gamma", "Beta", "Laplace", "Gumbel", "Exponential"])
def test_divergence_within_a_family_is_the_integral(name):
    make, low, high = CONTINUOUS[name]
    p, cls = make(), getattr(d, name)
    q = cls(*(getattr(p, key) * 1.25 for key in p.arg_constraints))
    x, step = line(low, high)
    terms = p.log_prob(x).exp() * (p.log_prob(x) - q.log_prob(x)) * step
    assert d.kl_divergence(p, q).item() == pytest.approx(terms.sum().item(), abs=EXACT)
    assert d.kl_divergence(p, p).item() == pytest.approx(0, abs=1e-12)


def test_divergence_of_multivariate_normals_in_every_form():
    loc, factor, diag = t(0.0, 1.0), t([0.5], [1.0]).reshape(2, 1), t(1.0, 2.0)
    p = d.LowRankMultivariateNormal(loc, factor, diag)
    q = d.LowRankMultivariateNormal(loc + 1, factor * 2, diag * 3)
    forms = [(x, d.MultivariateNormal(x.loc, x.covariance_matrix)) for x in (p, q)]
    found = [d.kl_divergence(a, b).item() for a in forms[0] for b in forms[1]]
    np.testing.assert_allclose(found, found[0])
    x = p.sample((20_000,))
    assert (p.log_prob(x) - q.log_prob(x)).mean().item() == pytest.approx(found[0], abs=0.05)


def test_divergence_of_wisharts_by_bregman():
    p, q = d.Wishart(t(4.0), t([[3.0]]).reshape(1, 1)), d.Wishart(t(6.0), t([[2.0]]).reshape(1, 1))
    expected = d.kl_divergence(d.Gamma(t(2.0), t(1 / 6)), d.Gamma(t(3.0), t(1 / 4)))
    assert d.kl_divergence(p, q).item() == pytest.approx(expected.item())


# ---- transforms ----------------------------------------------------------------------------------

TRANSFORMS = [
    (d.ExpTransform(), (3,)),
    (d.SigmoidTransform(), (3,)),
    (d.SoftplusTransform(), (3,)),
    (d.TanhTransform(), (3,)),
    (d.AffineTransform(1.0, -2.0), (3,)),
    (d.ComposeTransform([d.AffineTransform(0.0, 2.0), d.StickBreakingTransform()]), (3,)),
    (d.ComposeTransform([d.ExpTransform(), d.PowerTransform(t(0.5))]), (3,)),
    (d.StickBreakingTransform(), (4,)),
    (d.CorrCholeskyTransform(), (6,)),
    (d.CumulativeDistributionTransform(d.Normal(t(0.0), t(1.0))), (3,)),
    (d.CatTransform([d.ExpTransform(), d.TanhTransform()], lengths=[1, 2]), (3,)),
    (d.StackTransform([d.ExpTransform(), d.TanhTransform()]), (2,)),
    (d.IndependentTransform(d.ExpTransform(), 1), (3,)),
    (d.ReshapeTransform((4,), (2, 2)), (4,)),
]


def _free(y):
    """The elements of y that vary on their own, as many as those of x."""
    if y.dim() == 2 and y[0, 1] == 0:
        return d.utils.tril_matrix_to_vec(y, -1)
    return y


@pytest.mark.parametrize(("transform", "shape"), TRANSFORMS, ids=lambda x: repr(x)[:30])
def test_transform_has_its_inverse_and_derivative(transform, shape):
    x = imode.randn(*shape, dtype=DOUBLE).requires_grad_()
    y = transform(x)
    assert y.shape == transform.forward_shape(x.shape)
    assert x.shape == transform.inverse_shape(y.shape)
    assert transform.codomain.check(y).all()
    np.testing.assert_allclose(transform.inv(y).detach(), x.detach(), atol=1e-7)
    n = x.numel()
    jacobian = imode.autograd.functional.jacobian(lambda x: _free(transform(x)).reshape(-1)[:n], x)
    log_det = imode.linalg.slogdet(jacobian.reshape(n, n)).logabsdet.item()
    found = transform.log_abs_det_jacobian(x, y)
    assert found.sum().item() == pytest.approx(log_det, abs=1e-7)
    assert transform.inv.log_abs_det_jacobian(y, x).sum().item() == pytest.approx(
        -log_det, abs=1e-7
    )


def test_a_cache_gives_back_x_itself():
    transform = d.TanhTransform(cache_size=1)
    x = t(50.0)
    assert transform.inv(transform(x)) is x
    with pytest.raises(ValueError, match=r"^cache_size must be 0 or 1$"):
        d.ExpTransform(2)


@pytest.mark.parametrize(
    "constraint",
    [d.constraints.positive, d.constraints.unit_interval, d.constraints.simplex,
     d.constraints.less_than(3.0), d.constraints.interval(-2.0, 5.0), d.constraints.corr_cholesky],
    ids=repr,
)  # fmt: skip
def test_registered_transforms_lead_into_the_set(constraint):
    x = imode.randn(5, 6, dtype=DOUBLE)
    for registry in (d.biject_to, d.transform_to):
        assert constraint.check(registry(constraint)(x)).all()


# ---- objects -------------------------------------------------------------------------------------


def test_errors_say_which_parameter_and_what_it_holds():
    with pytest.raises(ValueError) as caught:
        d.Normal(imode.zeros(2), imode.tensor([1.0, -1.0]))
    assert str(caught.value) == (
        "Expected parameter scale (Tensor of shape (2,)) of distribution Normal(loc: "
        "imode.Size([2]), scale: imode.Size([2])) to satisfy the constraint "
        "GreaterThan(lower_bound=0.0), but found invalid values:\ntensor([ 1., -1.])"
    )
    with pytest.raises(ValueError) as caught:
        d.Poisson(2.0).log_prob(imode.tensor(0.5))
    assert str(caught.value) == (
        "Expected value argument (Tensor of shape ()) to be within the support "
        "(IntegerGreaterThan(lower_bound=0)) of the distribution Poisson(rate: 2.0), but found "
        "invalid values:\n0.5"
    )
    with pytest.raises(
        ValueError, match=r"^Value is not broadcastable with batch_shape\+event_shape"
    ):
        d.Normal(imode.zeros(2), 1.0).log_prob(imode.zeros(3))
    with pytest.raises(ValueError, match=r"^The right-most size of value must match event_shape"):
        d.Dirichlet(imode.ones(2)).log_prob(imode.ones(3))
    with pytest.raises(ValueError, match=r"^The value argument to log_prob must be a Tensor$"):
        d.Normal(0.0, 1.0).log_prob(0.0)
    with pytest.raises(NotImplementedError, match=r"^No KL.* p type Normal and q type Cauchy$"):
        d.kl_divergence(d.Normal(0.0, 1.0), d.Cauchy(0.0, 1.0))
    with pytest.raises(
        TypeError, match=r"^Expected type_p to be a Distribution subclass but got 3$"
    ):
        d.register_kl(3, d.Normal)


def test_validation_can_be_left_out():
    assert d.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    d.Distribution.set_default_validate_args(False)
    try:
        assert d.Normal(0.0, -1.0).scale.item() == -1
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        d.Distribution.set_default_validate_args(3)


def test_what_warns():
    class Bare(d.Distribution):
        pass

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        bare = Bare()
    with pytest.warns(UserWarning, match="does not define `support`"):
        bare._validate_sample(imode.zeros(()))
    with pytest.warns(FutureWarning, match="sample_n"):
        assert d.Normal(0.0, 1.0).sample_n(3).shape == (3,)
    with pytest.warns(UserWarning, match="Low df values detected"):
        d.Wishart(1.5, imode.eye(2))

    class A(d.Normal):
        pass

    class B(d.Normal):
        pass

    d.register_kl(A, d.Normal)(lambda p, q: 1)
    d.register_kl(d.Normal, B)(lambda p, q: 2)
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(A, B\)"):
        d.kl_divergence(A(0.0, 1.0), B(0.0, 1.0))


def test_wishart_samples_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sample = d.Wishart(3.0, imode.eye(2)).rsample((50,))
    assert sample.shape == (50, 2, 2) and d.constraints.positive_definite.check(sample).all()


def test_a_lazy_property_is_computed_once_and_with_gradients():
    logits = imode.zeros(2, requires_grad=True)
    dist = d.Bernoulli(logits=logits)
    with imode.no_grad():
        probs = dist.probs
    assert dist.probs is probs and probs.requires_grad


def test_expand_of_a_subclass():
    class Scaled(d.Normal):
        def __init__(self, scale):
            super().__init__(0.0, scale)

    with pytest.raises(
        NotImplementedError, match=r"^Subclass Scaled of Normal that defines a custom"
    ):
        Scaled(1.0).expand((2,))

    class Plain(d.Normal):
        pass

    assert type(Plain(0.0, 1.0).expand((2,))) is Plain


def test_distributions_in_inference_mode():
    with imode.inference_mode():
        dist = d.Normal(imode.zeros(2), 1.0)
        assert dist.log_prob(dist.sample()).is_inference()
        assert d.Gamma(imode.ones(2), 1.0).rsample().shape == (2,)
