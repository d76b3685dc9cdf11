"""Divergences between distributions of two families."""

import math

import imode
from imode import inf

from ._kl import register_kl
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

_ROOT_2PI = math.sqrt(2 * math.pi)

# ---- infinite, for p has outcomes that q has not ------------------------------------------------

# Class of p: the parameter that has the result's shape, and the classes of q.
_INFINITE = {
    Beta: ("concentration1", (Pareto,)),
    ContinuousBernoulli: ("probs", (Pareto,)),
    Exponential: ("rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    Gamma: ("concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    Gumbel: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Laplace: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Normal: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Pareto: ("scale", (Beta, ContinuousBernoulli, Uniform)),
    Poisson: ("rate", (Bernoulli, Binomial)),
}


def _infinite(name):
    return lambda p, q: imode.full_like(getattr(p, name), inf)


for _p, (_name, _others) in _INFINITE.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite(_name))


# ---- what many need -----------------------------------------------------------------------------


def _x_log_x(x):
    return imode.xlogy(x, x)


def _where_inside(result, inside):
    """The result, infinite where p's outcomes do not lie inside of q's."""
    result[~inside] = inf
    return result


def _gamma_constant(q):
    """-log of the constant of a gamma density."""
    return q.concentration.lgamma() - q.concentration * q.rate.log()


def _mean_log(p):
    """The mean of log x, minus 1, of a uniform x: x log x - x at the ends, over their distance."""
    width = p.high - p.low
    return (_x_log_x(p.high) - _x_log_x(p.low) - width) / width


# ---- from Bernoulli and beta --------------------------------------------------------------------


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p, q):
    power = p.mean * q.logits
    return -p.entropy() - power - imode.log1p(-q.probs) - q._cont_bern_log_norm()


@register_kl(Beta, Exponential)
def _beta_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    a, total = p.concentration1, p.concentration1 + p.concentration0
    power = (q.concentration - 1) * (a.digamma() - total.digamma())
    return -p.entropy() + _gamma_constant(q) - power + q.rate * a / total


@register_kl(Beta, Normal)
def _beta_normal(p, q):
    mean, variance = p.mean, q.scale.pow(2)
    total = p.concentration1 + p.concentration0
    square = (mean * (1 - mean) / (total + 1) + mean.pow(2)) * 0.5
    distance = (square - q.loc * mean + q.loc.pow(2) * 0.5) / variance
    return -p.entropy() + 0.5 * (variance * 2 * math.pi).log() + distance


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    return _where_inside(result, (q.low <= 0) & (q.high >= 1))


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(p, q):
    constant = 0.5 * (math.log(2.0 * math.pi) + (q.loc / q.scale).square()) + q.scale.log()
    square = p.variance + p.mean.square() - 2.0 * q.loc * p.mean
    return -p.entropy() + constant + square / (2.0 * q.scale.square())


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    beyond = imode.max(q.low >= 0, q.high <= 1)
    return imode.where(beyond, imode.full_like(result, inf), result)


# ---- from exponential and gamma -----------------------------------------------------------------


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    ratio = q.rate / p.rate
    power = -q.concentration * ratio.log()
    constants = q.concentration.lgamma() + q.concentration * euler_constant
    return power + ratio + constants - (1 + euler_constant)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    width, place = p.rate * q.scale, q.loc / q.scale
    moment = imode.exp(place) * width / (width + 1)
    return width.log() - 1 - place + moment + width.reciprocal()


@register_kl(Exponential, Normal)
def _exponential_normal(p, q):
    variance, square = q.scale.pow(2), p.rate.pow(2)
    constant = 0.5 * imode.log(square * variance * 2 * math.pi)
    distance = square.reciprocal() - q.loc / p.rate + q.loc.pow(2) * 0.5
    return constant - 1 + distance / variance


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    shape, width, place = p.concentration, p.rate * q.scale, q.loc / q.scale
    ours = (shape - 1) * shape.digamma() - shape.lgamma() - shape
    moment = imode.exp(place) * (1 + width.reciprocal()).pow(-shape)
    return ours + width.log() + shape / width + moment - place


@register_kl(Gamma, Normal)
def _gamma_normal(p, q):
    shape, variance, square = p.concentration, q.scale.pow(2), p.rate.pow(2)
    constant = 0.5 * imode.log(square * variance * 2 * math.pi) - shape - shape.lgamma()
    distance = 0.5 * (shape.pow(2) + shape) / square - q.loc * shape / p.rate
    distance = distance + 0.5 * q.loc.pow(2)
    return constant + (shape - 1) * shape.digamma() + distance / variance


