"""Which functions of the Array API standard compute an operator: the tables, filled."""

from imode.backends.standard import movement, pointwise, reductions  # noqa: F401 - they fill them
from imode.backends.standard.tables import OTHERS, POINTWISE, needs

__all__ = ["OTHERS", "POINTWISE", "needs"]
