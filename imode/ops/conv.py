"""Convolution of one and two dimensions, and pooling over windows of images.

The kernels are `imode.kernels.conv`'s and `imode.kernels.pool`'s; here are schemas, derivatives
and the operators composed of them. Shapes are (n, channels, height, width), or without n.

Convolution is linear in its input and in its weight, so it and its gradients are each other's
derivatives: two operators, differentiable as often as one likes.
"""

from functools import partial

import numpy as np

from imode import ops
from imode._core.dispatch import is_grad_enabled
from imode.kernels import conv as kernels
from imode.kernels import direct, layers, pool

from .._core.words import not_implemented
from .create import same_dtype_outs
from .expect import expect, expect_float
from .refuse import zeros
from .schema import composite, op

# ---- convolution --------------------------------------------------------------------------------


def _gradients(grad, input, weight, stride, padding, dilation, groups, output_mask):
    given = (input, weight, stride, padding, dilation, groups)
    shape = kernels.result_shape(*given)
    expect("_convolution_backward", "grad_output", grad, shape, input.dtype)
    return (
        kernels.grad_input(grad, *given) if output_mask[0] else None,
        kernels.grad_weight(grad, *given) if output_mask[1] else None,
        np.add.reduce(grad, axis=(0, *range(2, grad.ndim))) if output_mask[2] else None,
    )


def _conv_backward(grad, input, weight, stride, padding, dilation, groups, needs):
    rest = (stride, padding, dilation, groups)
    if is_grad_enabled():
        return ops._convolution_backward(grad, input, weight, *rest, needs)
    of_input, of_weight, _ = ops._convolution_backward(
        grad, input, weight, *rest, (*needs[:2], False)
    )
    return of_input, of_weight, grad.sum([0, *range(2, grad.dim())]) if needs[2] else None


def _conv_twice(grads, grad_output, input, weight, stride, padding, dilation, groups, needs):
    rest = (stride, padding, dilation, groups)
    to_input, to_weight, to_bias = grads
    parts = []
    if needs[0] and to_input is not None:
        parts.append(ops._convolution(to_input, weight, None, *rest))
    if needs[0] and to_weight is not None:
        parts.append(ops._convolution(input, to_weight, None, *rest))
    if needs[0] and to_bias is not None:
        wide = to_bias.view([1, -1] + [1] * (grad_output.dim() - 2))
        parts.append(wide.expand(grad_output.shape))
    of_input = of_weight = None
    if needs[1] and to_weight is not None:
        of_input = _conv_backward(grad_output, input, to_weight, *rest, (True, False, False))[0]
    if needs[2] and to_input is not None:
        of_weight = _conv_backward(grad_output, to_input, weight, *rest, (False, True, False))[1]
    return sum(parts[1:], parts[0]) if parts else None, of_input, of_weight


_SHAPE = "int[] stride, int[] padding, int[] dilation, int groups"

op(
    f"_convolution(Tensor input, Tensor weight, Tensor? bias, {_SHAPE}) -> Tensor",
    direct.compiled("_convolution", kernels.convolve),
    derivative={("input", "weight", "bias"): _conv_backward},
    shows={
        "bias_sym_sizes": None,
        "bias_sym_sizes_opt": lambda bias_shape: bias_shape or (0,),
        "output_padding": lambda stride: (0,) * len(stride),
        "transposed": lambda: False,
    },
    variants="",
)

op(
    f"_convolution_backward(Tensor grad_output, Tensor input, Tensor weight, {_SHAPE}, "
    "any output_mask) -> (Tensor result, Tensor result1, Tensor result2)",
    _gradients,
    derivative={("grad_output", "input", "weight"): _conv_twice},
    variants="",
)


