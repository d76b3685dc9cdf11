"""Sparse COO tensors: how they are made, what they are made of, the way to and from strided ones.

`ON_COORDINATES` is the kernel of all operators here, also on strided tensors: the functions behind
them are in `imode/backends/sparse/`, by the operator's name. See Note [Sparse tensors] in
`_core/sparse.pyx`.
"""

from imode import errors, ops
from imode._core.formats import sparse_coo
from imode._core.sparse import ON_COORDINATES, is_sparse, parts
from imode._core.tensor import Tensor
from imode._core.type_names import class_name
from imode.ops.schema import composite, op


def _sizes(tensor):
    """(the number of sparse dimensions, that of the others) of a sparse tensor."""
    sparse_dim = len(parts(tensor).indices)
    return sparse_dim, tensor.dim() - sparse_dim


# ---- making -------------------------------------------------------------------------------------

op(
    "_sparse_coo_tensor_with_dims_and_tensors(int sparse_dim, int dense_dim, int[] size, "
    "Tensor indices, Tensor values, bool? is_coalesced=None) -> Tensor",
    ON_COORDINATES,
    derivative={"values": lambda grad, indices: ops._values_at(grad, indices)},
    by_values=True,
    doc="A sparse tensor of indices and values.",
)

op(
    "_values_at(Tensor source, Tensor indices) -> Tensor",
    ON_COORDINATES,
    derivative={
        "source": lambda grad, indices, source: _placed(grad, indices, source),
    },
    by_values=True,
    doc="The elements of a tensor, strided or sparse, at the indices of a sparse one.",
)


def _placed(values, indices, like):
    """Values at indices, summed, in the layout and shape of a tensor."""
    shape, n = tuple(like.shape), indices.size(0)
    made = ops._sparse_coo_tensor_with_dims_and_tensors(n, len(shape) - n, shape, indices, values)
    return made if like.is_sparse else made.to_dense()


@composite(
    "sparse_coo_tensor(any indices=None, any values=None, any size=None, *, dtype? dtype=None, "
    "device? device=None, bool pin_memory=False, bool requires_grad=False, "
    "any check_invariants=None, any is_coalesced=None) -> Tensor",
    variants="function",
)
def sparse_coo_tensor(
    indices, values, size, dtype, device, pin_memory, requires_grad, check_invariants, is_coalesced
):
    """Return a sparse tensor with `values` at `indices`, and zeros elsewhere.

    indices: integers [sparse_dim, nnz]; values: [nnz, *sizes of the other dimensions], of which
    those at one place are summed; both tensors or data. size: the shape; by default the smallest
    that holds the indices. `sparse_coo_tensor(size)` has no elements. The memory of tensors is
    shared, and gradients go to `values`. Indices are always checked: RuntimeError for one that is
    negative or beyond `size`, and for sizes that do not fit. `is_coalesced=True`: they are sorted,
    each place once; checked too.

    >>> imode.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    tensor(indices=tensor([[0, 1],
                           [2, 0]]),
           values=tensor([3., 4.]),
           size=(2, 3), nnz=2, layout=imode.sparse_coo)
    """
    if device is not None and device.type != "cpu":
        raise errors.sparse.elsewhere(device)
    if values is None:
        size = _only_size(indices, size)
        if min(size, default=0) < 0:
            raise errors.shapes.negative_dimension(min(size), size)
        nothing = ops.arange(0)
        indices, is_coalesced = nothing.reshape((len(size), 0)), True
        values = ops.empty((0,), dtype=dtype)
    with_graph = isinstance(values, Tensor)
    values = ops.asarray(values, dtype=dtype) if not with_graph else values
    if with_graph and dtype is not None:
        values = values.to(dtype)
    places = indices if isinstance(indices, Tensor) else ops.asarray(indices)
    for name, tensor in (("indices", places), ("values", values)):
        if tensor.is_sparse:
            raise errors.sparse.parts_not_dense(name)
    if places.is_complex():
        raise RuntimeError("sparse_coo_tensor(): indices must be integers, got complex numbers")
    places = places.detach().long()
    if places.dim() < 1 or (places.dim() != 2 and size is None):
        raise RuntimeError(
            f"indices must be sparse_dim x nnz, but got: {list(places.shape)}\n"
            "One row for each sparse dimension."
        )
    values = values.reshape((1,)) if values.dim() == 0 else values
    sparse_dim, dense_dim = places.size(0), values.dim() - 1
    if size is not None and len(size) != sparse_dim + dense_dim:
        raise errors.sparse.dimensions(len(size), sparse_dim, dense_dim)
    if places.dim() != 2:
        places = places.reshape((sparse_dim, -1))
    if places.size(1) != values.size(0):
        raise errors.sparse.counts(places.size(1), values.size(0))
    if size is None:
        size = _smallest(places, values)
    elif min(size, default=0) < 0:
        raise errors.shapes.too_many_elements(f"\nA size is negative: {list(size)}.")
    if requires_grad:
        values = values.detach()
    made = ops._sparse_coo_tensor_with_dims_and_tensors(
        sparse_dim, dense_dim, tuple(size), places, values, is_coalesced
    )
    return made.requires_grad_() if requires_grad else made


