"""Operators and kernels of your own."""

import os


def get_include():
    """The folder of `imode_kernel.h`, for compiling kernels in C and Cython.

    >>> import os
    >>> os.path.exists(os.path.join(imode.library.get_include(), "imode_kernel.h"))
    True
    """
    return os.path.dirname(__file__)
