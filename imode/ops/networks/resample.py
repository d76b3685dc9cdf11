"""Images and their kin in other sizes: schemas, derivatives, `interpolate` and its older names.

The kernel is `imode.kernels.networks.resample`'s. Shapes are (n, channels, ...) with one to three
dimensions of space.
"""

import math

import numpy as np

from imode import errors, ops
from imode._core.layout import empty_like, is_channels_last
from imode._core.user_frames import warn
from imode.kernels.networks import resample as kernels
from imode.ops.gradient_checks import expect
from imode.ops.networks import functional_fast
from imode.ops.schema import composite, functional, op

_AXES = (("scales",), ("scales_h", "scales_w"), ("scales_d", "scales_h", "scales_w"))
_NAMED = ("W", "HW", "DHW")


# ---- checks -------------------------------------------------------------------------------------


def _check(x, size, n):
    """Of (n, channels, ...) and its new size."""
    if len(size) != n:
        raise RuntimeError(f"It is expected output_size equals to {n}, but got size {len(size)}")
    if x.ndim != n + 2:
        raise RuntimeError(f"It is expected input_size equals to {n + 2}, but got size {x.ndim}")
    given = x.shape[2:]
    if min(given) <= 0 or min(size) <= 0:
        before, after = (
            ", ".join(f"{name}: {v}" for name, v in zip(_NAMED[n - 1], sizes, strict=True))
            for sizes in (given, size)
        )
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input "
            f"({before}) {'and ' * (n == 1)}output ({after})"
        )
    if x.shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(x.shape)}"
        )
    if math.prod((*x.shape[:2], *size)) >= 1 << 59:  # the kernel counts in 64 bits
        raise errors.shapes.storage_overflow((*x.shape[:2], *size))


def _refuse(x, mode, n, smooth):
    """The error for a dtype that is not resampled in a mode."""
    if smooth:
        name = "compute_index_ranges_weights"
    elif n == 2 and mode <= kernels.EXACT:
        name = "upsample_nearest2d_channels_last"
    elif n == 2 and mode == kernels.LINEAR:
        name = "upsample_bilinear2d_channels_last"
    else:
        word = ("nearest", "nearest", "linear", "cubic")[min(mode, 3)]
        name = f"compute_indices_weights_{word}"
    return errors.dtypes.not_implemented(name, x.dtype)


# ---- bytes --------------------------------------------------------------------------------------


