"""Integrals of samples by the trapezoidal rule, and matrices of powers: composed, as in PyTorch."""

from imode import errors, ops
from imode.kernels.shapes.views import wrap_dim
from imode.ops.composites_fast import replayed
from imode.ops.reductions.dims import FLOATING
from imode.ops.schema import composite

# ---- integrals ----------------------------------------------------------------------------------


def _neighbours(y, dim):
    """All samples but the last, and all but the first."""
    return ops.slice(y, dim, 0, -1), ops.slice(y, dim, 1)


def _size(y, dim):
    if y.dim() == 0:
        raise errors.shapes.no_dimensions(dim)
    return y.shape[wrap_dim(dim, y.dim())]


def _is_bool(tensor):
    return tensor.dtype.numpy.kind == "b"


def _check_step(name, y, dx):
    if _is_bool(y):
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
    return float(dx)


def _steps(name, y, x, dim):
    """The distances of the places `x` of samples, to be broadcast to them."""
    if _is_bool(y) or _is_bool(x):
        raise RuntimeError(
            f"{name}: received a bool input for `x` or `y`, but bool is not supported"
        )
    if x.dim() == 1:
        if x.shape[0] != _size(y, dim):
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        shape = [1] * y.dim()
        shape[dim] = x.shape[0]
        x = x.view(shape)
    elif x.dim() < y.dim():
        x = x.view((1,) * (y.dim() - x.dim()) + tuple(x.shape))
    before, after = _neighbours(x, dim)
    return after - before


def _nothing(y, dim):
    """The integral of no samples."""
    shape = list(y.shape)
    del shape[dim]
    return y.new_empty(shape).zero_()  # a write that its version tells of


# The order in which the overloads are tried is PyTorch's: of one call, that of the other name.
@replayed
def _trapezoid(y, x, dim):
    """Return the integral along `dim` of samples at the places `x`, by the trapezoidal rule.

    Of samples that are `dx` apart, where there are no places. Raises RuntimeError for bools, and
    where there is not one place for each sample.

    >>> imode.trapezoid(imode.tensor([1.0, 2.0, 4.0]), imode.tensor([0.0, 1.0, 3.0]))
    tensor(7.5000)
    """
    dim = wrap_dim(dim, y.dim())
    if _size(y, dim) == 0:
        return _nothing(y, dim)
    steps = _steps("trapezoid", y, x, dim)
    before, after = _neighbours(y, dim)
    return ((before + after) * steps).sum(dim) / 2.0


@replayed
def _trapezoid_dx(y, dx, dim):
    """Return the integral along `dim` of samples that are `dx` apart, by the trapezoidal rule.

    >>> imode.trapz(imode.tensor([1.0, 2.0, 4.0]), dx=2)
    tensor(9.)
    """
    if _size(y, dim) == 0:
        return _nothing(y, wrap_dim(dim, y.dim()))
    dx = _check_step("trapezoid", y, dx)
    last, first = y.select(dim, -1), y.select(dim, 0)  # in PyTorch's order: gradients add up in it
    ends = (first + last) * 0.5
    return (y.sum(dim) - ends) * dx


_X = "(Tensor y, Tensor x, *, int dim=-1) -> Tensor"
_DX = "(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor"
composite(f"trapezoid.x{_X}", variants="function")(_trapezoid)
composite(f"trapezoid.dx{_DX}", variants="function")(_trapezoid_dx)
composite(f"trapz.dx{_DX.replace('Scalar', 'float')}", variants="function")(_trapezoid_dx)
composite(f"trapz.x{_X}", variants="function")(_trapezoid)


@composite(f"cumulative_trapezoid.x{_X}", variants="function")
@replayed
def cumulative_trapezoid(y, x, dim):
    """Return the integrals along `dim` up to each sample but the first, by the trapezoidal rule.

    x: the places of the samples; without them, `dx` is how far they are apart. Raises RuntimeError
    for bools, and where there is not one place for each sample.

    >>> imode.cumulative_trapezoid(imode.tensor([1.0, 2.0, 4.0]))
    tensor([1.5000, 4.5000])
    """
    dim = wrap_dim(dim, y.dim())
    steps = _steps("cumulative_trapezoid", y, x, dim)
    before, after = _neighbours(y, dim)
    return ((before + after) * steps).cumsum(dim) / 2.0


@composite(f"cumulative_trapezoid.dx{_DX}", variants="function")
@replayed
def cumulative_trapezoid_dx(y, dx, dim):
    """Return the integrals along `dim` up to each of the samples, which are `dx` apart."""
    dx = _check_step("cumulative_trapezoid", y, dx)
    before, after = _neighbours(y, dim)
    return (dx / 2.0 * (before + after)).cumsum(dim)


# ---- powers -------------------------------------------------------------------------------------


@composite("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", variants="function")
def vander(x, N, increasing):
    """Return the matrix whose columns are the powers of a vector, the highest first.

    N: how many columns, else as many as elements. increasing: the lowest power first.

    >>> imode.vander(imode.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    result = x.new_empty(
        (x.shape[0], count), dtype=x.dtype if x.dtype.numpy.kind in FLOATING else int
    )
    if count > 0:
        result.select(1, 0).fill_(1)
    if count > 1:
        ops.slice(result, 1, 1).copy_(x.unsqueeze(1))
        ops.slice(result, 1, 1).copy_(ops.slice(result, 1, 1).cumprod(1))
    return result if increasing else result.flip((1,))
