"""Which kernels `scaled_dot_product_attention` may use: on the CPU there is but one."""

from contextlib import contextmanager
from enum import IntEnum

from imode.backends.cuda import _kernels
from imode.errors import names_of as _names_of

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(IntEnum):
    """Kernels of attention by PyTorch's names."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self):
        return f"<SDPBackend.{self.name}: {self.value}>"

    def __str__(self):
        return f"SDPBackend.{self.name}"


_NAMES = {
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "mem_efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}


@contextmanager
def sdpa_kernel(backends, set_priority=False):
    """A block in which attention may use these kernels alone, an SDPBackend or a list of them.

    The switches in `backends.cuda` say so; on the CPU they change nothing, nor does their order.
    Raises AssertionError for what is neither.

    >>> from imode.nn.attention import SDPBackend, sdpa_kernel
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     imode.backends.cuda.flash_sdp_enabled()
    False
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    allowed = [backends] if isinstance(backends, SDPBackend) else backends
    before = dict(_kernels)
    _kernels.update({name: kernel in allowed for name, kernel in _NAMES.items()})
    try:
        yield {}
    finally:
        _kernels.update(before)


__getattr__ = _names_of(__name__)
