"""The thread count of the BLAS that NumPy's matrix product calls, if that is OpenBLAS."""

import ctypes

from numpy._core import _multiarray_umath

__all__ = ["thread_functions"]

_NAMES = ("scipy_openblas_{}64_", "openblas_{}64_", "scipy_openblas_{}", "openblas_{}")


def thread_functions():
    """The addresses of its get_num_threads and set_num_threads; (0, 0) for another BLAS."""
    try:
        library = ctypes.CDLL(_multiarray_umath.__file__)  # also finds symbols of linked libraries
    except OSError:
        return 0, 0
    for name in _NAMES:
        found = [
            getattr(library, name.format(f"{verb}_num_threads"), None) for verb in ("get", "set")
        ]
        if None not in found:
            return tuple(ctypes.cast(function, ctypes.c_void_p).value for function in found)
    return 0, 0
