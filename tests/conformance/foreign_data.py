"""NumPy's arrays and scalars through every public way in, as data that can be compared."""

import numpy as np

from tests.foreign import ARRAYS, WAYS

from .observe import dtype_name


def through(lib):
    """Return a function of a way in and an array, by their names: what the way gives, described."""

    def array(way, name):
        source = ARRAYS[name]()
        return described(WAYS[way](lib, source), lib, source)

    return array


def described(value, lib, source):
    """What is compared of a result: dtype, shape, values, whether the memory is shared."""
    if isinstance(value, lib.Tensor):
        array = value.detach().numpy()
        shares = isinstance(source, np.ndarray) and array.size and np.shares_memory(array, source)
        shown = repr(array.tolist()) if array.ndim < 30 else None
        return dtype_name(value), tuple(value.shape), shown, bool(shares)
    if isinstance(value, (list, tuple)):
        return [described(item, lib, source) for item in value]
    if isinstance(value, dict):
        return {key: described(item, lib, source) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value).__name__, str(value.dtype), repr(value.tolist())
    return str(value).replace("torch.", "imode.")
