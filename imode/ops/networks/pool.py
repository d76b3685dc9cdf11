"""The largest and the mean of windows of signals and images: schemas, derivatives, compositions.

The kernels are `imode.kernels.networks.pool`'s. Shapes are (n, channels, height, width), or
without n.
"""

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode._core.internals import array_of
from imode._core.layout import is_channels_last
from imode.kernels.networks import pool
from imode.ops.gradient_checks import expect, expect_float
from imode.ops.networks import composites_fast
from imode.ops.pointwise.common import zeros
from imode.ops.schema import Out, composite, op

# ---- the largest of a window --------------------------------------------------------------------


def at_maxima(x, indices, space=2):
    """The elements of x at `indices`, positions in each plane, or volume where space is 3."""
    if indices.numel() == 0:
        return ops.empty_like(indices, dtype=x.dtype)
    last = indices.dim() == space + 2 and is_channels_last(array_of(indices))
    order = "channels_last" if space == 2 else "channels_last_3d"
    x = x.contiguous(memory_format=order if last else "contiguous_format")
    planes = (*indices.shape[:-space], -1)
    if space == 2:
        return x.view(planes).gather(-1, indices.view(planes)).view(indices.shape)
    return x.reshape(planes).gather(-1, indices.reshape(planes)).reshape(indices.shape)


op(
    "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2]? stride=None, "
    "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor result, Tensor result1)",
    pool.max_pool2d_with_indices,
    derivative={
        "self": lambda grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1: (
            ops.max_pool2d_with_indices_backward(
                grad, self, kernel_size, stride or (), padding, dilation, ceil_mode, result1
            )
        ),
    },
    shows={
        "kernel_size": True,
        "stride": lambda stride: stride or (),
        "padding": True,
        "dilation": True,
        "ceil_mode": True,
    },
    variants="nn",
    doc="""Return the largest element of each window and its position in its plane.

    Positions are int64, `row * width + column`. NaN counts as largest. Raises RuntimeError for
    windows that do not fit.

    >>> imode.nn.functional.max_pool2d_with_indices(imode.arange(4.0).view(1, 2, 2), 2)[1].item()
    3
    """,
)


@composite(
    "max_pool2d_with_indices.nn(Tensor self, int[2] kernel_size, int[2]? stride=None, "
    "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False, bool return_indices=False) -> any",
    variants="nn",
)
def _max_pool2d_with_indices_nn(
    self, kernel_size, stride, padding, dilation, ceil_mode, return_indices
):
    """Return the same, whatever `return_indices` is."""
    return ops.max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)


def _at_indices(name, grad, x, indices):
    expect_pooled(name, grad, x)
    expect(name, "indices", indices, grad.shape, "int64")
    return pool.max_pool_backward(grad, x, indices, 2)


def expect_pooled(kernel, grad, x, space=2):
    """A gradient of one number per window of x, over two dimensions or three."""
    expect_float(kernel, "self", x, (space + 1, space + 2))
    expect(kernel, "grad_output", grad, x.shape[:-space] + grad.shape[-space:], x.dtype)


def expect_nonempty(kernel, name, shape):
    """Of adaptive windows: nothing but the batch may be empty."""
    for dim in range(1, len(shape)):
        if shape[dim] == 0:
            raise errors.shapes.empty_part(kernel, name, shape, dim)


_AT_INDICES = {"grad_output": lambda grad, indices: at_maxima(grad, indices), "self": zeros}


@op(
    "_adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
    derivative=_AT_INDICES,
    name="AdaptiveMaxPool2DBackwardBackward0",
)
def _adaptive_max_pool2d_backward(grad, x, indices):
    expect_nonempty("adaptive_max_pool2d_backward", "grad_output", grad.shape)
    return _at_indices("adaptive_max_pool2d_backward", grad, x, indices)


@op(
    "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
    "int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
    derivative=_AT_INDICES,
    variants="",
)
def _max_pool2d_backward(grad, x, kernel_size, stride, padding, dilation, ceil_mode, indices):
    """The gradient of `max_pool2d_with_indices`: where the largest elements were.

    `indices` alone tells where; the other arguments are those of the pooling.

    >>> x, where = imode.ones(1, 2, 2), imode.tensor([[[3]]])
    >>> given = (imode.ones(1, 1, 1), x, 2, 2, 0, 1, False, where)
    >>> imode.ops.max_pool2d_with_indices_backward(*given).tolist()
    [[[0.0, 0.0], [0.0, 1.0]]]
    """
    return _at_indices("max_pool2d_with_indices_backward", grad, x, indices)


