"""What tests need: comparing tensors, and making some."""

from imode.errors import names_of as _names_of

from ._comparison import assert_allclose, assert_close
from ._creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

__getattr__ = _names_of(__name__)
