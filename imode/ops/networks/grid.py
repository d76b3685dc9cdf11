"""Images and volumes sampled at any places, and grids of places from affine maps.

The kernel is `imode.kernels.networks.grid`'s.
"""

import numpy as np

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode._core.user_frames import warn
from imode.kernels.networks import grid as kernels
from imode.ops.gradient_checks import expect, wanted
from imode.ops.networks import composites_fast
from imode.ops.networks.grid_gradients import gradients
from imode.ops.schema import composite, op

_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_OUTSIDE = {"zeros": 0, "border": 1, "reflection": 2}


# ---- samples ------------------------------------------------------------------------------------


def _check(input, grid, mode, outside):
    name, shapes = "grid_sampler()", f"input with sizes {list(input.shape)} and grid with sizes "
    shapes += str(list(grid.shape))
    if input.ndim == 0 or grid.ndim == 0 or input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            f"{name}: expected grid and input to have same batch size, but got {shapes}"
        )
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"{name}: expected grid to have size {input.ndim - 2} in last dimension, but got grid "
            f"with sizes {list(grid.shape)}"
        )
    for dim in range(2, input.ndim):
        if input.shape[dim] == 0:
            raise RuntimeError(
                f"{name}: expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(input.shape)} with dimension {dim} being empty"
            )
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise RuntimeError(
            f"{name}: expected {min(max(input.ndim, 4), 5)}D input and grid with same number of "
            f"dimensions, but got {shapes}"
        )
    if input.ndim == 5 and mode == 2:
        raise RuntimeError(f"{name}: bicubic interpolation only supports 4D input")
    if mode not in _MODES.values() or outside not in _OUTSIDE.values():
        raise RuntimeError(f"{name}: unknown mode {mode} or padding mode {outside}")


def _check_dtypes(n, input, grid):
    if input.dtype != grid.dtype:
        raise errors.dtypes.expected_scalar(input.dtype, grid.dtype)
    if input.dtype.kind != "f":
        name = "grid_sampler_2d_cpu_kernel_impl" if n == 2 else "grid_sampler3d_cpu"
        raise errors.dtypes.not_implemented(name, input.dtype)


_SAMPLED = "int interpolation_mode, int padding_mode, bool align_corners"


def _declare(n):
    name = f"grid_sampler_{n}d"

    def forward(input, grid, mode, outside, corners):
        _check(input, grid, mode, outside)
        _check_dtypes(n, input, grid)
        if input.ndim != n + 2:
            raise RuntimeError(f"{name}(): expected an input of {n + 2} dimensions")
        return kernels.sample(input, grid, mode, outside, corners)

    def backward(grad, input, grid, mode, outside, corners, output_mask):
        _check(input, grid, mode, outside)
        _check_dtypes(n, input, grid)
        shape = (*input.shape[:2], *grid.shape[1:-1])
        expect(f"{name}_backward", "grad_output", grad, shape, input.dtype)
        return kernels.sample_backward(
            grad, input, grid, mode, outside, corners, wanted(f"{name}_backward", output_mask, 2)[0]
        )

    of_both = op(
        f"_{name}_backward(Tensor grad_output, Tensor input, Tensor grid, {_SAMPLED}, "
        "any output_mask) -> (Tensor result, Tensor result1)",
        backward,
        differentiable=False,
        variants="",
    )

    def by_both(grad, input, grid, interpolation_mode, padding_mode, align_corners, needs):
        if is_grad_enabled():
            options = interpolation_mode, padding_mode, align_corners
            return gradients(grad, input, grid, *options)
        return of_both(grad, input, grid, interpolation_mode, padding_mode, align_corners, needs)

    ones = "1, 1" + ", 2" * n
    op(
        f"{name}(Tensor input, Tensor grid, {_SAMPLED}) -> Tensor",
        forward,
        fast=kernels.sampler,
        derivative={("input", "grid"): by_both},
        variants="function",
        doc=f"""As `grid_sample`, of {n} dimensions, with numbers for the modes.

        >>> imode.{name}(imode.ones({ones}), imode.zeros(1{", 1" * n}, {n}), 0, 0, False).item()
        1.0
        """,
    )


_declare(2)
_declare(3)


@composite(f"grid_sampler(Tensor input, Tensor grid, {_SAMPLED}) -> Tensor", variants="function")
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """As `grid_sample`, with numbers for the modes.

    >>> x, grid = imode.ones(1, 1, 2, 2), imode.zeros(1, 1, 1, 2)
    >>> imode.grid_sampler(x, grid, 0, 0, False).item()
    1.0
    """
    sampler = ops.grid_sampler_3d if input.dim() == 5 else ops.grid_sampler_2d
    return sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def _warn_of_default():
    warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        "documentation of grid_sample for details.",
    )


def _number(what, names, given):
    number = names.get(given)
    if number is None:
        *most, last = [repr(name) for name in names]
        comma = "," if what == "padding_mode" else ""
        raise ValueError(
            f"nn.functional.grid_sample(): expected {what} to be {', '.join(most)}{comma} or "
            f"{last}, but got: '{given}'"
        )
    return number