def _only_size(indices, size):
    """The size, where there is nothing else."""
    given = size if indices is None else indices
    if given is None or (indices is not None and size is not None) or isinstance(given, Tensor):
        raise TypeError(
            "sparse_coo_tensor(): argument 'size' (position 1) must be tuple of ints, not "
            f"{class_name(given)}"
        )
    return tuple(given)


def _smallest(places, values):
    """The smallest size that holds all indices."""
    sizes = []
    if places.size(1):
        low = places.amin(1).tolist()
        for dim, least in enumerate(low):
            if least < 0:
                raise errors.sparse.negative_index(least, dim)
        sizes = [most + 1 for most in places.amax(1).tolist()]
    return (*(sizes or [0] * places.size(0)), *values.shape[1:])


# ---- parts --------------------------------------------------------------------------------------

op(
    "_coalesce(Tensor self) -> Tensor",
    ON_COORDINATES,
    derivative={"self": lambda grad: grad},
    by_values=True,
    doc="The tensor with what has the same place summed.",
)


@composite("coalesce(Tensor(a) self) -> Tensor(a)", variants="method")
def coalesce(self):
    """Return a sparse tensor with its indices sorted, and what has the same place summed.

    The tensor itself if it is coalesced; raises RuntimeError for a strided tensor.

    >>> imode.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 3.0]).coalesce().values()
    tensor([2., 4.])
    """
    if not is_sparse(self):
        raise errors.sparse.not_sparse("coalesce")
    return self if parts(self).coalesced else ops._coalesce(self)


op(
    "values(Tensor(a) self) -> Tensor(a)",
    ON_COORDINATES,
    derivative={
        "self": lambda grad, self: ops._sparse_coo_tensor_with_dims_and_tensors(
            *_sizes(self), tuple(self.shape), self.indices(), grad, True
        )
    },
    variants="method",
    doc="""Return the values of a coalesced sparse tensor: [nnz, *sizes of the other dimensions].

    Raises RuntimeError where it is not coalesced, and for a strided tensor.

    >>> imode.eye(2).to_sparse().values()
    tensor([1., 1.])
    """,
)
for _name, _doc in (
    (
        "indices",
        """Return the indices of a coalesced sparse tensor: int64 [sparse_dim, nnz].

    Raises RuntimeError where it is not coalesced, and for a strided tensor.

    >>> imode.eye(2).to_sparse().indices()
    tensor([[0, 1],
            [0, 1]])
    """,
    ),
    ("_indices", "The indices of a sparse tensor, also where a place stands several times."),
    ("_values", "The values of a sparse tensor, also where a place has several."),
):
    op(
        f"{_name}(Tensor(a) self) -> Tensor(a)",
        ON_COORDINATES,
        differentiable=False,
        variants="method",
        tracked=False,
        doc=_doc,
    )


# ---- to strided tensors, and from them ----------------------------------------------------------

op(
    "_to_dense(Tensor self, dtype? dtype=None, bool masked_grad=True) -> Tensor",
    ON_COORDINATES,
    derivative={
        "self": lambda grad, self, masked_grad: (
            grad.sparse_mask(self.coalesce()) if masked_grad else grad.to_sparse(_sizes(self)[0])
        )
    },
    name="ToDenseBackward0",
    by_values=True,
    doc="A strided tensor with the elements of a sparse one.",
)


