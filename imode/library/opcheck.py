"""`opcheck`: whether an operator does what its schema says."""

from imode import errors
from imode._core.dispatch import Kind, Operator
from imode._core.internals import share_memory
from imode._core.layers import layers_of, signature, slot_of
from imode._core.tensor import Tensor

from .callables import CustomOpDef, OpOverloadPacket
