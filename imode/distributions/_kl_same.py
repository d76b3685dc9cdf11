"""Divergences between two distributions of one family."""

import imode
from imode import inf
from imode.nn.functional import softplus

from . import lowrank_multivariate_normal as lowrank
from ._kl import kl_divergence, register_kl
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis, _half_log_det
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost, euler_constant


def _of_itself(cls):
    return register_kl(cls, cls)


# ---- of numbers ----------------------------------------------------------------------------------


@_of_itself(Bernoulli)
def _bernoulli(p, q):
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one[q.probs == 0] = inf
    one[p.probs == 0] = 0
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zero[q.probs == 1] = inf
    zero[p.probs == 1] = 0
    return one + zero


@_of_itself(Beta)
def _beta(p, q):
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    p_total, q_total = p1 + p0, q1 + q0
    constants = q1.lgamma() + q0.lgamma() + p_total.lgamma()
    constants = constants - (p1.lgamma() + p0.lgamma() + q_total.lgamma())
    slopes = (p1 - q1) * p1.digamma(), (p0 - q0) * p0.digamma()
    return constants + slopes[0] + slopes[1] + (q_total - p_total) * p_total.digamma()


@_of_itself(Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    one_trial = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    result = p.total_count * one_trial
    result[p.total_count > q.total_count] = inf
    return result


@_of_itself(Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = inf
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@_of_itself(OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@_of_itself(Cauchy)
def _cauchy(p, q):
    # F. Chyzak and F. Nielsen, "A closed-form formula for the Kullback-Leibler divergence between
    # Cauchy distributions" (2019)
    together = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return together - (4 * p.scale * q.scale).log()


@_of_itself(ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    power = p.mean * (p.logits - q.logits)
    ours = p._cont_bern_log_norm() + imode.log1p(-p.probs)
    return power + ours + (-q._cont_bern_log_norm() - imode.log1p(-q.probs))


@_of_itself(Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    a_total, b_total = a.sum(-1), b.sum(-1)
    constants = a_total.lgamma() - b_total.lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return constants + ((a - b) * (a.digamma() - a_total.digamma().unsqueeze(-1))).sum(-1)


@_of_itself(Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@_of_itself(ExponentialFamily)
def _exponential_family(p, q):
    """Bregman's divergence of the log normalizer."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    parameters, normalizer, slopes = p._normalizer_and_slopes()
    theirs = q._natural_params
    result = q._log_normalizer(*theirs) - normalizer
    for ours, other, slope in zip(parameters, theirs, slopes, strict=True):
        result -= _sum_rightmost((other - ours) * slope, len(q.event_shape))
    return result


@_of_itself(Gamma)
def _gamma(p, q):
    rates = q.concentration * (p.rate / q.rate).log()
    constants = imode.lgamma(q.concentration) - imode.lgamma(p.concentration)
    slope = (p.concentration - q.concentration) * imode.digamma(p.concentration)
    return rates + constants + slope + (q.rate - p.rate) * (p.concentration / p.rate)


@_of_itself(Geometric)
def _geometric(p, q):
    return -p.entropy() - imode.log1p(-q.probs) / p.probs - q.logits


@_of_itself(Gumbel)
def _gumbel(p, q):
    ratio, theirs, ours = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    linear = -ratio.log() - theirs + ours
    moment = imode.exp(theirs + (1 + ratio).lgamma() - ours)
    return linear + ratio * euler_constant + moment - (1 + euler_constant)


@_of_itself(HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@_of_itself(Laplace)
def _laplace(p, q):
    ratio, gap = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + gap / q.scale + ratio * imode.exp(-gap / p.scale) - 1


@_of_itself(Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    gap = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + gap - 1 - ratio.log())


@_of_itself(Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    result[p.support.lower_bound < q.support.lower_bound] = inf
    return result


@_of_itself(Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@_of_itself(Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = inf
    return result


# ---- over other distributions --------------------------------------------------------------------


@_of_itself(Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    result = kl_divergence(p.base_dist, q.base_dist)
    return _sum_rightmost(result, p.reinterpreted_batch_ndims)


@_of_itself(TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


# ---- multivariate normal -------------------------------------------------------------------------
# ½ (log det Σ_q - log det Σ_p + tr Σ_q⁻¹ Σ_p + (μ_q - μ_p)ᵀ Σ_q⁻¹ (μ_q - μ_p) - n)


def _same_events(p, q, kind):
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {kind} Normals with different event shapes cannot be "
            "computed"
        )


def _squares(matrix):
    """The sum of the squares of each matrix: the trace of M Mᵀ."""
    n, m = matrix.shape[-2:]
    return matrix.reshape(-1, m * n).pow(2).sum(-1).reshape(matrix.shape[:-2])


def _solved(factor, *matrices):
    """The traces of Σ⁻¹ M Mᵀ, summed, where `factor` is that of Σ; all broadcast."""
    batches = (matrix.shape[:-2] for matrix in matrices)
    batch = imode.broadcast_shapes(factor.shape[:-2], *batches)
    factor = factor.expand(batch + factor.shape[-2:])
    return sum(
        _squares(
            imode.linalg.solve_triangular(
                factor, matrix.expand(batch + matrix.shape[-2:]), upper=False
            )
        )
        for matrix in matrices
    )


def _lowrank_inverse(q):
    """What the traces and distances under q need: its parts, and L⁻¹ Wᵀ D⁻¹."""
    factor, diag = q._parts()
    scaled = factor.mT / diag.unsqueeze(-2)
    return diag, imode.linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)


def _lowrank_distance(p, q):
    return lowrank._batch_lowrank_mahalanobis(*q._parts(), q.loc - p.loc, q._capacitance_tril)


@_of_itself(MultivariateNormal)
def _multivariate(p, q):
    _same_events(p, q, "Multivariate")
    ours, theirs = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    log_det = _half_log_det(theirs) - _half_log_det(ours)
    distance = _batch_mahalanobis(theirs, q.loc - p.loc)
    return log_det + 0.5 * (_solved(theirs, ours) + distance - p.event_shape[0])


@_of_itself(LowRankMultivariateNormal)
def _lowrank(p, q):
    _same_events(p, q, "Low Rank Multivariate")
    (factor, ours), (diag, a) = p._parts(), _lowrank_inverse(q)
    trace = (ours / diag).sum(-1) + _squares(factor * diag.rsqrt().unsqueeze(-1))
    trace = trace - _squares(a * ours.sqrt().unsqueeze(-2)) - _squares(a.matmul(factor))
    log_det = q._log_det() - p._log_det()
    return 0.5 * (log_det + trace + _lowrank_distance(p, q) - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _multivariate_lowrank(p, q):
    _same_events(p, q, "(Low Rank) Multivariate")
    ours, (diag, a) = p._unbroadcasted_scale_tril, _lowrank_inverse(q)
    trace = _squares(ours * diag.rsqrt().unsqueeze(-1)) - _squares(a.matmul(ours))
    log_det = q._log_det() - 2 * _half_log_det(ours)
    return 0.5 * (log_det + trace + _lowrank_distance(p, q) - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_multivariate(p, q):
    _same_events(p, q, "(Low Rank) Multivariate")
    (factor, diag), theirs = p._parts(), q._unbroadcasted_scale_tril
    trace = _solved(theirs, factor, imode.diag_embed(diag.sqrt()))
    log_det = 2 * _half_log_det(theirs) - p._log_det()
    distance = _batch_mahalanobis(theirs, q.loc - p.loc)
    return 0.5 * (log_det + trace + distance - p.event_shape[0])
