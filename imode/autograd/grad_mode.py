"""The guards under PyTorch's older name: `imode.autograd.grad_mode.no_grad` is `imode.no_grad`."""

from ..guards import enable_grad, inference_mode, no_grad, set_grad_enabled
from .engine import set_multithreading_enabled

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
