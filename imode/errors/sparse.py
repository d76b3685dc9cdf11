"""Sparse tensors where only strided ones can be, coordinates that do not fit."""

from imode._core.type_names import scalar_name


def no_kernel(op):
    """An operator that sparse tensors do not have."""
    return NotImplementedError(
        f"Could not run 'aten::{op}' with arguments from the 'SparseCPU' backend. Sparse tensors "
        "have no such operator.\nWays out: to_dense(), which gives a strided tensor; coalesce() "
        "and values(), which are the elements that are there."
    )


def not_sparse(name, what="sparse coordinate tensor"):
    """A strided tensor where only a sparse one can be."""
    return RuntimeError(
        f"{name} expected {what} layout but got Strided\nto_sparse() gives a sparse one."
    )


def only_sparse(name):
    """A strided tensor, in an operator that is for sparse ones alone."""
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'CPU' backend. It is for sparse "
        "tensors.\nto_sparse() gives one."
    )


def no_storage():
    """The memory of a sparse tensor was asked for."""
    return RuntimeError(
        "Cannot access data pointer of Tensor that doesn't have storage\nA sparse tensor has "
        "_indices() and _values(), each with memory; to_dense() gives a strided tensor."
    )


def storage():
    """`untyped_storage()` of a sparse tensor."""
    return NotImplementedError(
        "Cannot access storage of SparseTensorImpl\n_indices() and _values() have one each."
    )


def to_numpy():
    """NumPy was asked for an array over a sparse tensor."""
    return TypeError(
        "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.\n"
        "Its _indices() and _values() can be converted, too."
    )


def nbytes():
    return RuntimeError(
        "nbytes is not defined for sparse tensors.  If you want the size of the constituent "
        "tensors, add the nbytes of the indices and values.  If you want the size of the  "
        "equivalent dense tensor, multiply numel() by element_size()"
    )


def uncoalesced(name):
    """indices() or values() of a tensor that may have several values at one place."""
    return RuntimeError(
        f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first\n"
        f"_{name}() gives them as they are, with places that occur more than once."
    )


def inplace_uncoalesced(name):
    """A write in place by a function that a sum does not go through."""
    return RuntimeError(
        f"{name} requires coalesced input\nx = x.{name[:-1]}(), or coalesce() it first."
    )


def sparse_plus_dense():
    return RuntimeError(
        "add(sparse, dense) is not supported. Use add(dense, sparse) instead.\n"
        "The result is strided: dense + sparse."
    )


def added_sizes(a, b):
    return RuntimeError(
        f"add: expected sizes of 'self' and 'other' to match, but {list(a)} != {list(b)}"
    )


def added_to_dense(a, b):
    return RuntimeError(
        f"add: expected 'self' and 'other' to have same size, but self has size {list(a)} while "
        f"other has size {list(b)} (FYI: dense-sparse addition does not currently support "
        "broadcasting)"
    )


def multiplied_sizes():
    return RuntimeError(
        "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, "
        "number of sparse dimensions, and shape of sparse dimensions"
    )


def divisor(shape):
    return RuntimeError(
        "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
        f"{list(shape)} for divisor)"
    )


def dimensions(size, sparse_dim, dense_dim):
    """A size that does not go with the indices and the values."""
    return RuntimeError(
        f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {size}, sparse_dim = "
        f"{sparse_dim}, dense_dim = {dense_dim}\nIndices are [sparse_dim, nnz], values [nnz, "
        "*sizes of the other dimensions]."
    )


def counts(of_indices, of_values):
    return RuntimeError(
        f"indices and values must have same nnz, but got nnz from indices: {of_indices}, nnz from "
        f"values: {of_values}"
    )


def negative_index(index, dim):
    return RuntimeError(f"found negative index {index} for dim {dim}")


def index_out_of_range(index, dim, size):
    return RuntimeError(
        f"size is inconsistent with indices: for dim {dim}, size is {size} but found index {index}"
    )


def value_sizes(found, expected):
    """Values whose other dimensions are not those of the size."""
    return RuntimeError(f"values has incorrect size, expected {expected}, got {found}")


