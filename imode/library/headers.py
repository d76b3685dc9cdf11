"""Where the header of kernels in C is: `imode_kernel.h`."""

import os


def get_include():
    """Return the folder of `imode_kernel.h`, for compiling kernels in C and Cython.

    >>> import os
    >>> os.path.exists(os.path.join(imode.library.get_include(), "imode_kernel.h"))
    True
    """
    return os.path.dirname(__file__)
