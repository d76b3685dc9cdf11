"""Reading and writing elements by advanced indices: `_index` and index_put.

The kernels are in `imode.kernels.indexing`; `tensor[...]` itself is in `subscript`. Every index is
checked before the first element is written.
"""

import numpy as np

from imode import errors, ops
from imode._core.internals import array_of
from imode._core.tensor import Tensor
from imode._core.type_names import class_name
from imode.kernels.indexing import index as kernels
from imode.kernels.indexing import index_fast
from imode.ops.indexing.inplace_first import written
from imode.ops.schema import composite, op


def _index_backward(_, grad, shape, indices, dims):
    result = np.zeros(shape, grad.dtype)
    kernels.put(result, indices, grad, True, dims)
    return result


# `self` is None: in PyTorch, zeros that the gradient is put into, to which the node has an edge.
op(
    "_index_backward(Tensor? self, Tensor grad_output, int[] shape, Tensor[] indices, int[]? dims) "
    "-> Tensor",
    _index_backward,
    fast=index_fast.index_backward,
    derivative={
        "self": lambda grad: grad,
        "grad_output": lambda grad, indices, dims: ops._index(grad, indices, dims),
    },
    name="IndexPutImplBackward0",
    shows={"accumulate": lambda: True, "dims": None},
)


def _one_per_place(indices, dims):
    """The indices as PyTorch lists them: None for each dimension before the last without one."""
    if dims is None:
        return indices
    places, dim = [], 0
    for index, start in zip(indices, dims, strict=True):
        places += [None] * (start - dim) + [index]
        dim = start + (index.ndim if array_of(index).dtype in (np.bool_, np.uint8) else 1)
    return tuple(places)


op(
    "_index(Tensor self, Tensor[] indices, int[]? dims=None) -> Tensor",
    kernels.get,
    fast=index_fast.index,
    derivative={
        "self": lambda grad, self_shape, indices, dims: ops._index_backward(
            None, grad, self_shape, indices, dims
        )
    },
    shows={"dims": None, "indices": _one_per_place},
    doc="""Return the elements that index tensors name: integers, or masks of what to take.

    dims: the dimension that each index starts at; without it they stand for the first dimensions
    in a row. The index tensors are broadcast together. What `tensor[...]` calls.
    """,
)


@composite("index.Tensor(Tensor self, any indices) -> Tensor", variants="")
def _index_by_place(self, indices):
    """Return the elements that a list of index tensors names, None where all are taken.

    >>> imode.ops.index(imode.tensor([[1, 2], [3, 4]]), [None, imode.tensor([1])]).tolist()
    [[2], [4]]
    """
    given, dims, dim = [], [], 0
    for place, index in enumerate(indices if isinstance(indices, (list, tuple)) else [indices]):
        if index is None:
            dim += 1
            continue
        if not isinstance(index, Tensor):
            raise TypeError(errors.arguments.no_tensor(place, 1, class_name(index)))
        given.append(index)
        dims.append(dim)
        dim += index.dim() if index.dtype.numpy in (np.bool_, np.uint8) else 1
    if dim > self.dim():
        raise errors.shapes.too_many_indices(self.dim(), dim)
    if not given:
        raise errors.shapes.no_index()
    return ops._index(self, tuple(given), tuple(dims))


def _put_self(grad, indices, values_shape, accumulate, dims):
    if accumulate:
        return grad
    return ops.index_put(grad, indices, grad.new_zeros(values_shape), dims=dims)


written(
    "index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False, *, "
    "int[]? dims=None) -> Tensor",
    kernels.put,
    fast=index_fast.index_put,
    keep_order=True,
    out=False,
    derivative={
        "self": _put_self,
        "values": lambda grad, indices, dims: ops._index(grad, indices, dims),
    },
    shows={"dims": None, "values_sym_sizes": None, "indices": _one_per_place},
    doc="""Return the tensor with `values` at the places that index tensors name.

    values: broadcast to the shape of what the indices pick; its dtype must be self's. accumulate:
    add the values instead, an index that comes twice counting twice. dims: the dimension that each
    index starts at; without it they stand for the first dimensions in a row.

    >>> imode.zeros(3).index_put((imode.tensor([0, 2]),), imode.tensor(5.0))
    tensor([5., 0., 5.])
    """,
)