@composite(
    "max_pool2d(Tensor self, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, "
    "int[2] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor",
    fast=composites_fast.max_pool2d,
    variants="function nn",
)
def max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    """Return the largest element of each window of (n, channels, height, width).

    `stride` is the kernel's size unless given. NaN counts as largest. `return_indices` also gives
    the positions in each plane. Raises RuntimeError for windows that do not fit.

    >>> imode.max_pool2d(imode.arange(16.0).view(1, 1, 4, 4), 2).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    both = ops.max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


@op(
    "_max_pool1d(Tensor self, int[1] kernel_size, int[1] stride, int[1] padding, int[1] dilation, "
    "bool ceil_mode) -> Tensor",
    fast=pool.max_pool1d,
    differentiable=False,
)
def _max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode):
    k, s, p, d = (1, *kernel_size), (1, *stride), (0, *padding), (1, *dilation)
    return pool.max_pool2d(self[..., None, :], k, s, p, d, ceil_mode)[0].squeeze(-2)


def check_1d(name, self, **sizes):
    """Of operators over one dimension that are computed as over two."""
    if self.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {self.dim()}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {name})"
        )
    for size, given in sizes.items():
        if given is not None and len(given) != 1:
            raise RuntimeError(
                f"{name}() argument '{size}' should contain one int (got {len(given)})"
            )


def _check_pool1d(name, self, kernel_size, stride, padding, dilation, ceil_mode):
    """max_pool1d's own checks, in its own words."""
    shape = list(self.shape)
    if self.dim() not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{shape}"
        )
    for given, size, may_be in (
        ("kernel_size", kernel_size, "an int, list of ints"),
        ("stride", stride, "None, an int, list of ints,"),
        ("padding", padding, "an int, list of ints,"),
        ("dilation", dilation, "an int, list of ints"),
    ):
        if len(size) != 1:
            raise RuntimeError(
                f"{name}() {given} must be {may_be} or tuple of ints of size 1 but got size "
                f"{len(size)}"
            )
    (k,), (s,), (p,), (d,) = kernel_size, stride, padding, dilation
    if k <= 0:
        raise RuntimeError(f"{name}() kernel_size must be greater than zero, but got {k}")
    if s <= 0:
        raise RuntimeError(f"{name}() stride must be greater than zero, but got {s}")
    if p < 0:
        raise RuntimeError(f"{name}() padding must be non-negative, but got {p}")
    if p > k // 2:
        raise RuntimeError(
            f"{name}() padding should be at most half of kernel size, but got padding={p} and "
            f"kernel_size={k}"
        )
    if d <= 0:
        raise RuntimeError(f"{name}() dilation must be greater than zero, but got {d}")
    span = shape[-1] + 2 * p - d * (k - 1) - 1
    size = (span + (s - 1) * ceil_mode) // s + 1
    if ceil_mode and (size - 1) * s >= shape[-1] + p:  # as the kernel counts them
        size -= 1
    if size <= 0:
        raise RuntimeError(f"{name}() Invalid computed output size: {size}")


@composite(
    "max_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, "
    "int[1] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor",
    fast=composites_fast.max_pool1d,
    variants="function nn",
)
def max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    """Return the largest element of each window of (n, channels, length) or (channels, length).

    As `max_pool2d`, over one dimension.

    >>> imode.max_pool1d(imode.arange(4.0).view(1, 4), 2).tolist()
    [[1.0, 3.0]]
    """
    stride = stride or kernel_size
    if return_indices:
        check_1d(
            "max_pool1d",
            self,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
        )
    else:
        _check_pool1d("max_pool1d", self, kernel_size, stride, padding, dilation, ceil_mode)
    if not return_indices and not (self.requires_grad and is_grad_enabled()):
        if not self.is_floating_point():
            raise errors.dtypes.not_implemented("max_pool1d_impl", self.dtype)
        return ops._max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)
    values, indices = ops.max_pool2d_with_indices(
        self.unsqueeze(-2),
        (1, *kernel_size),
        (1, *stride),
        (0, *padding),
        (1, *dilation),
        ceil_mode,
    )
    values = values.squeeze(-2)
    return (values, indices.squeeze(-2)) if return_indices else values