def _same(input, weight, bias, stride, dilation, groups):
    """Convolve so that the size stays; an odd one of the padding goes to the end."""
    if max(stride) > 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    if weight.dim() < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if weight.dim() != input.dim():
        raise RuntimeError(
            f"Expected {weight.dim()}-dimensional input for {weight.dim()}-dimensional weight"
            f"{list(weight.shape)}, but got {input.dim()}-dimensional input of size "
            f"{list(input.shape)} instead"
        )
    if len(dilation) == 1:
        dilation = dilation * (weight.dim() - 2)
    total = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
    extra = [n for k in reversed(total) for n in (0, k % 2)]
    if any(extra):
        input = ops.constant_pad_nd(input, extra, 0)
    padding = tuple(k // 2 for k in total)
    return ops._convolution(input, weight, bias, stride, padding, dilation, groups)


def _convolve(n, input, weight, bias, stride, padding, dilation, groups):
    if bias is not None and bias.dtype is not input.dtype and not isinstance(padding, str):
        raise kernels.bias_dtype_error(input.dtype, bias.dtype)
    single = input.dim() == n + 1
    if single:
        input = input.unsqueeze(0)
    elif input.dim() != n + 2:
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to conv{n}d, but got input "
            f"of size: {list(input.shape)}"
        )
    if padding == "same":
        convolve = partial(_same, stride=stride, dilation=dilation, groups=groups)
    else:
        if isinstance(padding, str):
            if padding != "valid":
                raise RuntimeError(f"Invalid padding string: '{padding}'")
            padding = (0,) * n
        convolve = partial(
            ops._convolution, stride=stride, padding=padding, dilation=dilation, groups=groups
        )
    if input.is_complex() and input.dtype is weight.dtype:
        result = _of_parts(convolve, input, weight, bias)
    else:
        result = convolve(input, weight, bias)
    return result.squeeze(0) if single else result


def _parts(pairs):
    last = pairs.dim() - 1
    return pairs.select(last, 0), pairs.select(last, 1)


def _of_parts(convolve, input, weight, bias):
    """A complex convolution in three real ones; the order is that of PyTorch's graph."""
    (x, x_i), (w, w_i), (b, b_i) = (
        (None, None) if t is None else _parts(ops.view_as_real(t)) for t in (input, weight, bias)
    )
    first, second = convolve(x, w, b), convolve(x_i, w_i, None)
    total = None if bias is None else b + b_i
    both = w + w_i
    third = convolve(x + x_i, both, total)
    imaginary = (third - first - second) * 1j
    return first - second + imaginary


_CONV1D = """Convolve a signal (n, channels, length) or (channels, length).

    `weight` is (out_channels, channels / groups, kernel); `padding` is a number, "valid" or "same".
    Raises RuntimeError where channels, groups or sizes do not fit.

    >>> imode.conv1d(imode.ones(1, 1, 5), imode.ones(2, 1, 3), padding=1).shape
    imode.Size([1, 2, 5])
    """

_CONV2D = """Convolve an image (n, channels, height, width) or (channels, height, width).

    `weight` is (out_channels, channels / groups, height, width); `padding` is one or two numbers,
    "valid" or "same". Raises RuntimeError where channels, groups or sizes do not fit.

    >>> imode.conv2d(imode.ones(1, 1, 4, 4), imode.ones(1, 1, 3, 3)).tolist()
    [[[[9.0, 9.0], [9.0, 9.0]]]]
    """

for _n, _doc in ((1, _CONV1D), (2, _CONV2D)):
    for _overload, _padding in (("", f"int[{_n}] padding=0"), (".padding", "str padding='valid'")):
        composite(
            f"conv{_n}d{_overload}(Tensor input, Tensor weight, Tensor? bias=None, "
            f"int[{_n}] stride=1, {_padding}, int[{_n}] dilation=1, int groups=1) -> Tensor",
            variants="function nn",
            shortcut=None if _overload else layers.convolution,
            doc=_doc,
        )(partial(_convolve, _n))


# ---- the largest of a window --------------------------------------------------------------------


def _at_maxima(x, indices):
    """The elements of the planes of x at `indices`, positions in each plane."""
    return x.flatten(-2).gather(-1, indices.flatten(-2)).view(indices.shape)


