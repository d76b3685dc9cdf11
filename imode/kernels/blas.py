"""The thread count of the BLAS that NumPy's matrix product calls, where that is OpenBLAS."""

import ctypes

from numpy._core import _multiarray_umath

__all__ = ["thread_functions"]

_NAMES = ("scipy_openblas_{}64_", "openblas_{}64_", "scipy_openblas_{}", "openblas_{}")


def thread_functions():
    """The addresses of its get_num_threads and set_num_threads; (0, 0) where there are none."""
    try:
        library = ctypes.CDLL(_multiarray_umath.__file__)  # also finds what it was linked with
    except OSError:
        return 0, 0
    for name in _NAMES:
        found = [
            getattr(library, name.format(f"{verb}_num_threads"), None) for verb in ("get", "set")
        ]
        if None not in found:
            return tuple(ctypes.cast(function, ctypes.c_void_p).value for function in found)
    return 0, 0
