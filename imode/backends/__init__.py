"""Devices from outside: where tensors live and operators run that are not on the CPU.

`array_api(namespace, name)` makes one of a module that follows the Array API standard.
`Backend` is what a device of one's own derives from. See docs/extending.md.

The modules of PyTorch's names (`cudnn`, `cuda`, `mps`, ...) say that these libraries are not here;
what a script sets in them is kept and changes nothing.
"""

from imode._core.importing import import_late as _import_late
from imode.backends.array_api import array_api
from imode.backends.backend import Backend, coverage
from imode.errors import names_of as _names_of

__all__ = ["Backend", "array_api", "coverage"]

_LATER = ("cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum")
_missing = _names_of(__name__)


def __getattr__(name):
    if name in _LATER:
        return _import_late(f".{name}", __name__)
    return _missing(name)
