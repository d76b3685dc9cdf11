"""Products of matrices of eight-bit floats, each with the scales of its numbers."""

import enum

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.dtype import as_numpy, bfloat16, from_numpy_dtype
from imode._core.parallel import skipping
from imode._core.tensor import Tensor
from imode._core.type_names import class_name, scalar_name
from imode.kernels.shapes.views import wrap_dim
from imode.ops.pointwise.common import no_derivative
from imode.ops.products import linalg
from imode.ops.reductions import dims
from imode.ops.schema import op


class _Named(enum.Enum):
    """An enumeration whose members are integers where one is asked for, but equal none."""

    def __int__(self):
        return self.value

    __index__ = __int__

    def __repr__(self):
        return f"<{self}: {self.value}>"


class ScalingType(_Named):
    """What of a matrix shares a scale.

    >>> imode.nn.functional.ScalingType.RowWise.value
    1
    """

    __module__ = "imode.nn.functional"
    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(_Named):
    """The order in which scales lie in memory.

    >>> imode.nn.functional.SwizzleType(0)
    <SwizzleType.NO_SWIZZLE: 0>
    """

    __module__ = "imode.nn.functional"
    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


_TENSOR, _ROW = [ScalingType.TensorWise.value], [ScalingType.RowWise.value]
_BRAIN = from_numpy_dtype(bfloat16)
_EIGHT = ("float8_e4m3fn", "float8_e5m2")

# ---- checks ----


def _check_shapes(first, second, contracted):
    for name, matrix in (("mat_a", first), ("mat_b", second)):
        if matrix.ndim != 2:
            raise ValueError(f"{name} must be a matrix")
    along, more = (1, 0), ""
    if contracted:
        if len(contracted) != 2:
            raise ValueError("contraction_dim must have exactly 2 elements")
        along = [wrap_dim(dim, 2) for dim in contracted]
        more = " with contraction dims mat_a: {}, mat_b: {}".format(*along)
    shapes = " and ".join("x".join(map(str, m.shape)) for m in (first, second))
    if first.shape[along[0]] != second.shape[along[1]]:
        raise ValueError(f"mat_a and mat_b shapes cannot be multiplied ({shapes}){more}")
    if first.shape[1] != second.shape[0]:  # other dimensions fitted
        raise RuntimeError(f"mat_a and mat_b shapes cannot be multiplied ({shapes})")


def _check_bias(bias, columns):
    if bias is None:
        return
    if bias.size != columns:
        raise ValueError(f"Bias must be size {columns} but got {bias.size}")
    if bias.dtype.name not in ("float32", "bfloat16", "float16"):
        raise ValueError(
            f"Bias must be Float32 or BFloat16 or Half, but got {scalar_name(bias.dtype)}"
        )


def _check_broadcast(shape, added):
    """That something can be added to, or scale, a matrix without making it larger."""
    found = broadcast_shape(shape, added)
    if found != shape:
        raise errors.out.wrong_shape(shape, found)


