"""The CPU: the widest vectors that the kernels may use."""

from numpy._core._multiarray_umath import __cpu_features__ as _features

from imode._core.level import cpu_level as _cpu_level
from imode.errors import names_of as _names_of


def get_cpu_capability():
    """Return "AVX512", "AVX2" or "DEFAULT": what kernels run with, by the machine and by the
    environment variable IMODE_CPU_LEVEL, which can hold them to a lower level.

    >>> imode.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    level = _cpu_level()
    if level is None:  # by NumPy's, whose loops are all there is to choose
        return next((name for key, name in _NAMES.items() if _features.get(key)), "DEFAULT")
    return {"x86-64-v4": "AVX512", "x86-64-v3": "AVX2"}.get(level, "DEFAULT")


_NAMES = {"AVX512F": "AVX512", "AVX2": "AVX2"}

__getattr__ = _names_of(__name__)
