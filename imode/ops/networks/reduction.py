"""How losses reduce their elements: by name, as older programs said it, by the name's number."""

from imode import errors
from imode._core.dispatch import is_grad_enabled, is_inference_mode_enabled
from imode._core.user_frames import warn
from imode.kernels.networks.loss import Reduction
from imode.ops.composites_fast import varies

NONE, MEAN, SUM = Reduction.NONE.value, Reduction.MEAN.value, Reduction.SUM.value
_NUMBERS = {each.name.lower(): each.value for each in Reduction}


def older_reduction(size_average, reduce, warns=True):
    """The name that the two older booleans stand for; None means True."""
    mean = size_average is None or size_average
    name = ("mean" if mean else "sum") if reduce is None or reduce else "none"
    if warns:
        varies()
        warn(
            "size_average and reduce args will be deprecated, "
            f"please use reduction='{name}' instead."
        )
    return name


def reduction_number(size_average, reduce, reduction):
    """The number of a reduction; the two older booleans outrank its name."""
    if size_average is not None or reduce is not None:
        reduction = older_reduction(size_average, reduce)
    try:
        return _NUMBERS[reduction]
    except KeyError:
        raise errors.arguments.reduction(reduction) from None


def reduce_losses(losses, reduction):
    """The losses' mean, sum, or, by any other number, themselves."""
    if reduction == MEAN:
        return losses.mean()
    return losses.sum() if reduction == SUM else losses


def check_constant(function, argument, tensor):
    """Refuse what requires grad where a function is recorded that has no derivative by it."""
    if tensor is None or not tensor.requires_grad:
        return
    if is_grad_enabled() and not is_inference_mode_enabled():
        raise errors.graph.constant_argument(function, argument)