@composite(
    "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1]? stride=None, "
    "int[1] padding=0, int[1] dilation=1, bool ceil_mode=False, bool return_indices=True) -> any",
    variants="function nn",
)
def _max_pool1d_with_indices(
    self, kernel_size, stride, padding, dilation, ceil_mode, return_indices
):
    """Return the largest element of each window of a signal and its position.

    As `max_pool1d`; `return_indices` changes nothing.

    >>> imode.max_pool1d_with_indices(imode.arange(4.0).view(1, 4), 2)[1]
    tensor([[1, 3]])
    """
    return max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode, True)


# ---- the mean of a window -----------------------------------------------------------------------


def _avg_backward_backward(
    grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    return ops.avg_pool2d(
        grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


_WINDOW = "int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool ceil_mode=False, "
_COUNTED = "bool count_include_pad=True, int? divisor_override=None"

_AVG_BACKWARD = op(
    f"avg_pool2d_backward(Tensor grad_output, Tensor self, {_WINDOW}{_COUNTED}) -> Tensor",
    pool.avg_pool2d_backward,
    derivative={"grad_output": _avg_backward_backward, "self": zeros},
    variants="",
    doc="""The gradient of `avg_pool2d`: each window's spread over its elements.

    >>> x = imode.ones(1, 2, 2)
    >>> imode.ops.avg_pool2d_backward(imode.ones(1, 1, 1), x, 2, 2, 0, False, True, None).sum()
    tensor(1.)
    """,
)

op(
    f"avg_pool2d(Tensor self, {_WINDOW}{_COUNTED}) -> Tensor",
    pool.average_pool2d,
    out=Out("same"),
    derivative={"self": _AVG_BACKWARD},
    shows={"stride": lambda stride: stride or ()},
    variants="nn out",
    compiled=True,
    doc="""Return the mean of each window of (n, channels, height, width).

    The padding's zeros count unless `count_include_pad` is false; `divisor_override` replaces the
    number of elements. Raises RuntimeError for windows that do not fit.

    >>> imode.nn.functional.avg_pool2d(imode.arange(4.0).view(1, 2, 2), 2).tolist()
    [[[1.5]]]
    """,
)


@composite(
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, "
    "bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
    fast=composites_fast.avg_pool1d,
    variants="function nn",
)
def avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad):
    """Return the mean of each window of (n, channels, length) or (channels, length).

    As `avg_pool2d`, over one dimension.

    >>> imode.avg_pool1d(imode.arange(4.0).view(1, 4), 2).tolist()
    [[0.5, 2.5]]
    """
    check_1d("avg_pool1d", self, kernel_size=kernel_size, stride=stride or None, padding=padding)
    result = ops.avg_pool2d(
        self.unsqueeze(-2),
        (1, *kernel_size),
        (1, *(stride or kernel_size)),
        (0, *padding),
        ceil_mode,
        count_include_pad,
    )
    return result.squeeze(-2)


# ---- windows that follow from the output's size -------------------------------------------------


op(
    "_adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
    pool.adaptive_average2d,
    derivative={"self": lambda grad, self: ops._adaptive_avg_pool2d_backward(grad, self)},
    real_only="_adaptive_avg_pool2d",
)


@op(
    "_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
    derivative={
        "grad_output": lambda grad, grad_output_shape: ops._adaptive_avg_pool2d(
            grad, tuple(grad_output_shape[-2:])
        ),
        "self": zeros,
    },
)
def _adaptive_avg_pool2d_backward(grad, x):
    expect_nonempty("adaptive_avg_pool2d_backward", "grad_output", grad.shape)
    expect_pooled("_adaptive_avg_pool2d_backward", grad, x)
    return pool.adaptive_avg_pool2d_backward(grad, x)


op(
    "_adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor result, Tensor result1)",
    pool.adaptive_largest2d,
    derivative={
        "self": lambda grad, self, result1: ops._adaptive_max_pool2d_backward(grad, self, result1),
    },
)


def sizes_of(name, self, output_size, space=2):
    """The output's two or three sizes; None keeps the input's."""
    if not isinstance(output_size, (tuple, list)):
        if output_size is None:
            raise TypeError("object of type 'NoneType' has no len()")
        if isinstance(output_size, bool) or not isinstance(output_size, int):
            raise TypeError(
                f"{name}(): argument 'output_size' (position 2) must be tuple of ints, not "
                f"{type(output_size).__name__}"
            )
        return (output_size,) * space
    if self.dim() <= len(output_size):
        raise errors.shapes.less_than_sizes(output_size)
    return tuple(
        size if given is None else given
        for given, size in zip(
            output_size, self.shape[self.dim() - len(output_size) :], strict=True
        )
    )


@composite(
    "adaptive_avg_pool2d(Tensor self, any output_size) -> Tensor",
    fast=composites_fast.adaptive_avg_pool2d,
    variants="nn",
)
def adaptive_avg_pool2d(self, output_size):
    """Return the means of windows that cover each plane evenly, `output_size` of them.

    `output_size` is one number, or two of which None keeps the input's size.

    >>> imode.nn.functional.adaptive_avg_pool2d(imode.arange(4.0).view(1, 2, 2), 1).tolist()
    [[[1.5]]]
    """
    size = sizes_of("adaptive_avg_pool2d", self, output_size)
    if len(size) != 2:
        raise RuntimeError("adaptive_avg_pool2d: output_size must be 2")
    if size == (1, 1):
        return self.mean((-1, -2), keepdim=True)
    return ops._adaptive_avg_pool2d(self, size)


@composite("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", variants="function nn")
def adaptive_avg_pool1d(self, output_size):
    """Return the means of windows that cover (n, channels, length) evenly.

    >>> imode.adaptive_avg_pool1d(imode.arange(4.0).view(1, 4), 2).tolist()
    [[0.5, 2.5]]
    """
    check_1d("adaptive_avg_pool1d", self, output_size=output_size)
    size = (1, *output_size)
    return ops.adaptive_avg_pool2d(self.unsqueeze(-2), size).squeeze(-2)


@composite(
    "adaptive_max_pool2d(Tensor self, any output_size, bool return_indices=False) -> Tensor",
    fast=composites_fast.adaptive_max_pool2d,
    variants="nn",
    counted_by="_adaptive_max_pool2d",
)
def adaptive_max_pool2d(self, output_size, return_indices):
    """Return the largest elements of windows that cover each plane evenly.

    As `adaptive_avg_pool2d`; `return_indices` also gives the positions in each plane.

    >>> imode.nn.functional.adaptive_max_pool2d(imode.arange(4.0).view(1, 2, 2), 1).tolist()
    [[[3.0]]]
    """
    size = sizes_of("adaptive_max_pool2d", self, output_size)
    if len(size) != 2:
        raise RuntimeError("adaptive_max_pool2d(): internal error: output_size.size() must be 2")
    both = ops._adaptive_max_pool2d(self, size)
    return both if return_indices else both[0]


@composite(
    "adaptive_max_pool1d(Tensor self, int[1] output_size, bool return_indices=False) -> Tensor",
    variants="nn",
    counted_by="_adaptive_max_pool1d",
)
def adaptive_max_pool1d(self, output_size, return_indices):
    """Return the largest elements of windows that cover (n, channels, length) evenly.

    >>> imode.nn.functional.adaptive_max_pool1d(imode.arange(4.0).view(1, 4), 2).tolist()
    [[1.0, 3.0]]
    """
    if self.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {self.dim()}-dimensional tensor for argument #1 "
            "'self' (while checking arguments for adaptive_max_pool1d)"
        )
    if len(output_size) != 1:
        raise RuntimeError(
            "adaptive_max_pool1d() argument 'output_size' should contain one int "
            f"(got {len(output_size)})"
        )
    expect_nonempty("adaptive_max_pool1d", "input", self.shape)
    values, indices = ops._adaptive_max_pool2d(self.unsqueeze(-2), (1, *output_size))
    values = values.squeeze(-2)
    return (values, indices.squeeze(-2)) if return_indices else values


@composite(
    "adaptive_max_pool1d_with_indices(Tensor self, int[1] output_size, bool return_indices=True)"
    " -> any",
    variants="nn",
)
def _adaptive_max_pool1d_with_indices(self, output_size, return_indices):
    """Return what `adaptive_max_pool1d` gives and the positions of each.

    `return_indices` changes nothing.

    >>> x = imode.arange(4.0).view(1, 4)
    >>> imode.nn.functional.adaptive_max_pool1d_with_indices(x, 1)[1].item()
    3
    """
    return adaptive_max_pool1d(self, output_size, True)


@composite(
    "adaptive_max_pool2d_with_indices(Tensor self, any output_size, bool return_indices=True)"
    " -> any",
    variants="nn",
)
def _adaptive_max_pool2d_with_indices(self, output_size, return_indices):
    """Return what `adaptive_max_pool2d` gives and the positions of each.

    `return_indices` changes nothing.

    >>> x = imode.arange(4.0).view(1, 2, 2)
    >>> imode.nn.functional.adaptive_max_pool2d_with_indices(x, 1)[1].item()
    3
    """
    return adaptive_max_pool2d(self, output_size, True)
