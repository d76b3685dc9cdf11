"""Products of sparse matrices with strided and with sparse ones."""

import numpy as np

from imode import errors
from imode._core.internals import array_of, wrap_array
from imode._core.sparse import is_sparse, parts
from imode.backends.sparse.calls import kernel
from imode.kernels.sparse import loops
from imode.kernels.sparse.coordinates import coalesced, make, sorted_parts


def _check(mat1, mat2):
    for mat in (mat1, mat2):
        if mat.dim() != 2 or (is_sparse(mat) and len(parts(mat).indices) != 2):
            raise errors.sparse.not_matrix(mat.dim())
    if mat1.dtype != mat2.dtype:
        first, second = (mat1, mat2) if is_sparse(mat1) else (mat2, mat1)
        raise errors.dtypes.expected_scalar(first.dtype.numpy, second.dtype.numpy)
    if np.dtype(mat1.dtype.numpy).kind == "b":
        raise errors.dtypes.not_implemented("addmm_sparse_dense", mat1.dtype.numpy)
    if mat1.shape[1] != mat2.shape[0]:
        raise errors.sparse.product_sizes(mat1.shape[1], mat2.shape[0])


def _check_dims(mat1, mat2):
    """Name what is no matrix as PyTorch does, which asks for sizes before it counts dimensions."""
    if is_sparse(mat1) and is_sparse(mat2):
        for name, mat in (("mat1_", mat1), ("mat2_", mat2)):
            if mat.dim() != 2:
                raise errors.sparse.not_two_dimensions(name, mat.dim())
    mat1.size(-2)
    mat2.size(-1)
    mat2.size(1 if is_sparse(mat1) else -2)


@kernel("mm")
def mm(self, mat2):
    _check_dims(self, mat2)
    _check(self, mat2)
    if not is_sparse(self):
        transposed = parts(mat2)
        product = _times(
            transposed.indices[1], transposed.indices[0], transposed.values, array_of(self).T,
            mat2.shape[1],
        )  # fmt: skip
        return wrap_array(np.ascontiguousarray(product.T))
    if is_sparse(mat2):
        if _char(self) not in "fdFD":
            raise errors.dtypes.not_implemented("sparse_matmul", self.dtype.numpy)
        return _times_sparse(self, mat2)
    found = parts(self)
    return wrap_array(
        _times(found.indices[0], found.indices[1], found.values, array_of(mat2), self.shape[0])
    )


def _char(tensor):
    return np.dtype(tensor.dtype.numpy).char


def _times(rows, columns, values, matrix, n_rows):
    """The product of a matrix, given by coordinates, and a strided one."""
    dtype = values.dtype
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    out = np.zeros((n_rows, matrix.shape[1]), wide)
    loops.times_matrix(
        np.ascontiguousarray(rows), np.ascontiguousarray(columns),
        np.ascontiguousarray(values, wide), np.ascontiguousarray(matrix, wide), out,
    )  # fmt: skip
    return out.astype(dtype, copy=False)


def _times_sparse(self, mat2):
    """Every element of `self` times the row of `mat2` that it meets, summed by place."""
    (rows, columns), values = sorted_parts(self)
    (there, across), others = sorted_parts(mat2)
    shape = (self.shape[0], mat2.shape[1])
    starts = loops.row_starts(np.ascontiguousarray(there), mat2.shape[0])
    counts = starts[columns + 1] - starts[columns]
    total = int(counts.sum())
    ahead = np.cumsum(counts) - counts
    at = np.arange(total) + np.repeat(starts[columns] - ahead, counts)
    indices = np.stack([np.repeat(rows, counts), across[at]])
    products = np.repeat(values, counts) * others[at]
    return make(*coalesced(indices, products, shape), shape, True)


@kernel("mv")
def mv(self, vec):
    if vec.dim() != 1 or self.dim() != 2:
        raise RuntimeError(
            "mv: two tensor dim should be 2 and 1, but got "
            f"SparseTensor Dim: {self.dim()}Tensor Dim: {vec.dim()}"
        )
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    if is_sparse(self) and is_sparse(vec):
        raise errors.sparse.no_kernel("mv")
    return mm(self, vec.unsqueeze(1)).squeeze(1)


@kernel("addmm")
def addmm(self, mat1, mat2, beta, alpha):
    if is_sparse(self) or not is_sparse(mat1):
        raise errors.sparse.no_kernel("addmm")
    _check(mat1, mat2)
    if is_sparse(mat2):
        raise errors.sparse.no_kernel("addmm")
    if self.dtype != mat1.dtype:
        raise errors.dtypes.expected_scalar(mat1.dtype.numpy, self.dtype.numpy)
    product = mm(mat1, mat2)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product + wrap_array(np.zeros(np.broadcast_shapes(self.shape, product.shape), bool))
    added = self.expand(product.shape)
    return product + (added if beta == 1 else added * beta)


@kernel("_sparse_addmm")
def sparse_addmm(self, mat1, mat2, beta, alpha):
    if not is_sparse(mat1):
        raise errors.sparse.only_sparse("_sparse_addmm")
    return addmm(self, mat1, mat2, beta, alpha)


@kernel("_sparse_sparse_matmul")
def sparse_sparse_matmul(self, other):
    if not (is_sparse(self) and is_sparse(other)):
        raise errors.sparse.only_sparse("_sparse_sparse_matmul")
    return mm(self, other)


@kernel("_sampled_product")
def sampled_product(mask, a, b):
    """Where `mask` has elements, those of `a @ b.T`: coalesced."""
    indices, _ = sorted_parts(mask)
    first, second = array_of(a), array_of(b)
    if (*first.shape[:1], *second.shape) != (*mask.shape, *first.shape[1:]) or (
        first.ndim != 2 or len(indices) != 2
    ):
        raise errors.sparse.product_sizes(mask.shape[0], first.shape[0] if first.ndim else 0)
    if first.dtype != second.dtype:
        raise errors.dtypes.expected_scalar(first.dtype, second.dtype)
    dtype = first.dtype
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    values = np.empty(indices.shape[1], wide)
    loops.products_at(
        np.ascontiguousarray(indices[0]), np.ascontiguousarray(indices[1]),
        np.ascontiguousarray(first, wide), np.ascontiguousarray(second, wide), values,
    )  # fmt: skip
    return make(indices, values.astype(dtype, copy=False), mask.shape, True)
