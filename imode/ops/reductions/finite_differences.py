"""The gradient of samples on a grid, by differences: composed, as in PyTorch."""

from imode import ops
from imode._core.tensor import Tensor
from imode.errors.shapes import no_dimensions, repeated_dim
from imode.kernels.shapes.views import wrap_dim
from imode.ops.composites_fast import replayed
from imode.ops.schema import composite


def _is_number(value):
    return isinstance(value, (int, float, complex)) or (
        isinstance(value, Tensor) and value.dim() == 0
    )


def _check_gradient(self, given, axes, order):
    """Refuse what cannot be differentiated; `given`: how many spacings in a list, or None."""
    if self.dtype.numpy == "uint8":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if given is not None and axes is None and given != self.dim():
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to 'self.dim() = {self.dim()}', since dim argument was not given, but got a "
            f"list of length {given}"
        )
    if given is not None and axes is not None and given != len(axes):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
            f"arguments to have the same length, but got a spacing argument of length {given} and "
            f"a dim argument of length {len(axes)}."
        )
    if order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    seen = []
    for dim in range(self.dim()) if axes is None else axes:
        axis = wrap_dim(dim, self.dim())
        if axis in seen:
            raise repeated_dim(axis)
        if self.dim() == 0:
            raise no_dimensions(dim)
        if self.shape[axis] < order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
        seen.append(axis)
    return seen


def _even(parts, order, step, last, middle):
    """Differences of samples that are `step` apart: at both ends, and between."""
    if order == 1:
        first = (parts(1, 2) - parts(0, 1)) / step
        final = (parts(last, last + 1) - parts(last - 1, last)) / step
    else:
        first = (-1.5 * parts(0, 1) + 2 * parts(1, 2) - 0.5 * parts(2, 3)) / step
        final = (
            1.5 * parts(last, last + 1)
            - 2 * parts(last - 1, last)
            + 0.5 * parts(last - 2, last - 1)
        ) / step
    return first, middle / step / 2, final


def _uneven(parts, order, steps, last, shape):
    """Differences of samples with different distances: at both ends, and between."""
    before, after = steps[:-1], steps[1:]
    both = before + after
    weights = (
        -after / (before * both),
        (after - before) / (before * after),
        before / (after * both),
    )
    weights = [weight.view(shape) for weight in weights]
    middle = (
        weights[0] * parts(0, last - 1)
        + weights[1] * parts(1, last)
        + weights[2] * parts(2, last + 1)
    )
    if order == 1:
        first = (parts(1, 2) - parts(0, 1)) / steps[0]
        final = (parts(last, last + 1) - parts(last - 1, last)) / steps[-1]
        return first, middle, final
    near, far = steps[0], steps[1]
    a = -(2 * near + far) / (near * (near + far))
    b = (near + far) / (near * far)
    c = -near / (far * (near + far))
    first = a * parts(0, 1) + b * parts(1, 2) + c * parts(2, 3)
    far, near = steps[-2], steps[-1]
    a = near / (far * (far + near))
    b = -(far + near) / (far * near)
    c = (2 * near + far) / (near * (far + near))
    final = a * parts(last - 2, last - 1) + b * parts(last - 1, last) + c * parts(last, last + 1)
    return first, middle, final


def _along(self, axis, spacing, order):
    last = self.shape[axis] - 1

    def parts(start, stop):
        return ops.slice(self, axis, start, stop)

    if isinstance(spacing, Tensor) and spacing.dim():
        steps = spacing[1:] - spacing[:-1]
        shape = [-1 if d == axis else 1 for d in range(self.dim())]
        pieces = _uneven(parts, order, steps, last, shape)
    else:
        pieces = _even(parts, order, spacing, last, parts(2, last + 1) - parts(0, last - 1))
    return ops.cat(pieces, axis)


@composite(
    "gradient(Tensor self, *, any spacing=None, any dim=None, int edge_order=1) -> any",
    variants="function",
)
@replayed
def gradient(self, spacing, dim, edge_order):
    """Return the gradients of samples along each dimension or those of `dim`, by differences.

    spacing: how far samples are apart, one number or one for each dimension, or the places of the
    samples, a vector for each. edge_order: 1 or 2, how exact the ends are. Raises RuntimeError for
    dimensions that are too short, and for spacings that do not fit.

    >>> imode.gradient(imode.tensor([1.0, 2.0, 4.0]))
    (tensor([1.0000, 1.5000, 2.0000]),)
    """
    axes = dim if dim is None or isinstance(dim, (list, tuple)) else [dim]
    if not (
        (spacing is None or _is_number(spacing) or isinstance(spacing, (list, tuple)))
        and all(isinstance(axis, int) for axis in axes or ())
    ):
        raise TypeError(
            "gradient() received an invalid combination of arguments. spacing is a number, a list "
            "of numbers or a list of Tensors, dim an int or a list of ints"
        )
    given = list(spacing) if isinstance(spacing, (list, tuple)) else None
    _check_places(given)
    axes = _check_gradient(self, None if given is None else len(given), axes, edge_order)
    if given is None:
        given = [1 if spacing is None else spacing] * len(axes)
    return tuple(
        [_along(self, axis, step, edge_order) for axis, step in zip(axes, given, strict=True)]
    )


def _check_places(given):
    for i, step in enumerate(given or ()):
        if isinstance(given[0], Tensor) and not isinstance(step, Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument 1, but got {type(step).__name__}"
            )
        if isinstance(step, Tensor) and step.dim() != 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an "
                f"element with {step.dim()} dimensions!"
            )
        if not isinstance(step, Tensor) and not _is_number(step):
            raise TypeError(
                "gradient() received an invalid combination of arguments: spacing has an element "
                f"of type {type(step).__name__}"
            )
