"""The guards under PyTorch's older name: `imode.autograd.grad_mode.no_grad` is `imode.no_grad`."""

from contextlib import ContextDecorator

from ..guards import enable_grad, inference_mode, no_grad, set_grad_enabled
from .engine import set_multithreading_enabled
from .leaves import enforce_layout, is_layout_enforced

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class enforce_grad_layout_policy(ContextDecorator):
    """Set whether a leaf's first gradient must have the leaf's memory layout; by default it must.

    Takes effect at once, in this thread; used in a `with` or as a decorator, until the end of the
    block or call. With False, a gradient that nothing else refers to becomes `.grad` uncopied.

    >>> import imode
    >>> x = imode.ones(2, 3).t().detach().requires_grad_()
    >>> with imode.autograd.enforce_grad_layout_policy(False):
    ...     (x * imode.ones(3, 2)).sum().backward()
    >>> x.grad.stride()
    (2, 1)
    """

    def __init__(self, enable=True):
        self.prev = is_layout_enforced()
        self.mode = enable
        enforce_layout(enable)

    def __call__(self, function):
        enforce_layout(self.prev)
        return super().__call__(function)

    def _recreate_cm(self):
        return type(self)(self.mode)

    def __enter__(self):
        return None

    def __exit__(self, *exc_info):
        enforce_layout(self.prev)
