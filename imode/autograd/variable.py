"""`Variable`, an older name for a tensor, where PyTorch has it."""

from imode._tensor.legacy import Variable, _VariableType
from imode.errors import names_of as _names_of

__all__ = ["Variable", "VariableMeta"]

VariableMeta = _VariableType

__getattr__ = _names_of(__name__)
