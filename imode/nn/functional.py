"""The functions behind the layers: the operators of imode.nn.functional, as the table has them."""

from imode.ops.schema import nn_functions as _nn_functions

globals().update(_nn_functions)

__all__ = sorted(_nn_functions)
