"""Tensors of given contents: from data, or zeros, ones and full, also like another tensor.

A factory has no tensor argument; its kernel returns a fresh ndarray, which becomes a normal tensor,
or an inference tensor inside inference mode. `out=` fills a tensor that exists: there the dtype is
that tensor's. `requires_grad=True` is applied to the result by the binder.
"""

import math
from functools import partial

import numpy as np

from imode import errors, ops
from imode._core.allocator import allocated, cleared
from imode._core.dtype import as_numpy, get_default_dtype
from imode._core.elsewhere import elements_of
from imode._core.formats import memory_order
from imode._core.internals import has_node
from imode._core.layout import empty_in, empty_like
from imode._core.numbers import filling
from imode._core.overriding import held
from imode._core.parallel import skipping
from imode._core.promotion import result_type
from imode._core.tensor import Tensor
from imode._core.type_names import scalar_name
from imode._core.user_frames import warn
from imode.kernels.creation import fill_fast, from_data, from_data_fast
from imode.kernels.shapes import storage_views
from imode.kernels.shapes.views import apply
from imode.ops.schema import Out, op

OPTIONS = (
    "dtype? dtype=None, any layout=None, device? device=None, bool requires_grad=False, "
    "bool pin_memory=False"
)
N_OPTIONS = 5  # arguments that OPTIONS adds; the first is the dtype


# ---- memory -------------------------------------------------------------------------------------


def default_float():
    """The np.dtype of Python floats."""
    return get_default_dtype().numpy


def allocate(size, dtype, make=allocated):
    """A new array; `dtype` an imode dtype or None for the default. RuntimeError if impossible."""
    dtype = as_numpy(dtype) or default_float()
    try:
        return make(size, dtype)
    except (ValueError, MemoryError):
        return _impossible(tuple(size), dtype)


def _impossible(size, dtype):
    """Say why NumPy refused a shape; an empty one that it finds too long is made by hand."""
    for n in size:
        if n < 0:
            raise errors.shapes.negative_dimension(n, size)
    if len(size) > 64:
        raise RuntimeError(f"a tensor has at most 64 dimensions, got {len(size)}")
    count = math.prod(size)
    if count * dtype.itemsize >= 1 << 63 or any(n >= 1 << 63 for n in size):
        raise errors.shapes.storage_overflow(size)
    if count == 0:
        raise RuntimeError(
            f"Stride calculation overflowed. A dimension is too long for nothing: {list(size)}"
        )
    raise errors.shapes.no_memory(count * dtype.itemsize)


def _fill(made, value):
    if not skipping():
        made.fill(value)


def allocate_like(array, dtype, memory_format, operator):
    """A new array of the shape of `array`, dense; the order of its dimensions too unless said."""
    dtype = as_numpy(dtype, array.dtype)
    axes = memory_order(memory_format, array.ndim, operator)
    if axes is None:
        return empty_like(array, dtype)
    return allocate(array.shape, dtype, partial(empty_in, axes))


# ---- factories and their out= form --------------------------------------------------------------


def factory(schema, kernel, *, out="written", **words):
    """Declare a factory; `out=` fills a given tensor, in that tensor's dtype.

    `out`: "resized" to the sizes first, which is refused of what requires grad; "written", with
    the result; "shaped", likewise, in its own shape where it has as many elements; "warned" of, if
    it has not.
    """

    def into(*arguments):
        return _fill_out(operator, out, *arguments)

    words |= {"variants": "function out", "out": Out(into=into)}
    operator = op(schema, kernel, differentiable=False, **words)
    return operator


def _fill_out(functional, way, *arguments):
    """Run a factory for its out= form: the dtype is out's, and a stated one must agree.

    Whether `out` requires grad afterwards is what `requires_grad` says, as of a new tensor.
    """
    *arguments, out = arguments
    arguments = dict(zip(functional.names, arguments, strict=True))
    stated = arguments.get("dtype")
    if stated is not None and stated != out.dtype:
        raise RuntimeError(
            f"dtype {scalar_name(as_numpy(stated))} does not match dtype of out parameter "
            f"({scalar_name(as_numpy(out.dtype))})"
        )
    arguments["dtype"] = out.dtype
    result = functional(**arguments).detach()
    if "resized" in way:
        out.resize_(arguments["size"])
    if way != "resized":
        if "shaped" in way and result.numel() == out.numel():
            result = result.view(out.shape)
        elif "warned" in way and out.numel():
            warn(
                f"The number of elements in the out tensor of shape {list(out.shape)} is "
                f"{out.numel()} which does not match the computed number of elements "
                f"{result.numel()}. The out tensor is resized; a rounding error may be the reason.",
            )
        functional.entry.out.write(result, out, f"aten::{functional.name}", quiet=True)
    return out if has_node(out) else out.requires_grad_(arguments["requires_grad"])