def _words(name, matrix, scale):
    """What a message says of a matrix and its scale."""
    told = [f"mat_{name}.dtype()={scalar_name(matrix.dtype)}"]
    if scale is None:
        return [*told, f"scale_{name}=None"]
    strides = [step // scale.itemsize for step in scale.strides]
    return [
        *told,
        f"scale_{name}.dtype()={scalar_name(scale.dtype)}",
        f"scale_{name}.size()={list(scale.shape)}",
        f"scale_{name}.stride()={strides}",
    ]


def _no_such_way(first, second, scale_a, scale_b):
    told = [*_words("a", first, scale_a), *_words("b", second, scale_b)]
    return ValueError(
        "Invalid scaling configuration.\n"
        "- For TensorWise scaling, a and b should be float8, scales should be float and "
        "singletons.\n"
        "- For RowWise scaling, a and b should be float8, scales should be float, scale_a should "
        f"be ({first.shape[0]}, 1) and scale_b should be (1, {second.shape[1]}), and both should "
        "be contiguous.\n"
        f"Got {', '.join(told[:-1])} and {told[-1]}"
    )


def _check_scales(first, second, a, b, by_row):
    """That there is one scale for each matrix, or for each row of one and column of the other."""
    if not by_row:
        for name, scale in (("a", a), ("b", b)):
            if scale.size != 1:
                raise ValueError(f"scale_{name} must have 1 Float element")
        return
    rows, columns = first.shape[0], second.shape[1]
    if dims.size(a, 0) != rows or dims.size(a, 1) != 1:
        raise ValueError(f"scale_a must have shape [{rows}, 1], got [{list(a.shape)}]")
    for name, scale, count in (("a", a, rows), ("b", b, columns)):
        if scale.size != count:
            raise ValueError(f"scale_{name} must have {count} Float elements, got {scale.size}")
        dims.size(scale, 1)
        step = scale.strides[1] // scale.itemsize
        if step != 1:
            raise ValueError(f"expected scale_{name}.stride(1) to be 1, but got {step}")
    _check_broadcast(first.shape, a.shape)
    _check_broadcast(second.shape, b.shape)


def _by_row(first, second, scale_a, recipe_a, scale_b, recipe_b):
    """Whether the scales are of rows and columns; ValueError for other ways."""
    recipes = list(recipe_a), list(recipe_b)
    usual = (
        all(matrix.dtype.name in _EIGHT for matrix in (first, second))
        and all(s is not None and s.dtype == np.float32 for s in (scale_a, scale_b))
        and recipes in ((_TENSOR, _TENSOR), (_ROW, _ROW))
    )
    if not usual:
        raise _no_such_way(first, second, scale_a, scale_b)
    return recipes[0] == _ROW


# ---- the product ----


@op(
    "_scaled_mm_v2(Tensor self, Tensor mat2, Tensor? scale_a, int[] recipe_a, int[] swizzle_a, "
    "Tensor? scale_b, int[] recipe_b, int[] swizzle_b, Tensor? bias, dtype? out_dtype, "
    "int[] contraction_dim=(), bool use_fast_accum=False) -> Tensor",
    derivative={
        ("self", "mat2", "scale_a", "scale_b", "bias"): no_derivative("_scaled_mm_v2"),
    },
    name="torch::autograd::NotImplemented",
)
@dims.quiet
def _scaled_mm(
    self, mat2, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, bias, out_dtype,
    contraction_dim, use_fast_accum,
):  # fmt: skip
    """The product of matrices of eight-bit floats; see `imode.nn.functional.scaled_mm`."""
    _check_shapes(self, mat2, contraction_dim)
    _check_bias(bias, mat2.shape[1])
    if len(swizzle_a) == len(swizzle_b) == 1 and (swizzle_a[0] or swizzle_b[0]):
        raise ValueError("CPU does not support swizzle.")
    by_row = _by_row(self, mat2, scale_a, recipe_a, scale_b, recipe_b)
    _check_scales(self, mat2, scale_a, scale_b, by_row)
    dtype = as_numpy(out_dtype, self.dtype)
    if bias is not None:
        _check_broadcast((self.shape[0], mat2.shape[1]), bias.shape)
    if skipping():
        return np.empty((self.shape[0], mat2.shape[1]), dtype)
    first, second = (
        matrix.astype(np.float32) * (scale if by_row else scale.reshape(()))
        for matrix, scale in ((self, scale_a), (mat2, scale_b))
    )
    made = linalg.mm(first, second)
    if bias is not None and first.shape[1]:
        made += bias.astype(np.float32)
    return made.astype(dtype)


@op(
    "_scaled_grouped_mm_v2(Tensor self, Tensor mat2, Tensor? scale_a, int[] recipe_a, "
    "int[] swizzle_a, Tensor? scale_b, int[] recipe_b, int[] swizzle_b, Tensor? offs=None, "
    "Tensor? bias=None, dtype? out_dtype=None, int[] contraction_dim=(), "
    "bool use_fast_accum=False) -> Tensor",
    differentiable=False,
)
def _scaled_grouped_mm(*arguments):
    """Products of groups of scaled matrices, which the CPU has not."""
    raise errors.dispatcher.missing_kernel("aten::_scaled_grouped_mm_v2", "CPU", [])


# ---- the functions ----


def _listed(value):
    return [] if value is None else value if isinstance(value, list) else [value]


def _scale(scale, place):
    """The one tensor of a list; None of a list of another length."""
    scales = _listed(scale)
    for i, each in enumerate(scales):
        if not isinstance(each, Tensor):
            raise TypeError(errors.arguments.no_tensor(i, place, class_name(each)))
    return scales[0] if len(scales) == 1 else None


def _scaling(scale, recipe, swizzle, place):
    """How a matrix is scaled, as the operators take it."""
    numbers = [[kind.value for kind in _listed(kinds)] for kinds in (recipe, swizzle)]
    return _scale(scale, place), *numbers


def scaled_mm(
    mat_a,
    mat_b,
    scale_a,
    scale_recipe_a,
    scale_b,
    scale_recipe_b,
    swizzle_a=None,
    swizzle_b=None,
    bias=None,
    output_dtype=_BRAIN,
    contraction_dim=(),
    use_fast_accum=False,
):
    """Multiply two matrices of float8_e4m3fn or float8_e5m2, each number of which has a scale.

    scale_a, scale_b: float32, what the numbers of each are multiplied with: one where both recipes
    are ScalingType.TensorWise; one for each row of mat_a, (rows, 1), and each column of mat_b,
    (1, columns), where both are RowWise. A list of one tensor is taken, too. bias: of float32,
    bfloat16 or float16, added to each row. output_dtype: None for that of mat_a.

    Computed in float32 and rounded once. Raises ValueError for other recipes and dtypes, for scales
    that lie in another order, and where shapes do not fit. There is no derivative.

    >>> F = imode.nn.functional
    >>> a = imode.ones(1, 4).to(imode.float8_e4m3fn)
    >>> half, way = imode.tensor(0.5), F.ScalingType.TensorWise
    >>> F.scaled_mm(a, a.t(), half, way, half, way)
    tensor([[1.]], dtype=imode.bfloat16)
    """
    return ops._scaled_mm_v2(
        mat_a,
        mat_b,
        *_scaling(scale_a, scale_recipe_a, swizzle_a, 2),
        *_scaling(scale_b, scale_recipe_b, swizzle_b, 5),
        bias,
        output_dtype,
        () if contraction_dim is None else contraction_dim,
        use_fast_accum,
    )


def scaled_grouped_mm(
    mat_a,
    mat_b,
    scale_a,
    scale_recipe_a,
    scale_b,
    scale_recipe_b,
    swizzle_a=None,
    swizzle_b=None,
    bias=None,
    offs=None,
    output_dtype=_BRAIN,
    contraction_dim=(),
    use_fast_accum=False,
):
    """Multiply groups of scaled matrices: NotImplementedError on the CPU, as in PyTorch.

    `grouped_mm` multiplies groups of matrices, and `scaled_mm` two that are scaled.

    >>> F, a, one = imode.nn.functional, imode.ones(1, 4), imode.tensor(1.0)
    >>> way = F.ScalingType.RowWise
    >>> F.scaled_grouped_mm(a, a, one, way, one, way)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: Could not run 'aten::_scaled_grouped_mm_v2' ...
    """
    return ops._scaled_grouped_mm_v2(
        mat_a,
        mat_b,
        *_scaling(scale_a, scale_recipe_a, swizzle_a, 2),
        *_scaling(scale_b, scale_recipe_b, swizzle_b, 5),
        offs,
        bias,
        output_dtype,
        () if contraction_dim is None else contraction_dim,
        use_fast_accum,
    )
