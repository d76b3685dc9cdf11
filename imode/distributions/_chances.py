"""What distributions share that are given by probabilities or by logits."""

import imode

from .utils import _kind, broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def either(probs, logits):
    """Raise ValueError unless one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class TwoOutcomes:
    """Given by `probs` of success or by their log-odds, `logits`; the other is computed."""

    def _set_chance(self, probs, logits, *others):
        """Take the one that is given; return the others, broadcast with it."""
        either(probs, logits)
        name = "logits" if probs is None else "probs"
        *others, self._param = broadcast_all(*others, logits if probs is None else probs)
        self.__dict__[name] = self._param
        return others

    def _set_trials(self, total_count, probs, logits):
        (total_count,) = self._set_chance(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    @property
    def param_shape(self):
        """The shape of the parameter."""
        return self._param.size()

    @lazy_property
    def logits(self):
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probabilities of success."""
        return logits_to_probs(self.logits, is_binary=True)


class OverCategorical:
    """Over outcomes of a categorical distribution, `_categorical`."""

    def _new(self, *args, **kwargs):
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self):
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def logits(self):
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self):
        """The probabilities."""
        return self._categorical.probs


class OverBase:
    """Given by the parameters of `base_dist`, a relaxed distribution."""

    @property
    def temperature(self):
        """The temperature: outcomes near 0 are nearly discrete."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """The logits of the base distribution."""
        return self.base_dist.logits

    @property
    def probs(self):
        """The probabilities of the base distribution."""
        return self.base_dist.probs


def uniform(shape, like):
    """Numbers uniform in [0, 1), of the dtype of a tensor."""
    return imode.rand(shape, **_kind(like))