op(
    "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2]? stride=None, "
    "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor result, Tensor result1)",
    direct.compiled("max_pool2d_with_indices", pool.max_pool2d),
    derivative={
        "self": lambda grad, self, result1: ops._max_pool2d_backward(grad, self, result1),
    },
    name="MaxPool2DWithIndicesBackward0",
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


def _max_pool2d_backward(grad, x, indices):
    _expect_pooled("_max_pool2d_backward", grad, x)
    expect("_max_pool2d_backward", "indices", indices, grad.shape, "int64")
    return pool.max_pool2d_backward(grad, x, indices)


def _expect_pooled(kernel, grad, x):
    """A gradient of one number per window of x."""
    expect_float(kernel, "self", x, (3, 4))
    expect(kernel, "grad_output", grad, x.shape[:-2] + grad.shape[-2:], x.dtype)


def _expect_nonempty(kernel, name, shape):
    """Of adaptive windows: nothing but the batch may be empty."""
    for dim in range(1, len(shape)):
        if shape[dim] == 0:
            raise RuntimeError(
                f"{kernel}(): Expected {name} to have non-zero size for non-batch dimensions, "
                f"but {name} has sizes {list(shape)} with dimension {dim} being empty"
            )


def _adaptive_max_pool2d_backward(grad, x, indices):
    _expect_nonempty("adaptive_max_pool2d_backward", "grad_output", grad.shape)
    return _max_pool2d_backward(grad, x, indices)


for _name, _node, _kernel in (
    ("max_pool2d", "MaxPool2DWithIndices", _max_pool2d_backward),
    ("adaptive_max_pool2d", "AdaptiveMaxPool2D", _adaptive_max_pool2d_backward),
):
    op(
        f"_{_name}_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
        _kernel,
        derivative={
            "grad_output": lambda grad, indices: _at_maxima(grad, indices),
            "self": zeros,
        },
        variants="",
        name=f"{_node}BackwardBackward0",
    )


@composite(
    "max_pool2d(Tensor self, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, "
    "int[2] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor",
    shortcut=layers.max_pool2d,
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


def _max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode):
    k, s, p, d = (1, *kernel_size), (1, *stride), (0, *padding), (1, *dilation)
    return pool.max_pool2d(self[..., None, :], k, s, p, d, ceil_mode)[0].squeeze(-2)


op(
    "_max_pool1d(Tensor self, int[1] kernel_size, int[1] stride, int[1] padding, int[1] dilation, "
    "bool ceil_mode) -> Tensor",
    _max_pool1d,
    differentiable=False,
    variants="",
)


def _check_pool1d(name, self, kernel_size, stride, padding, dilation):
    """max_pool1d's own checks, in its own words."""
    shape = list(self.shape)
    if self.dim() not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{shape}"
        )
    k, s, p, d = kernel_size[0], stride[0], padding[0], dilation[0]
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
    size = (shape[-1] + 2 * p - d * (k - 1) - 1) // s + 1
    if size <= 0:
        raise RuntimeError(f"{name}() Invalid computed output size: {size}")


@composite(
    "max_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, "
    "int[1] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor",
    variants="function nn",
)
def max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    """Return the largest element of each window of (n, channels, length) or (channels, length).

    As `max_pool2d`, over one dimension.

    >>> imode.max_pool1d(imode.arange(4.0).view(1, 4), 2).tolist()
    [[1.0, 3.0]]
    """
    stride = stride or kernel_size
    _check_pool1d("max_pool1d", self, kernel_size, stride, padding, dilation)
    if not self.is_floating_point():
        raise not_implemented("max_pool1d_impl", self.dtype)
    if not return_indices and not (self.requires_grad and is_grad_enabled()):
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


# ---- the mean of a window -----------------------------------------------------------------------


