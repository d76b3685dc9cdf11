"""Limiting gradients before a step."""

import math
import types

from imode import ops
from imode._core.tensor import Tensor
from imode._core.user_frames import warn
from imode.guards import no_grad

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_"]
__all__ += ["get_total_norm"]


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors together, as if they were one vector.

    `foreach` is accepted for compatibility and has no effect.

    >>> imode.nn.utils.get_total_norm([imode.tensor([3.0]), imode.tensor([4.0])])
    tensor(5.)
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return ops.tensor(0.0)
    total = _norm(ops.stack([_norm(tensor, norm_type) for tensor in tensors]), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def _norm(tensor, norm_type):
    return ops.norm(tensor.flatten(), norm_type)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale the gradients so that the norm of all together is at most max_norm; returns the norm.

    >>> x = imode.zeros(2, requires_grad=True)
    >>> x.grad = imode.tensor([3.0, 4.0])
    >>> imode.nn.utils.clip_grad_norm_(x, 1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    lazy = isinstance(parameters, types.GeneratorType)
    parameters = list(parameters)
    if lazy and not parameters:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    with no_grad():
        total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
        clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale the gradients by max_norm / total_norm if that is below 1.

    For a norm that is known, or that includes other gradients, too; see `get_total_norm`.

    >>> x = imode.zeros(2, requires_grad=True)
    >>> x.grad = imode.tensor([3.0, 4.0])
    >>> imode.nn.utils.clip_grads_with_norm_(x, 1.0, imode.tensor(5.0))
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    with no_grad():
        factor = ops.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        for grad in _grads(parameters):
            grad.mul_(factor)


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """As `clip_grad_norm_`, by its older name.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     imode.nn.utils.clip_grad_norm([], 1.0)
    tensor(0.)
    """
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limit every element of the gradients to plus or minus clip_value.

    >>> x = imode.zeros(2, requires_grad=True)
    >>> x.grad = imode.tensor([3.0, -4.0])
    >>> imode.nn.utils.clip_grad_value_(x, 3.5)
    >>> x.grad
    tensor([ 3.0000, -3.5000])
    """
    limit = float(clip_value)
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    with no_grad():
        for grad in _grads(parameters):
            grad.clamp_(min=-limit).clamp_(max=limit)


def _grads(parameters):
    return [param.grad for param in parameters if param.grad is not None]
