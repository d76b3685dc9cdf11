"""The CPU: the widest vectors that the kernels may use."""

from numpy._core._multiarray_umath import __cpu_features__ as _features

from imode.errors import names_of as _names_of


def get_cpu_capability():
    """Return "AVX512", "AVX2" or "DEFAULT".

    >>> imode.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    if _features.get("AVX512F"):
        return "AVX512"
    return "AVX2" if _features.get("AVX2") else "DEFAULT"


__getattr__ = _names_of(__name__)
