"""Elements picked and placed along a dimension: gather, take_along_dim, scatter and its kin.

Every index is checked before the first element is written.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from imode import ops
from imode._core.broadcast import broadcast_shape
from imode._core.internals import array_of
from imode._core.type_names import scalar_name
from imode.kernels.indexing import gather as kernels
from imode.kernels.indexing import gather_fast
from imode.kernels.shapes.views import wrap_dim
from imode.ops.indexing import composites_fast
from imode.ops.indexing.inplace_first import written
from imode.ops.schema import Out, composite, op

# ---- gather --------------------------------------------------------------------------------------


def _gather_backward(grad, self, dim, index):
    return grad.new_zeros(self.shape).scatter_add_(dim, index, grad)


def _gathered_shape(self, dim, index, *rest):
    wrap_dim(dim, self.ndim)
    return index.shape


op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    lambda self, dim, index, _: kernels.gather(self, dim, index),
    fast=gather_fast.gather,
    derivative={"self": _gather_backward},
    shows={"sparse_grad": True},
    variants="function method out",
    out=Out("self", overlap="first", shape=_gathered_shape),
    doc="""Return, for each value of `index`, the element with that coordinate along `dim`.

    index: int64 or int32, as many dimensions as self, no longer than self except along `dim`; the
    result has its shape.

    >>> imode.tensor([[1, 2], [3, 4]]).gather(1, imode.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """,
)


@composite(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    fast=composites_fast.take_along_dim,
    variants="function method out",
)
def take_along_dim(self, indices, dim, out=None):
    """Return the elements at `indices` along `dim`, both broadcast together in the others.

    indices: int64, as `argsort` and `argmax(keepdim=True)` give them; counted modulo the length of
    `dim`. dim: None for flat indices into all of the tensor, which must be within it.

    >>> x = imode.tensor([[3, 1, 2]])
    >>> x.take_along_dim(x.argsort(1), 1)
    tensor([[1, 2, 3]])
    """
    if dim is not None and self.dim() != indices.dim():
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.dim()} dimensions for input, and {indices.dim()} dimensions for indices"
        )
    if dim is None:
        return ops.gather(self.view(-1), 0, indices.view(-1), out=out)
    kind = array_of(indices).dtype
    if kind != np.int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got " + scalar_name(kind)
        )
    dim = wrap_dim(dim, self.dim())
    length = self.size(dim)  # which refuses a tensor without dimensions
    own, wanted = list(self.shape), list(indices.shape)
    same = own[:dim] == wanted[:dim] and own[dim + 1 :] == wanted[dim + 1 :]
    if same and not self.requires_grad:  # recorded, the expansion shows in the graph
        return ops.gather(self, dim, indices % length, out=out)
    count = wanted[dim]
    own[dim] = wanted[dim] = 1
    common = list(broadcast_shape(own, wanted))
    common[dim] = length
    source = self.expand(common)
    common[dim] = count
    return ops.gather(source, dim, indices.expand(common) % length, out=out)


# ---- scatter -------------------------------------------------------------------------------------


def _mode(reduce):
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return reduce


def _scatter_value(self, dim, index, value):
    kernels.scatter(self, dim, index, value)


def _scatter_reduce_mode(self, dim, index, source, reduce):
    kernels.scatter(self, dim, index, source, _mode(reduce))


def _check_scattered(self, dim, index, source, *rest):
    source = source if isinstance(source, np.ndarray) else None
    kernels.check_along("scatter", index, self, dim, source)


_SCATTERED = Out("same", overlap="rest", shape=_check_scattered)
_WITHOUT = {"self": lambda grad, dim, index: grad.scatter(dim, index, 0)}

written(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    kernels.scatter,
    fast=gather_fast.scatter,
    out=_SCATTERED,
    derivative={**_WITHOUT, "src": lambda grad, dim, index: grad.gather(dim, index)},
    doc="""Return the tensor with elements of `src` (or one number) put where `index` says.

    Element i of src goes to the place of i, its coordinate along `dim` replaced by index[i].
    reduce: "add" or "multiply" instead of replacing (such a result cannot be differentiated).

    >>> imode.zeros(1, 3).scatter(1, imode.tensor([[2, 0]]), imode.tensor([[5.0, 6.0]]))
    tensor([[6., 0., 5.]])
    """,
)
written(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    _scatter_value,
    fast=gather_fast.scatter,
    out=_SCATTERED,
    derivative=_WITHOUT,
    name="ScatterBackward1",
    doc="""Return the tensor with one number put where `index` says.""",
)
written(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    _scatter_reduce_mode,
    out=_SCATTERED,
    derivative=("self", "src"),
    name="NotImplemented",
    doc="""Return the tensor with `src` added to, or multiplied into, the places of `index`.""",
)
written(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce)"
    " -> Tensor",
    _scatter_reduce_mode,
    out=_SCATTERED,
    derivative=("self",),
    name="NotImplemented",
    doc="""Return the tensor with a number added to, or multiplied into, the places of `index`.""",
)

written(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    lambda self, dim, index, src: kernels.scatter(self, dim, index, src, "add"),
    fast=gather_fast.scatter_add,
    out=_SCATTERED,
    derivative={
        "self": lambda grad: grad,
        "src": lambda grad, dim, index: grad.gather(dim, index),
    },
    doc="""Return the tensor with the elements of `src` added where `index` says (see `scatter`).

    >>> imode.zeros(2).scatter_add(0, imode.tensor([1, 1]), imode.tensor([2.0, 3.0]))
    tensor([0., 5.])
    """,
)


def _scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result):
    places = Places(
        pick=lambda x: x.gather(dim, index),
        add=lambda x, terms: x.scatter_add(dim, index, terms),
        again=lambda x, y: x.scatter_reduce(dim, index, y, reduce, include_self=include_self),
        clear=lambda x: x.scatter(dim, index, 0),
    )
    return reduce_backward(
        grad, self, src, reduce, include_self, result, places, "scatter_reduce", "src"
    )


class Places(NamedTuple):
    """Which elements of a tensor those of a source are combined with, as functions.

    pick: the elements at the places. add: a tensor, with a source added there. again: the whole
    operator, of another tensor and source. clear: a tensor with zeros there.
    """

    pick: Callable
    add: Callable
    again: Callable
    clear: Callable


def reduce_backward(grad, self, src, reduce, include_self, result, places, name, source):
    """The gradients of what combines a source with elements of `self`: by both of them.

    name, source: the operator and its source, for an error.
    """
    pick = places.pick
    if reduce == "sum":
        to_self, to_src = grad, pick(grad)
    elif reduce == "mean":
        count = (ops.ones_like if include_self else ops.zeros_like)(grad)
        count = places.add(count, ops.ones_like(src))
        count = count.masked_fill(count == 0, 1)
        to_self, to_src = grad / count, pick(grad) / pick(count)
    elif reduce == "prod":
        to_self, to_src = _prod_backward(grad, self, src, result, places, name, source)
    else:
        own = (self == result).to(grad.dtype)
        other = (src == pick(result)).to(grad.dtype)
        share = grad / places.add(own, other)
        to_self, to_src = own * share, other * pick(share)
    return to_self if include_self else places.clear(to_self), to_src


def _prod_backward(grad, self, src, result, places, name, source):
    """Products without one factor: a quotient, or, where that factor is 0, computed anew."""
    nonzero_self = self.masked_fill(self == 0, 1)
    to_self = grad * places.again(nonzero_self, src) / nonzero_self
    zero = src == 0
    zeros = places.pick(places.add(ops.zeros_like(self), zero.to(self.dtype)))
    single = zero & (zeros == 1)
    others = places.again(self, src.masked_fill(single, 1))
    quotient = places.pick(grad * result) / src.masked_fill(zero, 1)
    to_src = ops.where(single, places.pick(grad * others), quotient)
    several = (zeros != 0) & (zeros != 1)  # complex numbers have no order
    return to_self, ops._zeros_met(to_src, name, source) if several.any() else to_src


def _refuse_zeros(grad, name, source):
    raise RuntimeError(
        f"{name}(): Double backward is unsupported for {source} when >1 zeros in {source} are "
        "scattered to the same position in self. Their product has a second derivative that its "
        "first, which is 0, does not show"
    )


op(
    "_zeros_met(Tensor self, str name, str source) -> Tensor",
    lambda self, name, source: np.copy(self),
    derivative={"self": _refuse_zeros},
    name="torch::autograd::Error",
)


written(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor",
    kernels.scatter_reduce,
    out=_SCATTERED,
    derivative={("self", "src"): _scatter_reduce_backward},
    real_only="scatter_reduce",
    doc="""Return the tensor with `src` combined into the places of `index` (see `scatter`).

    reduce: "sum", "prod", "mean", "amax" or "amin". include_self: whether the tensor's own element
    takes part.

    >>> imode.zeros(2).scatter_reduce(0, imode.tensor([1, 1]), imode.tensor([2.0, 3.0]), "amax")
    tensor([0., 3.])
    """,
)
