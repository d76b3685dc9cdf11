"""PyTorch's operator dispatcher, autograd and InferenceMode on NumPy storage."""

from . import ops
from ._core.dispatch import (
    excluded_keys,
    included_keys,
    is_grad_enabled,
    is_inference_mode_enabled,
    set_local_keys,
)
from ._core.dtype import (
    Size,
    can_cast,
    device,
    dtype,
    get_default_dtype,
    promote_types,
    set_default_dtype,
)
from ._core.keyset import DispatchKey, DispatchKeySet
from ._core.parallel import get_num_threads, set_num_threads
from ._core.tensor import Tensor
from .ops.schema import functions as _functions

globals().update(_functions)
