"""Functions of layers that are nodes of their own in the graph."""

from imode.autograd import Function

from .. import functional as F


def _around(x, reach):
    """The sums over the channels up to `reach` before and after each."""
    padded = F.pad(x, (0, 0, 0, 0, reach, reach))
    return sum(padded.narrow(1, i, x.size(1)) for i in range(2 * reach + 1))


def _with_first(sums, x, reach):
    """PyTorch's sums: the first channel is never taken out of those that have passed it."""
    rest = x.size(1) - reach - 1
    if rest <= 0:
        return sums
    return sums + F.pad(x.narrow(1, 0, 1).repeat((1, rest, 1, 1)), (0, 0, 0, 0, reach + 1, 0))


def _with_first_backward(sums, x, reach):
    rest = x.size(1) - reach - 1
    if rest <= 0:
        return sums
    late = x.narrow(1, reach + 1, rest).sum(1, keepdim=True)
    return sums + F.pad(late, (0, 0, 0, 0, 0, x.size(1) - 1))


class CrossMapLRN2d(Function):
    """Divide each channel by a power of the mean square of those around it."""

    @staticmethod
    def forward(ctx, input, size, alpha, beta, k):
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (size - 1) // 2
        squares = input * input
        scale = _with_first(_around(squares, reach), squares, reach) * (alpha / size) + k
        ctx.save_for_backward(input, scale)
        ctx.options = reach, 2 * alpha * beta / size, beta
        return input * scale.pow(-beta)

    @staticmethod
    def backward(ctx, grad):
        input, scale = ctx.saved_tensors
        reach, factor, beta = ctx.options
        power = scale.pow(-beta)
        shares = grad * input * power / scale
        ratio = _with_first_backward(_around(shares, reach), shares, reach)
        return grad * power - input * ratio * factor, None, None, None, None