# ---- constant contents --------------------------------------------------------------------------


def _empty(size, dtype, layout, device, requires_grad, pin_memory, memory_format):
    axes = memory_order(memory_format, len(size), "empty")
    if axes is None:
        if memory_format is not None:
            raise RuntimeError("unsupported memory format Preserve")
        return allocate(size, dtype)
    return allocate(tuple(size), dtype, partial(empty_in, axes))


def _zeros(size, dtype, *options):
    if size and min(size) < 0:
        raise RuntimeError("zeros: Dimension size must be non-negative.")
    return allocate(size, dtype, cleared)


def _ones(size, dtype, *options):
    made = allocate(size, dtype)
    _fill(made, 1)
    return made


def _full(size, fill_value, dtype, *options):
    found = result_type(fill_value)
    made = allocate(size, found if dtype is None else dtype)
    _fill(made, filling(fill_value, made))
    return made


factory(
    f"empty(int[] size, *, {OPTIONS}, any memory_format=None) -> Tensor",
    _empty,
    fast=fill_fast.empty,
    out="resized",
    doc="""Return a tensor of the given size with whatever its memory holds.

    Raises RuntimeError for a negative size or one that no memory can hold.

    >>> imode.empty(2, 3).shape
    imode.Size([2, 3])
    """,
)
factory(
    f"zeros(int[] size, *, {OPTIONS}) -> Tensor",
    _zeros,
    fast=fill_fast.zeros,
    doc="""Return a tensor of zeros.

    >>> imode.zeros(2, dtype=imode.int64)
    tensor([0, 0])
    """,
)
factory(
    f"ones(int[] size, *, {OPTIONS}) -> Tensor",
    _ones,
    fast=fill_fast.ones,
    doc="""Return a tensor of ones.

    >>> imode.ones(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """,
)
factory(
    f"full(int[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    _full,
    fast=fill_fast.full,
    doc="""Return a tensor whose elements are all `fill_value`, of the value's dtype unless given.

    >>> imode.full((2,), 7)
    tensor([7, 7])
    """,
)


def _empty_like(self, dtype, layout, device, requires_grad, pin_memory, memory_format):
    return allocate_like(self, dtype, memory_format, "empty_like")


def _filled_like(name, value):
    def kernel(self, dtype, layout, device, requires_grad, pin_memory, memory_format):
        made = allocate_like(self, dtype, memory_format, name)
        _fill(made, value)
        return made

    return kernel


def _full_like(self, fill_value, dtype, layout, device, requires_grad, pin_memory, memory_format):
    made = allocate_like(self, dtype, memory_format, "full_like")
    _fill(made, filling(fill_value, made))
    return made


for _name, _kernel, _argument in (
    ("empty_like", _empty_like, ""),
    ("zeros_like", _filled_like("zeros_like", 0), ""),
    ("ones_like", _filled_like("ones_like", 1), ""),
    ("full_like", _full_like, "Scalar fill_value, "),
):
    op(
        f"{_name}(Tensor self, {_argument}*, {OPTIONS}, any memory_format=None) -> Tensor",
        _kernel,
        fast=getattr(fill_fast, _name),
        differentiable=False,
        variants="function",
        doc=f"""`{_name.partition("_")[0]}` of the size, dtype and memory order of `input`.

        >>> imode.{_name}(imode.ones(2, 3){", 4" if _argument else ""}).shape
        imode.Size([2, 3])
        """,
    )


def _new(name, make):
    """A kernel of `tensor.new_...`: as the factory, the dtype that of the tensor."""

    def kernel(self, size, *rest):
        *arguments, dtype = rest[: 1 - N_OPTIONS]
        return make(size, self.dtype if dtype is None else as_numpy(dtype), *arguments)

    kernel.__name__ = name
    return kernel


def _new_full(size, dtype, fill_value):
    made = allocate(size, dtype)
    _fill(made, filling(fill_value, made))
    return made


def strided(size, dtype, stride):
    if any(n < 0 for n in size):
        _impossible(size, as_numpy(dtype))
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    item = as_numpy(dtype).itemsize
    reach = 0
    if all(size):
        reach = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if any(s < 0 for s in stride) or reach * item >= 1 << 63:
        raise errors.shapes.storage_overflow(size, stride)
    # Not np.ndarray(strides=): that gives an empty array others.
    return apply(storage_views.as_strided, allocate((reach,), dtype), size, stride, 0)


def _new_zeros(size, dtype):
    return allocate(size, dtype, cleared)


