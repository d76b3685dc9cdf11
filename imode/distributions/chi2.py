"""The chi-squared distribution."""

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Sums of `df` squares of standard normal numbers.

    >>> imode.distributions.Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints = {"df": constraints.positive}
    _expands = Gamma._expands

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self):
        """The degrees of freedom."""
        return self.concentration * 2