@composite(
    "grid_sample(Tensor input, Tensor grid, any mode='bilinear', any padding_mode='zeros', "
    "any align_corners=None) -> Tensor",
    fast=composites_fast.grid_sample,
    variants="nn",
)
def grid_sample(input, grid, mode, padding_mode, align_corners):
    """Sample (n, channels, height, width) at the places (n, ..., 2), or volumes at (n, ..., 3).

    Places are from -1 to 1, the last dimension first: from the middle of the first element to that
    of the last with `align_corners`, otherwise from edge to edge. `mode`: "bilinear", "nearest",
    "bicubic". `padding_mode` says what lies outside: "zeros", "border", "reflection". Raises
    ValueError for other words, RuntimeError for shapes that do not fit.

    >>> x, grid = imode.arange(4.0).view(1, 1, 2, 2), imode.zeros(1, 1, 1, 2)
    >>> imode.nn.functional.grid_sample(x, grid, align_corners=False).item()
    1.5
    """
    mode = _number("mode", _MODES, mode)
    padding_mode = _number("padding_mode", _OUTSIDE, padding_mode)
    if align_corners is None:
        _warn_of_default()
        align_corners = False
    return ops.grid_sampler(input, grid, mode, padding_mode, align_corners)


# ---- grids --------------------------------------------------------------------------------------


def _line(like, count, corners):
    """The places of `count` elements along a dimension."""
    if count <= 1:
        return like.new_zeros((count,))
    line = ops.linspace(-1, 1, count, dtype=like.dtype, device=like.device)
    return line if corners else line * (count - 1) / count


def _places(like, size, corners):
    """The places of all elements, with a one for the shift: (1, elements, dimensions + 1)."""
    lines = [_line(like, count, corners) for count in size]
    grids = ops.meshgrid(lines, indexing="ij")
    one = like.new_ones(tuple(size))
    return ops.stack([*reversed(grids), one], -1).view((1, -1, len(size) + 1))


def _affine_backward(grad, size, align_corners):
    with_one = _places(grad, size[2:], align_corners).expand((size[0], -1, -1))
    flat = grad.flatten(1, -2)
    return with_one.transpose(1, 2).bmm(flat).transpose(1, 2)


@op(
    "affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor",
    fast=kernels.affine_grid,
    derivative={"theta": _affine_backward},
    real_only="affine_grid_generator",
    variants="function",
)
def _affine_grid_generator(theta, size, align_corners):
    """Return the places that affine maps (n, 2, 3) or (n, 3, 4) give a grid of `size`.

    >>> imode.affine_grid_generator(imode.ones(1, 2, 3), (1, 1, 1, 1), False).tolist()
    [[[[1.0, 1.0]]]]
    """
    if len(size) not in (4, 5):
        raise RuntimeError(
            "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs, but got "
            f"{len(size)}d"
        )
    n, space = len(size) - 2, tuple(size[2:])
    if theta.ndim != 3 or theta.shape[1:] != (n, n + 1):
        raise RuntimeError(
            f"Expected {n}D affine matrices (n, {n}, {n + 1}), but got {list(theta.shape)}"
        )
    if theta.shape[0] != size[0]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{size[0]}, {n + 1}] but got: [{theta.shape[0]}, {n + 1}]."
        )
    result = np.empty((size[0], *space, n), theta.dtype)
    result[...] = theta[(slice(None), *[None] * n, slice(None), n)]
    for d, count in enumerate(space):  # the last dimension comes first in a place
        line = np.linspace(-1, 1, count, dtype=theta.dtype) if count > 1 else np.zeros(count)
        if not align_corners:
            line = line * ((count - 1) / count)
        shape = [1] * n
        shape[d] = count
        column = theta[(slice(None), *[None] * n, slice(None), n - 1 - d)]
        result += line.astype(theta.dtype).reshape(1, *shape, 1) * column
    return result


def _check_theta(theta, size):
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.dim() != 3 or theta.shape[1:] != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. "
            f"Got {theta.shape}."
        )


@composite(
    "affine_grid(Tensor theta, any size, any align_corners=None) -> Tensor",
    fast=composites_fast.affine_grid,
    variants="nn",
)
def affine_grid(theta, size, align_corners):
    """Return the grid for `grid_sample` that affine maps (n, 2, 3) or (n, 3, 4) make of `size`.

    `size` is that of the result of `grid_sample`, (n, channels, ...). Raises ValueError for other
    shapes, NotImplementedError for a size of another length.

    >>> theta = imode.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> imode.nn.functional.affine_grid(theta, (1, 1, 1, 2), False).tolist()
    [[[[-0.5, 0.0], [0.5, 0.0]]]]
    """
    if align_corners is None:
        _warn_of_default()
        align_corners = False
    _check_theta(theta, size)
    if align_corners and min(size[2:]) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details.",
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return ops.affine_grid_generator(theta, size, align_corners)
