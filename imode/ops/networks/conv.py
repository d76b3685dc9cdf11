"""Convolution of one to three dimensions, also transposed: schemas, derivatives, compositions.

The kernels are `imode.kernels.networks.conv`'s. Shapes are (n, channels, depth, height, width), or
without n, and with fewer dimensions of space.

Convolution is linear in its input and in its weight, so it and its gradients are each other's
derivatives: two operators, differentiable as often as one likes.
"""

from functools import partial

import numpy as np

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode.kernels.networks import conv as kernels
from imode.kernels.networks.conv_check import bias_dtype_error
from imode.ops.gradient_checks import expect, wanted
from imode.ops.networks import composites_fast
from imode.ops.schema import composite, op

_REST = "int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, "
_REST += "int groups"


def _conv_backward(
    grad, input, weight, stride, padding, dilation, transposed, output_padding, groups, needs
):
    rest = (stride, padding, dilation, transposed, output_padding, groups)
    if is_grad_enabled():
        return ops.convolution_backward(grad, input, weight, None, *rest, needs)
    of_input, of_weight, _ = ops.convolution_backward(
        grad, input, weight, None, *rest, (*needs[:2], False)
    )
    return of_input, of_weight, grad.sum([0, *range(2, grad.dim())]) if needs[2] else None


def _conv_twice(
    grads, grad_output, input, weight, stride, padding, dilation, transposed, output_padding,
    groups, needs,
):  # fmt: skip
    rest = (stride, padding, dilation, transposed, output_padding, groups)
    to_input, to_weight, to_bias = grads
    parts = []
    if needs[0] and to_input is not None:
        parts.append(ops.convolution(to_input, weight, None, *rest))
    if needs[0] and to_weight is not None:
        parts.append(ops.convolution(input, to_weight, None, *rest))
    if needs[0] and to_bias is not None:
        wide = to_bias.view([1, -1] + [1] * (grad_output.dim() - 2))
        parts.append(wide.expand(grad_output.shape))
    of_input = of_weight = None
    if needs[1] and to_weight is not None:
        of_input = _conv_backward(grad_output, input, to_weight, *rest, (True, False, False))[0]
    if needs[2] and to_input is not None:
        of_weight = _conv_backward(grad_output, to_input, weight, *rest, (False, True, False))[1]
    return sum(parts[1:], parts[0]) if parts else None, of_input, of_weight


op(
    f"convolution(Tensor input, Tensor weight, Tensor? bias, {_REST}) -> Tensor",
    kernels.convolution,
    derivative={("input", "weight", "bias"): _conv_backward},
    shows={
        "bias_sym_sizes": None,
        "bias_sym_sizes_opt": lambda bias_shape: bias_shape or (0,),
    },
    variants="function",
    doc="""Convolve (n, channels, ...) of one to three dimensions of space with `weight`.

    What `conv1d` and its kin end in, and `conv_transpose1d` and its kin if `transposed`; only then
    `output_padding` is read. Raises RuntimeError where channels, groups or sizes do not fit.

    >>> x, weight = imode.ones(1, 1, 4), imode.ones(1, 1, 2)
    >>> imode.convolution(x, weight, None, [1], [0], [1], False, [0], 1).tolist()
    [[[2.0, 2.0, 2.0]]]
    """,
)


op(
    f"_convolution(Tensor input, Tensor weight, Tensor? bias, {_REST}, bool benchmark, "
    "bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
    kernels.convolution,  # which reads no further than it needs
    derivative={("input", "weight", "bias"): _conv_backward},
    name="ConvolutionBackward1",
    variants="function",
    doc="""As `convolution`; the switches of a GPU's library that follow change nothing.

    >>> x, weight = imode.ones(1, 1, 4), imode.ones(1, 1, 2)
    >>> switches = [False] * 4
    >>> imode._convolution(x, weight, None, [1], [0], [1], False, [0], 1, *switches).shape
    imode.Size([1, 1, 3])
    """,
)


@op(
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, int[]? bias_sizes, "
    f"{_REST}, any output_mask) -> (Tensor result, Tensor result1, Tensor result2)",
    derivative={("grad_output", "input", "weight"): _conv_twice},
    shows={"bias_sizes": None},
    variants="",
)
def _gradients(
    grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
    output_mask,
):  # fmt: skip
    """The gradients of `convolution` by its input, weight and bias.

    None where `output_mask` is False. `bias_sizes` is not looked at.

    >>> x, weight, grad = imode.ones(1, 1, 4), imode.ones(1, 1, 2), imode.ones(1, 1, 3)
    >>> rest = ([1], [0], [1], False, [0], 1, (True, False, True))
    >>> imode.ops.convolution_backward(grad, x, weight, None, *rest)[2]
    tensor([3.])
    """
    given = (input, weight, (stride, padding, dilation, transposed, output_padding, groups))
    shape = kernels.result_shape(*given)
    of_input, of_weight, of_bias = wanted("convolution_backward", output_mask)
    expect("convolution_backward", "grad_output", grad, shape, input.dtype)
    return (
        kernels.grad_input(grad, *given) if of_input else None,
        kernels.grad_weight(grad, *given) if of_weight else None,
        np.add.reduce(grad, axis=(0, *range(2, grad.ndim))) if of_bias else None,
    )


