"""CUDA's libraries, which are not here: their switches keep what is set and change nothing."""

from contextlib import contextmanager

from imode._switches import process as _process
from imode.errors import names_of as _names_of


class _Matmul:
    """How products on a device of CUDA's would be computed."""

    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False

    @property
    def allow_tf32(self):
        """Whether `set_float32_matmul_precision` allows less than float32."""
        return _process.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, value):
        _process.set_float32_matmul_precision("high" if value else "highest")

    def __getattr__(self, name):
        raise AttributeError(f"Unknown attribute {name}")


matmul = _Matmul()
_kernels = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def is_built():
    """False.

    >>> imode.backends.cuda.is_built()
    False
    """
    return False


def is_flash_attention_available():
    """False."""
    return False


def flash_sdp_enabled():
    """Return what `enable_flash_sdp` was told: True at first."""
    return _kernels["flash"]


def enable_flash_sdp(enabled):
    """Keep a bool: one kernel computes attention here."""
    _kernels["flash"] = bool(enabled)


def math_sdp_enabled():
    """Return what `enable_math_sdp` was told: True at first."""
    return _kernels["math"]


def enable_math_sdp(enabled):
    """Keep a bool: one kernel computes attention here."""
    _kernels["math"] = bool(enabled)


def mem_efficient_sdp_enabled():
    """Return what `enable_mem_efficient_sdp` was told: True at first."""
    return _kernels["mem_efficient"]


def enable_mem_efficient_sdp(enabled):
    """Keep a bool: one kernel computes attention here."""
    _kernels["mem_efficient"] = bool(enabled)


def cudnn_sdp_enabled():
    """Return what `enable_cudnn_sdp` was told: True at first."""
    return _kernels["cudnn"]


def enable_cudnn_sdp(enabled):
    """Keep a bool: one kernel computes attention here."""
    _kernels["cudnn"] = bool(enabled)


@contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """Keep which kernels of attention are wanted, for a block: one computes it here."""
    before = dict(_kernels)
    _kernels.update(flash=bool(enable_flash), math=bool(enable_math))
    _kernels.update(mem_efficient=bool(enable_mem_efficient), cudnn=bool(enable_cudnn))
    try:
        yield {}
    finally:
        _kernels.update(before)


__getattr__ = _names_of(__name__)