for _name, _make, _argument, _example in (
    ("new_empty", allocate, "", ""),
    ("new_zeros", _new_zeros, "", ""),
    ("new_ones", _ones, "", ""),
    ("new_full", _new_full, "Scalar fill_value, ", ", 3"),
    ("new_empty_strided", strided, "int[] stride, ", ", (1,)"),
):
    op(
        f"{_name}(Tensor self, int[] size, {_argument}*, {OPTIONS}) -> Tensor",
        _new(_name, _make),
        fast=getattr(fill_fast, _name, None),
        differentiable=False,
        variants="method",
        doc=f"""As `imode.{_name[4:]}`, with this tensor's dtype unless one is given.

        >>> imode.ones(1).{_name}((2,){_example}).dtype
        imode.float32
        """,
    )

op(
    f"empty_strided(int[] size, int[] stride, *, {OPTIONS}) -> Tensor",
    lambda size, stride, dtype, *options: strided(size, as_numpy(dtype, default_float()), stride),
    differentiable=False,
    variants="function",
    doc="""Return an uninitialised tensor of the given size and strides (in elements).

    >>> imode.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """,
)


def _permuted(size, physical_layout, dtype, *options):
    if len(physical_layout) != len(size):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    seen = set()
    for dim in physical_layout:
        if not 0 <= dim < len(size):
            raise RuntimeError(
                "Dimension out of range (expected to be between 0 and "
                f"{len(size) - 1}, but got {dim} at index {physical_layout.index(dim)}).  NB: "
                "negative dims not currently supported; file an issue if you want it."
            )
        if dim in seen:
            raise RuntimeError("Duplicate dim not allowed")
        seen.add(dim)
    strides, step = [1] * len(size), 1
    for dim in reversed(physical_layout):
        strides[dim] = step
        step *= max(size[dim], 1)
    dtype = as_numpy(dtype, default_float())
    if step * dtype.itemsize >= 1 << 63:
        _impossible(tuple(size), dtype)
    return strided(tuple(size), dtype, tuple(strides))


op(
    f"empty_permuted(int[] size, int[] physical_layout, *, {OPTIONS}) -> Tensor",
    _permuted,
    differentiable=False,
    variants="function",
    doc="""Return an uninitialised tensor whose dimensions lie in memory in the given order.

    physical_layout: the dimensions from the outermost in memory to the innermost, each once, or
    RuntimeError is raised.

    >>> imode.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """,
)


# ---- from data ----------------------------------------------------------------------------------


_COPY = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


def existing_array(data):
    """The array of a tensor, a checked ndarray or a DLPack exporter; None for other data."""
    if isinstance(data, np.ndarray):
        return from_data.check_array(data)
    if not isinstance(data, (list, tuple)):  # whose parts are looked at only where reading fails
        data = held(data)
    if not isinstance(data, Tensor):
        if isinstance(data, np.generic) or not hasattr(data, "__dlpack__"):
            return None
        data = ops.from_dlpack(data)
    return elements_of(data)


def copy_of(data, dtype):
    """A new array with the contents of `data`, which may be anything that `imode.tensor` takes."""
    found = existing_array(data)
    if found is None:
        try:
            return from_data.from_data(data, dtype, default_float())
        except TypeError as error:
            try:  # objects of subclasses of Tensor may be among the numbers
                numbers = held(data)
            except RecursionError:  # a list that contains itself
                raise error from None
        return from_data.from_data(numbers, dtype, default_float())
    made = empty_like(found, dtype)
    with np.errstate(all="ignore"):
        np.copyto(made, found, casting="unsafe")
    return made


def _tensor(data, dtype, *options):
    if isinstance(data, Tensor):
        warn(_COPY.format("imode.tensor"))
    return copy_of(data, as_numpy(dtype))


def _new_tensor(self, data, dtype, *options):
    if isinstance(data, Tensor):
        warn(_COPY.format("tensor.new_tensor"))
    return copy_of(data, as_numpy(dtype, self.dtype))


_DATA = "dtype? dtype=None, device? device=None, bool requires_grad=False, bool pin_memory=False"
op(
    f"tensor(any data, *, {_DATA}) -> Tensor",
    _tensor,
    fast=from_data_fast.tensor,
    differentiable=False,
    variants="function",
    doc="""Return a new tensor with the numbers of `data`: a number, nested sequences, an array.

    The dtype is that of the data; Python floats have the default dtype. Raises ValueError for
    ragged sequences, TypeError or RuntimeError for what are not numbers.

    >>> imode.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """,
)
op(
    f"new_tensor(Tensor self, any data, *, {_DATA}) -> Tensor",
    _new_tensor,
    fast=from_data_fast.new_tensor,
    differentiable=False,
    variants="method",
    doc="""As `imode.tensor`, with this tensor's dtype unless one is given.

    >>> imode.ones(1).new_tensor([1, 2])
    tensor([1., 2.])
    """,
)