def _plain(input, weight, bias, stride, padding, dilation, groups):
    unused = (0,) * len(padding)
    return ops.convolution(input, weight, bias, stride, padding, dilation, False, unused, groups)


def _same(input, weight, bias, stride, dilation, groups):
    """Convolve so that the size stays; an odd one of the padding goes to the end."""
    if any(step > 1 for step in stride):
        raise errors.arguments.same_padding()
    if weight.dim() < 3:
        raise errors.shapes.flat_weight()
    if weight.dim() != input.dim():
        raise RuntimeError(
            f"Expected {weight.dim()}-dimensional input for {weight.dim()}-dimensional weight"
            f"{list(weight.shape)}, but got {input.dim()}-dimensional input of size "
            f"{list(input.shape)} instead"
        )
    n = weight.dim() - 2
    for name, given in (("stride", stride), ("dilation", dilation)):
        if len(given) not in (1, n):
            raise RuntimeError(f"{name} cannot broadcast to {n} dimensions")
    if len(dilation) == 1:
        dilation = dilation * n
    total = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
    extra = [n for k in reversed(total) for n in (0, k % 2)]
    if any(extra):
        input = ops.constant_pad_nd(input, extra, 0)
    padding = tuple(k // 2 for k in total)
    return _plain(input, weight, bias, stride, padding, dilation, groups)


def _batch(name, n, input):
    """The input as a batch, and whether it was a single one."""
    if input.dim() == n + 1:
        return input.unsqueeze(0), True
    if input.dim() != n + 2:
        raise errors.shapes.no_batch(name, n, list(input.shape))
    return input, False


def _convolve(n, input, weight, bias, stride, padding, dilation, groups):
    if bias is not None and bias.dtype is not input.dtype and not isinstance(padding, str):
        raise bias_dtype_error(input.dtype, bias.dtype)
    input, single = _batch(f"conv{n}d", n, input)
    if padding == "same":
        convolve = partial(_same, stride=stride, dilation=dilation, groups=groups)
    else:
        if isinstance(padding, str):
            if padding != "valid":
                raise RuntimeError(f"Invalid padding string: '{padding}'")
            padding = (0,)
        convolve = partial(_plain, stride=stride, padding=padding, dilation=dilation, groups=groups)
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

_CONV3D = """Convolve a volume (n, channels, depth, height, width), or without n.

    `weight` is (out_channels, channels / groups, depth, height, width); `padding` is one or three
    numbers, "valid" or "same". Raises RuntimeError where channels, groups or sizes do not fit.

    >>> imode.conv3d(imode.ones(1, 1, 2, 3, 3), imode.ones(1, 1, 2, 3, 3)).tolist()
    [[[[[18.0]]]]]
    """

for _n, _doc in ((1, _CONV1D), (2, _CONV2D), (3, _CONV3D)):
    for _overload, _padding in (("", f"int[{_n}] padding=0"), (".padding", "str padding='valid'")):
        composite(
            f"conv{_n}d{_overload}(Tensor input, Tensor weight, Tensor? bias=None, "
            f"int[{_n}] stride=1, {_padding}, int[{_n}] dilation=1, int groups=1) -> Tensor",
            variants="function nn",
            fast=None if _overload else composites_fast.convolution,
            doc=_doc,
        )(partial(_convolve, _n))


# ---- transposed ---------------------------------------------------------------------------------


def _transposed(n, input, weight, bias, stride, padding, output_padding, groups, dilation):
    input, single = _batch(f"conv_transpose{n}d", n, input)

    def convolve(input, weight, bias):
        return ops.convolution(
            input, weight, bias, stride, padding, dilation, True, output_padding, groups
        )

    if input.is_complex() and input.dtype is weight.dtype:
        result = _of_parts(convolve, input, weight, bias)
    else:
        result = convolve(input, weight, bias)
    return result.squeeze(0) if single else result


_TRANSPOSED = """Spread each element over a window, weighted: a convolution's gradient by its input.

    `input` is (n, channels, {shape}), or without n; `weight` is (channels, out_channels / groups,
    {shape}). Of the sizes that a strided convolution could have come from, `output_padding` chooses
    a larger one. Raises RuntimeError where channels, groups or sizes do not fit.

    >>> imode.conv_transpose{n}d({ones}, {ones}, stride=2).numel()
    {numel}
    """

for _n, _shape in ((1, "length"), (2, "height, width"), (3, "depth, height, width")):
    composite(
        f"conv_transpose{_n}d(Tensor input, Tensor weight, Tensor? bias=None, "
        f"int[{_n}] stride=1, int[{_n}] padding=0, int[{_n}] output_padding=0, int groups=1, "
        f"int[{_n}] dilation=1) -> Tensor",
        variants="function nn",
        fast=composites_fast.transposed_convolution,
        doc=_TRANSPOSED.format(
            shape=_shape, n=_n, ones=f"imode.ones(1, 1{', 2' * _n})", numel=4**_n
        ),
    )(partial(_transposed, _n))