def _avg_backward(
    grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    return ops._avg_pool2d_backward(
        grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def _avg_backward_backward(
    grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    return ops.avg_pool2d(
        grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


_WINDOW = "int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool ceil_mode=False, "
_COUNTED = "bool count_include_pad=True, int? divisor_override=None"

op(
    f"avg_pool2d(Tensor self, {_WINDOW}{_COUNTED}) -> Tensor",
    direct.compiled("avg_pool2d", pool.avg_pool2d),
    derivative={"self": _avg_backward},
    name="AvgPool2DBackward0",
    shows={"stride": lambda stride: stride or ()},
    variants="nn out",
    doc="""Return the mean of each window of (n, channels, height, width).

    The padding's zeros count unless `count_include_pad` is false; `divisor_override` replaces the
    number of elements. Raises RuntimeError for windows that do not fit.

    >>> imode.nn.functional.avg_pool2d(imode.arange(4.0).view(1, 2, 2), 2).tolist()
    [[[1.5]]]
    """,
)

same_dtype_outs(("avg_pool2d",))

op(
    f"_avg_pool2d_backward(Tensor grad_output, Tensor self, {_WINDOW}{_COUNTED}) -> Tensor",
    pool.avg_pool2d_backward,
    derivative={
        "grad_output": _avg_backward_backward,
        "self": zeros,
    },
    variants="",
    name="AvgPool2DBackwardBackward0",
)


@composite(
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, "
    "bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
    variants="function nn",
)
def avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad):
    """Return the mean of each window of (n, channels, length) or (channels, length).

    As `avg_pool2d`, over one dimension.

    >>> imode.avg_pool1d(imode.arange(4.0).view(1, 4), 2).tolist()
    [[0.5, 2.5]]
    """
    if self.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {self.dim()}-dimensional tensor for argument #1 "
            "'self' (while checking arguments for avg_pool1d)"
        )
    for name, value in (("kernel_size", kernel_size), ("stride", stride), ("padding", padding)):
        if value and len(value) != 1:
            raise RuntimeError(
                f"avg_pool1d() argument '{name}' should contain one int (got {len(value)})"
            )
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


def _of_size(kernel, function):
    def checked(x, size):
        if len(size) != 2:
            raise RuntimeError(f"{kernel}(): expected two sizes, but got {list(size)}")
        return function(x, size)

    return checked


def _adaptive_avg_pool2d_backward(grad, x):
    _expect_nonempty("adaptive_avg_pool2d_backward", "grad_output", grad.shape)
    _expect_pooled("_adaptive_avg_pool2d_backward", grad, x)
    return pool.adaptive_avg_pool2d_backward(grad, x)


op(
    "_adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
    _of_size("_adaptive_avg_pool2d", pool.adaptive_avg_pool2d),
    derivative={"self": lambda grad, self: ops._adaptive_avg_pool2d_backward(grad, self)},
    name="AdaptiveAvgPool2DBackward0",
    real_only="_adaptive_avg_pool2d",
    variants="",
)

op(
    "_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
    _adaptive_avg_pool2d_backward,
    derivative={
        "grad_output": lambda grad, grad_output_shape: ops._adaptive_avg_pool2d(
            grad, tuple(grad_output_shape[-2:])
        ),
        "self": zeros,
    },
    name="AdaptiveAvgPool2DBackwardBackward0",
    variants="",
)

op(
    "_adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor result, Tensor result1)",
    _of_size("_adaptive_max_pool2d", pool.adaptive_max_pool2d),
    derivative={
        "self": lambda grad, self, result1: ops._adaptive_max_pool2d_backward(grad, self, result1),
    },
    name="AdaptiveMaxPool2DBackward0",
    variants="",
)


def _sizes(name, self, output_size):
    """The output's two sizes; None keeps the input's."""
    if not isinstance(output_size, (tuple, list)):
        if isinstance(output_size, bool) or not isinstance(output_size, int):
            raise TypeError(
                f"{name}(): argument 'output_size' (position 2) must be tuple of ints, not "
                f"{type(output_size).__name__}"
            )
        return (output_size,) * 2
    if self.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return tuple(
        size if given is None else given
        for given, size in zip(output_size, self.shape[-len(output_size) :], strict=True)
    )


@composite("adaptive_avg_pool2d(Tensor self, any output_size) -> Tensor", variants="nn")
def adaptive_avg_pool2d(self, output_size):
    """Return the means of windows that cover each plane evenly, `output_size` of them.

    `output_size` is one number, or two of which None keeps the input's size.

    >>> imode.nn.functional.adaptive_avg_pool2d(imode.arange(4.0).view(1, 2, 2), 1).tolist()
    [[[1.5]]]
    """
    size = _sizes("adaptive_avg_pool2d", self, output_size)
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
    if self.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {self.dim()}-dimensional tensor for argument #1 "
            "'self' (while checking arguments for adaptive_avg_pool1d)"
        )
    if len(output_size) != 1:
        raise RuntimeError(
            "adaptive_avg_pool1d() argument 'output_size' should contain one int (got "
            f"{len(output_size)})"
        )
    size = (1, *output_size)
    return ops.adaptive_avg_pool2d(self.unsqueeze(-2), size).squeeze(-2)


@composite(
    "adaptive_max_pool2d(Tensor self, any output_size, bool return_indices=False) -> Tensor",
    variants="nn",
)
def adaptive_max_pool2d(self, output_size, return_indices):
    """Return the largest elements of windows that cover each plane evenly.

    As `adaptive_avg_pool2d`; `return_indices` also gives the positions in each plane.

    >>> imode.nn.functional.adaptive_max_pool2d(imode.arange(4.0).view(1, 2, 2), 1).tolist()
    [[[3.0]]]
    """
    size = _sizes("adaptive_max_pool2d", self, output_size)
    if len(size) != 2:
        raise RuntimeError("adaptive_max_pool2d(): internal error: output_size.size() must be 2")
    both = ops._adaptive_max_pool2d(self, size)
    return both if return_indices else both[0]


@composite(
    "adaptive_max_pool1d(Tensor self, int[1] output_size, bool return_indices=False) -> Tensor",
    variants="nn",
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
    _expect_nonempty("adaptive_max_pool1d", "input", self.shape)
    values, indices = ops._adaptive_max_pool2d(self.unsqueeze(-2), (1, *output_size))
    values = values.squeeze(-2)
    return (values, indices.squeeze(-2)) if return_indices else values
