"""With what imode computes, as text."""

import numpy as _np

from imode import __version__, get_num_interop_threads, get_num_threads


def show():
    """Return the versions of imode and of NumPy, the widest vectors, and the CPU's level.

    >>> print(imode.__config__.show())
    imode ... built with:
      - NumPy ...
    """
    from imode._core.level import cpu_level
    from imode.backends.cpu import get_cpu_capability

    level = f", level {cpu_level()}" if cpu_level() else ""
    return (
        f"imode {__version__} built with:\n  - NumPy {_np.__version__}\n"
        f"  - CPU capability usage: {get_cpu_capability()}{level}\n"
    )


def parallel_info():
    """Return the numbers of threads."""
    return (
        f"imode.get_num_threads() : {get_num_threads()}\n"
        f"imode.get_num_interop_threads() : {get_num_interop_threads()}\n"
    )
