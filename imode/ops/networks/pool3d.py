"""The largest and the mean of windows of volumes: schemas, derivatives, compositions.

As `imode.ops.networks.pool`, in three dimensions; the kernels are
`imode.kernels.networks.pool3d`'s. Shapes are (n, channels, depth, height, width), or without n.
"""

from imode import ops
from imode.kernels.networks import pool, pool3d
from imode.ops.gradient_checks import expect
from imode.ops.networks import composites_fast
from imode.ops.networks.pool import at_maxima, expect_nonempty, expect_pooled, sizes_of
from imode.ops.pointwise.common import zeros
from imode.ops.schema import Out, composite, op

# ---- the largest of a window --------------------------------------------------------------------

_SHOWN = {
    "kernel_size": True,
    "stride": lambda stride: stride or (),
    "padding": True,
    "dilation": True,
    "ceil_mode": True,
}

op(
    "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3]? stride=None, "
    "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor result, Tensor result1)",
    pool3d.largest,
    derivative={
        "self": lambda grad, self, result1: ops._max_pool3d_backward(grad, self, result1),
    },
    name="MaxPool3DWithIndicesBackward0",
    shows=_SHOWN,
    variants="nn",
    doc="""Return the largest element of each window and its position in its volume.

    Positions are int64, `(depth * height + row) * width + column`. NaN counts as largest. Raises
    RuntimeError for windows that do not fit.

    >>> x = imode.arange(8.0).view(1, 2, 2, 2)
    >>> imode.nn.functional.max_pool3d_with_indices(x, 2)[1].item()
    7
    """,
)


@composite(
    "max_pool3d_with_indices.nn(Tensor self, int[3] kernel_size, int[3]? stride=None, "
    "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False, bool return_indices=False) -> any",
    variants="nn",
)
def _max_pool3d_with_indices_nn(
    self, kernel_size, stride, padding, dilation, ceil_mode, return_indices
):
    """Return the same, whatever `return_indices` is."""
    return ops.max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool3d_backward(grad, x, indices):
    expect_pooled("_max_pool3d_backward", grad, x, 3)
    expect("_max_pool3d_backward", "indices", indices, grad.shape, "int64")
    return pool.max_pool_backward(grad, x, indices, 3)


def _adaptive_max_pool3d_backward(grad, x, indices):
    expect_nonempty("adaptive_max_pool3d_backward", "grad_output", grad.shape)
    return _max_pool3d_backward(grad, x, indices)


for _name, _node, _kernel in (
    ("max_pool3d", "MaxPool3DWithIndices", _max_pool3d_backward),
    ("adaptive_max_pool3d", "AdaptiveMaxPool3D", _adaptive_max_pool3d_backward),
):
    op(
        f"_{_name}_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
        _kernel,
        derivative={
            "grad_output": lambda grad, indices: at_maxima(grad, indices, 3),
            "self": zeros,
        },
        name=f"{_node}BackwardBackward0",
    )


@composite(
    "max_pool3d(Tensor self, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, "
    "int[3] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor",
    fast=composites_fast.max_pool3d,
    variants="function nn",
)
def max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    """Return the largest element of each window of (n, channels, depth, height, width).

    As `max_pool2d`, over three dimensions.

    >>> imode.max_pool3d(imode.arange(8.0).view(1, 2, 2, 2), 2).tolist()
    [[[[7.0]]]]
    """
    both = ops.max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


# ---- the mean of a window -----------------------------------------------------------------------

_WINDOW = "int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool ceil_mode=False, "
_COUNTED = "bool count_include_pad=True, int? divisor_override=None"


