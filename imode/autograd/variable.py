"""`Variable`, an older name for a tensor, where PyTorch has it."""

from imode.autograd import Variable
from imode.errors import names_of as _names_of

__all__ = ["Variable", "VariableMeta"]

VariableMeta = type(Variable)

__getattr__ = _names_of(__name__)
