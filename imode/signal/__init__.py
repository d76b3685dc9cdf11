"""What PyTorch has in torch.signal: windows."""

from imode.errors import names_of as _names_of

from . import windows

__all__ = ["windows"]

__getattr__ = _names_of(__name__)