def _again(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return ops.avg_pool3d(
        grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


_AVG_BACKWARD = op(
    f"_avg_pool3d_backward(Tensor grad_output, Tensor self, {_WINDOW}{_COUNTED}) -> Tensor",
    pool3d.avg_pool3d_backward,
    derivative={"grad_output": _again, "self": zeros},
)

op(
    f"avg_pool3d(Tensor self, {_WINDOW}{_COUNTED}) -> Tensor",
    pool3d.average,
    out=Out("same"),
    derivative={"self": _AVG_BACKWARD},
    shows={"stride": lambda stride: stride or ()},
    variants="nn out",
    compiled=True,
    doc="""Return the mean of each window of (n, channels, depth, height, width).

    As `avg_pool2d`, over three dimensions.

    >>> imode.nn.functional.avg_pool3d(imode.arange(8.0).view(1, 2, 2, 2), 2).tolist()
    [[[[3.5]]]]
    """,
)


# ---- windows that follow from the output's size -------------------------------------------------

op(
    "_adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
    pool3d.adaptive_average,
    derivative={"self": lambda grad, self: ops._adaptive_avg_pool3d_backward(grad, self)},
)


@op(
    "_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor",
    derivative={
        "grad_output": lambda grad, grad_output_shape: ops._adaptive_avg_pool3d(
            grad, tuple(grad_output_shape[-3:])
        ),
        "self": zeros,
    },
)
def _adaptive_avg_pool3d_backward(grad, x):
    expect_nonempty("adaptive_avg_pool3d_backward", "grad_output", grad.shape)
    expect_pooled("_adaptive_avg_pool3d_backward", grad, x, 3)
    return pool3d.adaptive_avg_pool3d_backward(grad, x)


op(
    "_adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor result, Tensor result1)",
    pool3d.adaptive_largest,
    derivative={
        "self": lambda grad, self, result1: ops._adaptive_max_pool3d_backward(grad, self, result1),
    },
)


@composite(
    "adaptive_avg_pool3d(Tensor self, any output_size) -> Tensor",
    fast=composites_fast.adaptive_avg_pool3d,
    variants="nn",
)
def adaptive_avg_pool3d(self, output_size):
    """Return the means of windows that cover each volume evenly, `output_size` of them.

    `output_size` is one number, or three of which None keeps the input's size.

    >>> imode.nn.functional.adaptive_avg_pool3d(imode.arange(8.0).view(1, 2, 2, 2), 1).tolist()
    [[[[3.5]]]]
    """
    size = sizes_of("adaptive_avg_pool3d", self, output_size, 3)
    if len(size) != 3:
        raise RuntimeError("adaptive_avg_pool3d: output_size must be 3")
    if size == (1, 1, 1):
        return self.mean((-1, -2, -3), keepdim=True)
    return ops._adaptive_avg_pool3d(self, size)


@composite(
    "adaptive_max_pool3d(Tensor self, any output_size, bool return_indices=False) -> Tensor",
    fast=composites_fast.adaptive_max_pool3d,
    variants="nn",
    counted_by="_adaptive_max_pool3d",
)
def adaptive_max_pool3d(self, output_size, return_indices):
    """Return the largest elements of windows that cover each volume evenly.

    As `adaptive_avg_pool3d`; `return_indices` also gives the positions in each volume.

    >>> imode.nn.functional.adaptive_max_pool3d(imode.arange(8.0).view(1, 2, 2, 2), 1).tolist()
    [[[[7.0]]]]
    """
    size = sizes_of("adaptive_max_pool3d", self, output_size, 3)
    if len(size) != 3:
        raise RuntimeError("adaptive_max_pool3d(): internal error: output_size.size() must be 3")
    both = ops._adaptive_max_pool3d(self, size)
    return both if return_indices else both[0]


@composite(
    "adaptive_max_pool3d_with_indices(Tensor self, any output_size, bool return_indices=True)"
    " -> any",
    variants="nn",
)
def _adaptive_max_pool3d_with_indices(self, output_size, return_indices):
    """Return what `adaptive_max_pool3d` gives and the positions of each.

    `return_indices` changes nothing.

    >>> x = imode.arange(8.0).view(1, 2, 2, 2)
    >>> imode.nn.functional.adaptive_max_pool3d_with_indices(x, 1)[1].item()
    7
    """
    return adaptive_max_pool3d(self, output_size, True)
