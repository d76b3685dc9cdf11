"""With what imode computes, as text."""

import numpy as _np

from imode import __version__, get_num_interop_threads, get_num_threads


def show():
    """Return the versions of imode and of NumPy, and the widest vectors.

    >>> print(imode.__config__.show())
    imode ... built with:
      - NumPy ...
    """
    from imode.backends.cpu import get_cpu_capability

    return (
        f"imode {__version__} built with:\n  - NumPy {_np.__version__}\n"
        f"  - CPU capability usage: {get_cpu_capability()}\n"
    )


def parallel_info():
    """Return the numbers of threads."""
    return (
        f"imode.get_num_threads() : {get_num_threads()}\n"
        f"imode.get_num_interop_threads() : {get_num_interop_threads()}\n"
    )
