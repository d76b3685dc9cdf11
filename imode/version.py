"""The version of imode, and of the libraries of devices that PyTorch is built with: none."""

from imode import __version__  # noqa: F401, a name that scripts ask for
from imode.errors import names_of as _names_of

__all__ = ["cuda", "debug", "hip", "rocm", "xpu"]

cuda = hip = rocm = xpu = None
debug = False

__getattr__ = _names_of(__name__)