# ---- from numbers on the whole line -------------------------------------------------------------


@register_kl(Gumbel, Normal)
def _gumbel_normal(p, q):
    ratio = p.scale / q.scale
    spread = (math.pi * ratio * 0.5).pow(2) / 3
    gap = ((p.loc + p.scale * euler_constant - q.loc) / q.scale).pow(2) * 0.5
    return -(ratio / _ROOT_2PI).log() + spread + gap - (euler_constant + 1)


@register_kl(Laplace, Normal)
def _laplace_normal(p, q):
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    gap = 0.5 * p.loc.pow(2) - p.loc * q.loc + 0.5 * q.loc.pow(2)
    return -0.5 * imode.log(2 * ratio / math.pi) + ratio + gap / variance - 1


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    ours, theirs, ratio = p.loc / q.scale, q.loc / q.scale, (p.scale / q.scale).pow(2)
    moment = imode.exp(-ours + 0.5 * ratio + theirs)
    return -(ratio.log() * 0.5) + (ours - theirs) + moment - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    gap = p.loc - q.loc
    scaled = gap / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * imode.exp(-0.5 * scaled.pow(2))
    far = gap * imode.erf(math.sqrt(0.5) * scaled)
    constant = 0.5 * (1 + math.log(0.5 * math.pi))
    return -imode.log(p.scale / q.scale) + (near + far) / q.scale - constant


# ---- from Pareto --------------------------------------------------------------------------------


@register_kl(Pareto, Exponential)
def _pareto_exponential(p, q):
    product = p.scale * q.rate
    mean = p.alpha * product / (p.alpha - 1)
    result = (p.alpha / product).log() - p.alpha.reciprocal() + mean - 1
    return _where_inside(result, p.alpha > 1)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    mean_log = p.scale.log() + p.alpha.reciprocal()
    mean = q.rate * p.alpha * p.scale / (p.alpha - 1)
    power = (1 - q.concentration) * mean_log
    result = p.alpha.log() - mean_log + _gamma_constant(q) + power + mean - 1
    return _where_inside(result, p.alpha > 1)


@register_kl(Pareto, Normal)
def _pareto_normal(p, q):
    common = p.scale / (p.alpha - 1)
    spread = p.alpha * common.pow(2) / (p.alpha - 2)
    gap = (p.alpha * common - q.loc).pow(2)
    constant = (_ROOT_2PI * q.scale * p.alpha / p.scale).log() - p.alpha.reciprocal()
    result = constant + (spread + gap) / (2 * q.scale.pow(2)) - 1
    return _where_inside(result, p.alpha > 2)


# ---- from uniform -------------------------------------------------------------------------------


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    width = p.high - p.low
    by_one = (q.concentration1 - 1) * _mean_log(p)
    by_zero = _x_log_x(1 - p.high) - _x_log_x(1 - p.low) + width
    by_zero = (q.concentration0 - 1) * by_zero / width
    constants = q.concentration1.lgamma() + q.concentration0.lgamma()
    constants = constants - (q.concentration1 + q.concentration0).lgamma()
    result = by_zero + constants - width.log() - by_one
    return _where_inside(result, (p.high <= 1) & (p.low >= 0))


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    power = p.mean * q.logits
    result = -p.entropy() - power - imode.log1p(-q.probs) - q._cont_bern_log_norm()
    beyond = imode.max(p.high >= 1, p.low <= 0)
    return imode.where(beyond, imode.full_like(result, inf), result)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return _where_inside(result, p.low >= 0)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    power = (1 - q.concentration) * _mean_log(p)
    mean = q.rate * (p.high + p.low) / 2
    result = -(p.high - p.low).log() + _gamma_constant(q) + power + mean
    return _where_inside(result, p.low >= 0)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    common = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return common.log() + 0.5 * (high + low) - common * (imode.exp(-high) - imode.exp(-low))


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    width = p.high - p.low
    spread, gap = width.pow(2) / 12, ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return (_ROOT_2PI * q.scale / width).log() + 0.5 * (spread + gap) / q.scale.pow(2)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    constant = (q.alpha * q.scale.pow(q.alpha) * (p.high - p.low)).log()
    result = _mean_log(p) * (q.alpha + 1) - constant
    return _where_inside(result, p.low >= q.support.lower_bound)