def _bytes_along(x, dim, places, weights):
    """Resample one dimension of bytes by weights of 16 bits, as PyTorch rounds."""
    bits, largest = 0, weights.max()
    while bits < 22 and int(0.5 + largest * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    whole = np.trunc(weights * (1 << bits) + np.where(weights < 0, -0.5, 0.5)).astype(np.int32)
    taken = x.take(places, dim).astype(np.int32)
    shape = [1] * taken.ndim
    shape[dim : dim + 2] = whole.shape
    sums = (taken * whole.reshape(shape)).sum(dim + 1) + (1 << bits >> 1)
    return (sums >> bits).clip(0, 255).astype(np.uint8)


def _bytes(x, mode, size, corners, scales, smooth):
    result = x
    for dim in (3, 2):
        count, given = size[dim - 2], x.shape[dim]
        if count == given:  # as PyTorch, whatever the factors
            continue
        places, weights = kernels.table(mode, given, count, corners, scales[dim - 2], smooth)
        result = _bytes_along(result, dim, places, weights)
    result = np.ascontiguousarray(result) if result is not x else x.copy()
    if is_channels_last(x):
        result = np.ascontiguousarray(result.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    return result


# ---- operators ----------------------------------------------------------------------------------


def _copied(x):
    made = empty_like(x)
    made[...] = x
    return made


def _forward(x, mode, n, size, corners, scales, smooth):
    _check(x, size, n)
    if smooth and x.shape[2:] == size:  # as PyTorch, whatever the factors
        return _copied(x)
    if x.dtype == np.uint8 and n == 2 and mode > kernels.EXACT:
        return _bytes(x, mode, size, corners, scales, smooth)
    whole = x.dtype == np.uint8 and mode <= kernels.EXACT
    if not (x.dtype.kind == "f" or whole) or (smooth and x.dtype == np.float16):
        raise _refuse(x, mode, n, smooth)
    made = kernels.resample(x, mode, size, corners, scales, smooth, False)
    return made.astype(np.uint8) if whole else made


def _backward(name, grad, mode, n, size, input_size, corners, scales, smooth):
    if len(input_size) != n + 2 or len(size) != n:
        raise RuntimeError(f"{name}(): expected sizes of {n} dimensions of space")
    expect(name, "grad_output", grad, (*input_size[:2], *size))
    if grad.dtype.kind != "f" or min(input_size[2:], default=1) <= 0:
        raise RuntimeError(f"{name}(): expected floats and an input that is not empty")
    return kernels.resample(grad, mode, input_size[2:], corners, scales, smooth, True)


def _declare(name, mode, n, smooth=False):
    """An operator and its gradient; those of the nearest element do not ask for corners."""
    scales = "".join(f", float? {axis}=None" for axis in _AXES[n - 1])
    cornered = "" if mode <= kernels.EXACT else ", bool align_corners"
    size = f"int[{n}] output_size"
    gradient = f"_{name.removeprefix('_')}_backward"

    def corners_and_scales(rest):
        return (rest[0], rest[1:]) if cornered else (False, rest)

    def forward(x, size, *rest):
        corners, scales = corners_and_scales(rest)
        return _forward(x, mode, n, size, corners, scales, smooth)

    def backward(grad, size, input_size, *rest):
        corners, scales = corners_and_scales(rest)
        return _backward(gradient, grad, mode, n, size, input_size, corners, scales, smooth)

    of_input = op(
        f"{gradient}(Tensor grad_output, {size}, int[] self_shape{cornered}{scales}) -> Tensor",
        backward,
        derivative={"grad_output": _again(name, n, cornered)},
        variants="",
    )
    resample = op(
        f"{name}(Tensor self, {size}{cornered}{scales}) -> Tensor",
        forward,
        fast=None if smooth else kernels.upsampling(mode, n),
        derivative={"self": of_input},
        real_only=name,
        variants="",
        doc="What `imode.nn.functional.interpolate` ends in.",
    )

    def by_size_or_factors(x, size, *rest):
        *corners, factors = rest
        if (size is None) == (factors is None):
            raise RuntimeError("Must specify exactly one of output_size and scale_factors")
        given = factors if size is None else size
        if len(given) != n or x.dim() != n + 2:
            raise RuntimeError(f"{name}(): expected {n} dimensions of space, and as many sizes")
        if size is not None:
            return resample(x, size, *corners)
        return resample(x, _scaled(x, factors), *corners, *factors)

    composite(
        f"{name}.vec(Tensor input, int[]? output_size{cornered}, any scale_factors) -> Tensor",
        variants="",
        doc="The same, by the size of the result or by factors.",
    )(by_size_or_factors)
    return resample


def _scaled(x, factors):
    """The size that factors give."""
    return tuple([int(have * by) for have, by in zip(x.shape[2:], factors, strict=True)])


def _again(name, n, cornered):
    """The gradient's derivative: resampling again, with what its parameters say is kept."""
    if cornered:
        return (
            lambda grad, output_size, align_corners, scales: getattr(ops, name)(
                grad, output_size, align_corners, scales
            ),
            lambda grad, output_size, align_corners, scales_h, scales_w: getattr(ops, name)(
                grad, output_size, align_corners, scales_h, scales_w
            ),
            lambda grad, output_size, align_corners, scales_d, scales_h, scales_w: getattr(
                ops, name
            )(grad, output_size, align_corners, scales_d, scales_h, scales_w),
        )[n - 1]
    return (
        lambda grad, output_size, scales: getattr(ops, name)(grad, output_size, scales),
        lambda grad, output_size, scales_h, scales_w: getattr(ops, name)(
            grad, output_size, scales_h, scales_w
        ),
        lambda grad, output_size, scales_d, scales_h, scales_w: getattr(ops, name)(
            grad, output_size, scales_d, scales_h, scales_w
        ),
    )[n - 1]


_SMOOTH = {
    "bilinear": _declare("_upsample_bilinear2d_aa", kernels.LINEAR, 2, True),
    "bicubic": _declare("_upsample_bicubic2d_aa", kernels.CUBIC, 2, True),
    "lanczos": _declare("_upsample_lanczos2d_aa", kernels.LANCZOS, 2, True),
}
_PLAIN = {
    **{("nearest", n): _declare(f"upsample_nearest{n}d", kernels.NEAREST, n) for n in (1, 2, 3)},
    **{
        ("nearest-exact", n): _declare(f"_upsample_nearest_exact{n}d", kernels.EXACT, n)
        for n in (1, 2, 3)
    },
    ("linear", 1): _declare("upsample_linear1d", kernels.LINEAR, 1),
    ("bilinear", 2): _declare("upsample_bilinear2d", kernels.LINEAR, 2),
    ("trilinear", 3): _declare("upsample_trilinear3d", kernels.LINEAR, 3),
    ("bicubic", 2): _declare("upsample_bicubic2d", kernels.CUBIC, 2),
}
_NEEDS = {"linear": 1, "bilinear": 2, "trilinear": 3}
_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


# ---- interpolate --------------------------------------------------------------------------------


def _mismatch(input, what, given):
    sizes, shape, o, of = (
        ("output", "output size", "o", "output size")
        if what == "size"
        else ("scale_factor", "scale_factor of shape", "s", "scale_factor")
    )
    return ValueError(
        f"Input and {sizes} must have the same number of spatial dimensions, but got input with "
        f"spatial dimensions of {list(input.shape[2:])} and {shape}"
        f"{' of' if what == 'size' else ''} {given}. Please provide input tensor in (N, C, d1, d2, "
        f"...,dK) format and {of} in ({o}1, {o}2, ...,{o}K) format."
    )


def _is_whole(value):
    return hasattr(value, "__index__")


def _sizes(input, size, scale_factor, n):
    """The wanted sizes and the factors, or None for what was not given."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (tuple, list)):
            return (size,) * n, None
        if len(size) != n:
            raise _mismatch(input, "size", size)
        if not all(map(_is_whole, size)):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                f"Tuple[int, int, int], but got size with types {[type(x) for x in size]}"
            )
        return tuple(size), None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, (tuple, list)):
        return None, (scale_factor,) * n
    if len(scale_factor) != n:
        raise _mismatch(input, "scale_factor", scale_factor)
    return None, tuple(scale_factor)


def _no_such_mode(dim, mode):
    if mode in _NEEDS and dim in (3, 4, 5):
        return NotImplementedError(
            f"Got {dim}D input, but {mode} mode needs {_NEEDS[mode] + 2}D input"
        )
    return NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dim}D) for the modes: "
        f"{_MODES} (got {mode})"
    )


def _smooth(mode, dim, antialias, align_corners):
    """The operator of a smooth mode, if it is one."""
    if antialias and not (mode in _SMOOTH and dim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "lanczos" and dim == 4:
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    return _SMOOTH[mode] if antialias else None


@functional("interpolate")
def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Resample (n, channels, ...) with one to three dimensions of space to another size.

    The size is given, or follows from factors, one or one for each dimension. `mode`: "nearest",
    "nearest-exact", "area"; "linear", "bilinear" or "trilinear", by the dimensions; "bicubic";
    "lanczos". `align_corners` keeps the corners where they are; `recompute_scale_factor` places
    elements by the sizes alone; `antialias` widens the filter where images shrink. Raises
    ValueError or NotImplementedError for what does not go together.

    >>> imode.nn.functional.interpolate(imode.tensor([[[1.0, 3.0]]]), scale_factor=2).tolist()
    [[[1.0, 1.0, 3.0, 3.0]]]
    """
    made = functional_fast.interpolate(
        input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
    )
    if made is not NotImplemented:
        return made
    dim = input.dim()
    n = dim - 2
    corners = ()
    if mode not in ("nearest", "nearest-exact", "area"):
        corners = (bool(align_corners),)
    elif align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    size, factors = _sizes(input, size, scale_factor, n)
    if recompute_scale_factor and factors is None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if size is None:
        size = _scaled(input, factors)
    if factors is None or recompute_scale_factor:
        factors = (None,) * n
    resample = _PLAIN.get((mode, n))
    if antialias or resample is None:
        resample = _smooth(mode, dim, antialias, align_corners) or resample
    if resample is not None:
        return resample(input, size, *corners, *factors)
    if mode != "area" or n not in (1, 2, 3):
        raise _no_such_mode(dim, mode)
    pool = (ops.adaptive_avg_pool1d, ops.adaptive_avg_pool2d, ops.adaptive_avg_pool3d)[n - 1]
    return pool(input, size)


def _deprecated(name):
    warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
    )


@functional("upsample")
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """As `interpolate`, its older name; warns.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     imode.nn.functional.upsample(imode.ones(1, 1, 2), 3).shape
    imode.Size([1, 1, 3])
    """
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@functional("upsample_nearest")
def upsample_nearest(input, size=None, scale_factor=None):
    """As `interpolate` with the nearest elements, an older name; warns.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     imode.nn.functional.upsample_nearest(imode.ones(1, 1, 2), 3).shape
    imode.Size([1, 1, 3])
    """
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


@functional("upsample_bilinear")
def upsample_bilinear(input, size=None, scale_factor=None):
    """As `interpolate` with mode "bilinear" and aligned corners, an older name; warns.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     imode.nn.functional.upsample_bilinear(imode.ones(1, 1, 2, 2), 3).shape
    imode.Size([1, 1, 3, 3])
    """
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