@composite(
    "to_dense(Tensor self, dtype? dtype=None, *, any masked_grad=None) -> Tensor",
    variants="method",
)
def to_dense(self, dtype, masked_grad):
    """Return a strided tensor with the elements of a sparse one; a strided one as it is.

    The gradient has elements where the tensor has some, or with `masked_grad=False` where it is
    not zero.

    >>> imode.sparse_coo_tensor([[1]], [2.0], (3,)).to_dense()
    tensor([0., 2., 0.])
    """
    if not is_sparse(self):
        return self if dtype is None else self.to(dtype)
    made = ops._to_dense(self, masked_grad=masked_grad is not False)
    return made if dtype is None else made.to(dtype)


for _schema, _node in (
    ("_to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor", "ToSparseBackward0"),
    ("_to_sparse(Tensor self) -> Tensor", "ToSparseBackward1"),
):
    op(
        _schema,
        ON_COORDINATES,
        derivative={"self": lambda grad: grad.to_dense()},
        name=_node,
        real_only="_to_sparse",
        by_values=True,
        doc="A sparse tensor of what is not zero.",
    )


@composite(
    "to_sparse(Tensor self, int? sparse_dim=None, *, any layout=None, any blocksize=None, "
    "int? dense_dim=None) -> Tensor",
    variants="method",
)
def to_sparse(self, sparse_dim, layout, blocksize, dense_dim):
    """Return a sparse tensor of the elements that are not zero, coalesced.

    With `sparse_dim` the first dimensions alone are sparse: of the rest, whole rows are kept. A
    sparse tensor is returned as it is. Raises RuntimeError for a number of dimensions that does not
    fit, NotImplementedError for other layouts than `imode.sparse_coo`.

    >>> imode.tensor([[0.0, 1.0], [0.0, 0.0]]).to_sparse(1).values()
    tensor([[0., 1.]])
    """
    if layout is not None and layout is not sparse_coo:
        raise errors.sparse.layout(layout)
    if is_sparse(self):
        if sparse_dim is not None and sparse_dim != _sizes(self)[0]:
            raise RuntimeError(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                "!=self.sparse_dim() is not supported"
            )
        return self
    if sparse_dim is None:
        return ops._to_sparse(self)
    if not sparse_dim and self.dim():
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    if not 0 <= sparse_dim <= self.dim():
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{self.dim()}] range, but "
            f"{sparse_dim} is given"
        )
    return ops._to_sparse(self, sparse_dim)


op(
    "sparse_mask(Tensor self, Tensor mask) -> Tensor",
    ON_COORDINATES,
    derivative={"self": lambda grad, self: grad if self.is_sparse else grad.to_dense()},
    variants="method",
    by_values=True,
    doc="""Return a sparse tensor with the elements of `self` where the sparse `mask` has some.

    >>> imode.tensor([1.0, 2.0]).sparse_mask(imode.tensor([0.0, 1.0]).to_sparse()).to_dense()
    tensor([0., 2.])
    """,
)

# ---- shapes that change -------------------------------------------------------------------------

for _name, _doc in (
    (
        "sparse_resize_",
        """Give a sparse tensor another shape, which holds the elements that it has.

    Raises RuntimeError where a dimension would shrink, or the number of sparse ones change, and
    there are elements.

    >>> imode.sparse_coo_tensor([[1]], [2.0], (2,)).sparse_resize_((4,), 1, 0).shape
    imode.Size([4])
    """,
    ),
    (
        "sparse_resize_and_clear_",
        """Give a sparse tensor another shape, and no elements.

    >>> imode.eye(2).to_sparse().sparse_resize_and_clear_((4,), 1, 0)._nnz()
    0
    """,
    ),
):
    op(
        f"{_name}(Tensor(a!) self, int[] size, int sparse_dim, int dense_dim) -> Tensor(a!)",
        ON_COORDINATES,
        differentiable=False,
        variants="method",
        doc=_doc,
    )