def falsely_coalesced():
    return RuntimeError(
        "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
    )


def parts_not_dense(name):
    """Indices or values that are sparse themselves."""
    return RuntimeError(f"expected {name} to be a dense tensor, but got {name} of layout Sparse")


def shrunk(kind, before, after):
    return RuntimeError(
        f"shrinking the size of {kind} dimensions (from {list(before)} to {list(after)}) on a "
        "non-empty sparse tensor is not supported."
    )


def not_two_dimensions(name, ndim):
    """A factor of a product of two sparse matrices is no matrix."""
    return RuntimeError(
        f"Expected {name}.dim() == 2 to be true, but got false. It has {ndim} dimensions."
    )


def product_sizes(expected, found):
    return RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {expected}, got {found}")


def elsewhere(device):
    """A sparse tensor on another device than the CPU."""
    return NotImplementedError(
        f"Could not run 'aten::_sparse_coo_tensor_with_dims' on device {str(device)!r}. Sparse "
        "tensors are on the CPU alone.\nA strided one can be moved: to_dense()."
    )


def other_layout(name, wanted, found):
    """An out= or a target of another layout than the result."""
    return RuntimeError(
        f"{name}: expected {wanted.lower()} result tensor, got tensor with layout {found}"
    )


def resized_dims(kind, before, after):
    return RuntimeError(
        f"changing the number of {kind} dimensions (from {before} to {after}) on a non-empty "
        "sparse tensor is not supported."
    )


def not_matrix(ndim):
    """A factor of a product is no matrix."""
    return RuntimeError(f"addmm: matrices expected, got {ndim}D tensor")


def selected(index, shape, dim):
    return IndexError(
        f"index_select(): index contains {index} that is out of range for tensor of size "
        f"{list(shape)} at dimension {dim}"
    )


def joined(expected, found, position):
    """Tensors to concatenate whose other sizes differ."""
    return RuntimeError(
        f"All tensors must have the same shape: {list(expected)} (except in the concatenating "
        f"dimension), but found shape: {list(found)} at position {position}"
    )


def joined_dims(expected, found, position):
    """Tensors to concatenate with other numbers of sparse dimensions."""
    (a, b), (c, d) = expected, found
    return RuntimeError(
        f"All tensors must have the same sparse_dim and dense_dim: {a}, {b}, but tensor at "
        f"position {position} has {c}, {d}"
    )


def added_dtype(result, target):
    """A sparse tensor added in place to a strided one of a lesser dtype."""
    return RuntimeError(f"Can't convert result type {result} to output {target} in add operation")


def masked_sizes(a, b):
    return RuntimeError(
        "sparse_mask(): operands have incompatible sizes; self has size "
        f"{list(a)} but mask has size {list(b)}"
    )


def copied(a, b):
    """copy_() from a strided tensor to a sparse one, or the reverse."""
    return RuntimeError(
        "copy_() between dense and sparse Tensors is not implemented! Found self type = "
        f"torch.{a} and src type = torch.{b}\nConvert it: to_sparse(), to_dense()."
    )


def transposed(sparse_dim, dim0, dim1):
    """Sparse dimensions and others were exchanged."""
    return RuntimeError(
        f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {sparse_dim}, d0: "
        f"{dim0}, d1: {dim1}"
    )


def layout(name):
    """A layout that is not there."""
    return NotImplementedError(
        f"{name}: tensors of this layout are not in imode\nimode.sparse_coo is there."
    )


def stored_dtype(dtype):
    """Values of a dtype that no loop computes in."""
    return NotImplementedError(
        f"sparse tensors of {scalar_name(dtype)} are not in imode\nGive values of float32: "
        "values.float()."
    )


def sequence_of_sizes():
    """`imode.sparse.FloatTensor([2, 3])`: a list, which for other constructors is data."""
    return TypeError(
        "torch.sparse.SparseTensor(sequence) only accepts sizes.  Please use "
        "torch.sparse_coo_tensor() or construct a strided tensor and convert it to sparse via "
        "to_sparse."
    )
