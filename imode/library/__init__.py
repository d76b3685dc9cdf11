"""Operators, kernels and derivatives from outside, with PyTorch's names; all can be taken back."""

from imode.errors import names_of as _names_of

from .callables import CustomOpDef, OpOverloadPacket
from .headers import get_include
from .infer import infer_schema
from .libraries import Library, fallthrough_kernel
from .libraries import _scoped_library as _scoped_library
from .opcheck import OpCheckError, opcheck
from .registering import (
    custom_op,
    define,
    impl,
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
)

__all__ = [
    "CustomOpDef",
    "Library",
    "OpCheckError",
    "OpOverloadPacket",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_include",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
]

__getattr__ = _names_of(__name__)
