"""Exponential families: densities h(x) exp(<θ, t(x)> - F(θ))."""

import imode

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """The base of exponential families.

    A subclass gives the natural parameters θ (`_natural_params`), the log normalizer F
    (`_log_normalizer`) and the mean of log h (`_mean_carrier_measure`); entropy and divergence
    follow from the derivative of F (F. Nielsen and R. Nock, "Entropies and cross-entropies of
    exponential families", 2010).

    >>> isinstance(imode.distributions.Poisson(2.0), imode.distributions.ExponentialFamily)
    True
    """

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def _normalizer_and_slopes(self):
        """The natural parameters, F and its derivatives by them."""
        parameters = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*parameters)
        slopes = imode.autograd.grad(normalizer.sum(), parameters, create_graph=True)
        return parameters, normalizer, slopes

    def entropy(self):
        """Return the entropy, by the derivatives of the log normalizer."""
        result = -self._mean_carrier_measure
        parameters, normalizer, slopes = self._normalizer_and_slopes()
        result += normalizer
        for parameter, slope in zip(parameters, slopes, strict=True):
            result -= (parameter * slope).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
