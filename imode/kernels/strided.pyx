# View kernels: the checks, the arithmetic of shapes and strides, and `make`, through which every
# view is made. Strides here are NumPy's, in bytes; messages give PyTorch's, in elements.
#
# Why compiled: a view of four floats costs 60 ns here and 1 to 5 µs through NumPy's functions
# (`as_strided`, `broadcast_to`), which also give read-only arrays or bases that are not ndarrays.

cimport numpy as cnp
from imode._core cimport allocator
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from libc.limits cimport LLONG_MAX
from numpy cimport dtype, ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    long long PyLong_AsLongLong(object value) except? -1

cdef extern from "numpy/arrayobject.h":
    # Takes over a reference to `descr`, whatever happens.
    ndarray PyArray_NewFromDescr(
        type subtype, dtype descr, int nd, npy_intp* dims, npy_intp* strides, void* data, int flags,
        void* obj)


# ---- messages (cold) ----------------------------------------------------------------------------

# PyTorch's names of the element types, for messages.
cdef dict SCALAR_NAMES = {
    "float32": "Float", "float64": "Double", "float16": "Half",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
    "uint8": "Byte", "bool": "Bool",
}


cpdef str scalar_name(dtype d):
    """Return PyTorch's name of an element type, as its messages have it."""
    return SCALAR_NAMES.get(d.name, d.name)


cdef list _sizes(ndarray a):
    return [a.shape[i] for i in range(a.ndim)]


cdef int _raise_dim(Py_ssize_t dim, int low, int high) except -1:
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")


cdef int _raise_shape(npy_intp numel, tuple size) except -1:
    raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}")


cdef int _raise_expand(ndarray a, tuple size, Py_ssize_t target, Py_ssize_t have, int i) except -1:
    raise RuntimeError(
        f"The expanded size of the tensor ({target}) must match the existing size ({have}) at "
        f"non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {_sizes(a)}")


# ---- building blocks ----------------------------------------------------------------------------

cdef int _check_numel(int nd, npy_intp* shape) except -1:
    cdef npy_intp count = 1
    cdef int i
    for i in range(nd):
        if shape[i] < 0 or (shape[i] > 0 and count > LLONG_MAX // 16 // shape[i]):
            raise RuntimeError("numel: integer multiplication overflow")
        if shape[i] > 0:
            count *= shape[i]
    return 0


cdef ndarray make_of(
    ndarray a, dtype descr, int nd, npy_intp* shape, npy_intp* strides, char* data,
):
    cdef ndarray result
    _check_numel(nd, shape)
    Py_INCREF(descr)                       # PyArray_NewFromDescr takes over one reference
    result = PyArray_NewFromDescr(
        ndarray, descr, nd, shape, strides, data,
        cnp.PyArray_FLAGS(a) & cnp.NPY_ARRAY_WRITEABLE, NULL)
    Py_INCREF(a)                           # and PyArray_SetBaseObject another
    cnp.PyArray_SetBaseObject(result, a)
    return result


cdef ndarray make(ndarray a, int nd, npy_intp* shape, npy_intp* strides, char* data):
    """Return a view of `a`'s memory from `data` on."""
    _check_numel(nd, shape)
    return allocator.view(a, nd, shape, strides, data)


cpdef int wrap_dim(Py_ssize_t dim, int nd) except -1:
    """Return `dim` as an index from 0; a scalar counts as having one dimension."""
    cdef int n = nd if nd > 0 else 1
    if dim < -n or dim >= n:
        return _raise_dim(dim, -n, n - 1)
    return <int>(dim + n if dim < 0 else dim)


cdef int read_ints(tuple values, npy_intp* out) except -1:
    """Copy a tuple of ints into `out` (room for MAX_DIMS); return how many."""
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(values)
    if n > MAX_DIMS:
        raise ValueError(f"tensors have at most {MAX_DIMS} dimensions, got {n}")
    for i in range(n):
        out[i] = PyLong_AsLongLong(<object>PyTuple_GET_ITEM(values, i))
    return <int>n


cdef int _infer_size(npy_intp numel, tuple size, int nd, npy_intp* shape) except -1:
    """Fill in the one -1 of `shape` and check that the element counts agree."""
    cdef npy_intp count = 1
    cdef int i, infer = -1
    cdef bint huge = False
    for i in range(nd):
        if shape[i] == -1:
            if infer >= 0:
                raise RuntimeError("only one dimension can be inferred")
            infer = i
        elif shape[i] < 0:
            raise RuntimeError(
                f"invalid shape dimension {shape[i]} at index {i} of shape {list(size)}")
        elif shape[i] > 0 and count > LLONG_MAX // shape[i]:
            huge = True
        else:
            count *= shape[i]
    if huge and count != 0:
        return _raise_shape(numel, size)
    if infer < 0:
        return 0 if numel == count else _raise_shape(numel, size)
    if count == 0:
        if numel != 0:
            return _raise_shape(numel, size)
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified "
            "dimension size -1 can be any value and is ambiguous")
    if numel % count != 0:
        return _raise_shape(numel, size)
    shape[infer] = numel // count
    return 0


cdef int infer_view(
    int old_nd, npy_intp* old_shape, npy_intp* old_strides, npy_intp item,
    int nd, npy_intp* shape, npy_intp* strides,
) noexcept:
    """Fill in the `strides` that show a geometry as `shape`; return 0 where none exist, else 1.

    The rule is PyTorch's: split the old dimensions into the longest runs that are contiguous among
    themselves; each run must be cut into whole dimensions of the new shape. `item` is the stride
    of neighbours, in the unit of the strides.
    """
    cdef int d, view_d = nd - 1
    cdef npy_intp numel = 1, step = item, chunk, old_count = 1, new_count = 1
    cdef bint same = old_nd == nd
    for d in range(old_nd):
        numel *= old_shape[d]
        same = same and shape[d] == old_shape[d]
    if numel == 0 or old_nd == 0:
        for d in range(nd - 1, -1, -1):
            strides[d] = old_strides[d] if same else step
            step *= shape[d] if shape[d] > 0 else 1
        return 1
    chunk = old_strides[old_nd - 1]
    for d in range(old_nd - 1, -1, -1):
        old_count *= old_shape[d]
        if d > 0 and (old_shape[d - 1] == 1 or old_strides[d - 1] == old_count * chunk):
            continue
        while view_d >= 0 and (new_count < old_count or shape[view_d] == 1):
            strides[view_d] = new_count * chunk
            new_count *= shape[view_d]
            view_d -= 1
        if new_count != old_count:
            return 0
        if d > 0:
            chunk = old_strides[d - 1]
            old_count = new_count = 1
    return 1 if view_d == -1 else 0


def viewable(tuple shape, tuple strides, tuple size):
    """Return whether a geometry can be viewed as `size`.

    Raises RuntimeError where `size` is wrong for any reshape of it.
    """
    cdef npy_intp[64] old_shape
    cdef npy_intp[64] old_strides
    cdef npy_intp[64] new_shape
    cdef npy_intp[64] new_strides
    cdef int i, old_nd = read_ints(shape, old_shape), nd = read_ints(size, new_shape)
    cdef npy_intp numel = 1
    read_ints(strides, old_strides)
    for i in range(old_nd):
        numel *= old_shape[i]
    _infer_size(numel, size, nd, new_shape)
    return infer_view(old_nd, old_shape, old_strides, 1, nd, new_shape, new_strides) == 1


cdef ndarray storage_of(ndarray a):
    """Return the array that owns `a`'s memory, as far as NumPy can see."""
    cdef ndarray owner = a
    cdef object base = cnp.get_array_base(a)
    while isinstance(base, ndarray):
        owner = <ndarray>base
        base = cnp.get_array_base(owner)
    return owner


# ---- sizes --------------------------------------------------------------------------------------

cpdef ndarray alias(ndarray a):
    """Return the same shape over the same memory."""
    return make(a, a.ndim, cnp.PyArray_DIMS(a), cnp.PyArray_STRIDES(a), cnp.PyArray_BYTES(a))


cpdef ndarray view(ndarray a, tuple size):
    """Return `a` as `size` (one entry may be -1)."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int nd = read_ints(size, shape)
    _infer_size(cnp.PyArray_SIZE(a), size, nd, shape)
    if infer_view(
        a.ndim, cnp.PyArray_DIMS(a), cnp.PyArray_STRIDES(a), cnp.PyArray_ITEMSIZE(a),
        nd, shape, strides,
    ) == 0:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead.")
    return make(a, nd, shape, strides, cnp.PyArray_BYTES(a))


cpdef ndarray expand(ndarray a, tuple size, bint implicit=False):
    """Return `a` with dimensions of length 1 repeated (stride 0) and new ones in front."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int nd = read_ints(size, shape), old_nd = a.ndim, i, d
    cdef npy_intp have, step
    if nd < old_nd:
        raise RuntimeError(
            f"expand(torch.{scalar_name(descr_of(a))}Tensor{{{_sizes(a)}}}, size={list(size)}): "
            f"the number of sizes provided ({nd}) must be greater or equal to the number of "
            f"dimensions in the tensor ({old_nd})")
    for i in range(nd - 1, -1, -1):
        d = i - (nd - old_nd)
        if d >= 0:
            have = a.shape[d]
            step = a.strides[d]
        else:
            have = 1
            step = 0 if old_nd == 0 or i + 1 == nd else shape[i + 1] * strides[i + 1]
        if shape[i] == -1 and old_nd > 0:
            if d < 0:
                raise RuntimeError(
                    "The expanded size of the tensor (-1) isn't allowed in a leading, "
                    f"non-existing dimension {i}")
            shape[i] = have
        if shape[i] != have:
            if have != 1:
                _raise_expand(a, size, shape[i], have, i)
            step = 0
        strides[i] = step
    return make(a, nd, shape, strides, cnp.PyArray_BYTES(a))


cpdef ndarray unsqueeze(ndarray a, Py_ssize_t dim):
    """Return `a` with a dimension of length 1 put in before `dim`."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int nd = a.ndim, at, i
    if dim < -nd - 1 or dim > nd:
        _raise_dim(dim, -nd - 1, nd)
    if nd + 1 > MAX_DIMS:
        raise ValueError(f"tensors have at most {MAX_DIMS} dimensions, got {nd + 1}")
    at = <int>(dim + nd + 1 if dim < 0 else dim)
    for i in range(nd):
        shape[i if i < at else i + 1] = a.shape[i]
        strides[i if i < at else i + 1] = a.strides[i]
    shape[at] = 1
    strides[at] = a.shape[at] * a.strides[at] if at < nd else cnp.PyArray_ITEMSIZE(a)
    return make(a, nd + 1, shape, strides, cnp.PyArray_BYTES(a))


cdef ndarray _squeeze(ndarray a, unsigned long long which):
    """Drop the dimensions of length 1 whose bit in `which` is set."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int i, n = 0
    for i in range(a.ndim):
        if a.shape[i] != 1 or not (which >> i) & 1:
            shape[n] = a.shape[i]
            strides[n] = a.strides[i]
            n += 1
    return make(a, n, shape, strides, cnp.PyArray_BYTES(a))


cpdef ndarray squeeze(ndarray a):
    """Return `a` without its dimensions of length 1."""
    return _squeeze(a, <unsigned long long>-1)


cpdef ndarray squeeze_dim(ndarray a, Py_ssize_t dim):
    """Return `a` without dimension `dim` if its length is 1."""
    return _squeeze(a, 1ULL << wrap_dim(dim, a.ndim))


cpdef ndarray squeeze_dims(ndarray a, tuple dims):
    """Return `a` without those of `dims` whose length is 1."""
    cdef unsigned long long which = 0
    cdef int d
    for dim in dims:
        d = wrap_dim(dim, a.ndim)
        if (which >> d) & 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        which |= 1ULL << d
    return _squeeze(a, which)


# ---- order of dimensions ------------------------------------------------------------------------

cpdef ndarray permute(ndarray a, tuple dims):
    """Return `a` with its dimensions in the order of `dims`."""
    cdef npy_intp[64] order
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int n = read_ints(dims, order), nd = a.ndim, i, d
    cdef unsigned long long seen = 0
    if n != nd:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of dimensions i.e. "
            f"input.dim() = {nd} is not equal to len(dims) = {n}")
    for i in range(n):
        d = wrap_dim(order[i], nd)
        if (seen >> d) & 1:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        seen |= 1ULL << d
        shape[i] = a.shape[d]
        strides[i] = a.strides[d]
    return make(a, nd, shape, strides, cnp.PyArray_BYTES(a))


cpdef ndarray transpose(ndarray a, Py_ssize_t dim0, Py_ssize_t dim1):
    """Return `a` with two dimensions exchanged."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int nd = a.ndim, i, d0 = wrap_dim(dim0, nd), d1 = wrap_dim(dim1, nd)
    for i in range(nd):
        shape[i] = a.shape[i]
        strides[i] = a.strides[i]
    if nd > 0:
        shape[d0] = a.shape[d1]
        strides[d0] = a.strides[d1]
        shape[d1] = a.shape[d0]
        strides[d1] = a.strides[d0]
    return make(a, nd, shape, strides, cnp.PyArray_BYTES(a))


cpdef ndarray t(ndarray a):
    """Return the transpose of a matrix; scalars and vectors as they are."""
    if a.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {a.ndim}D")
    return transpose(a, 0, 1) if a.ndim == 2 else alias(a)


# ---- parts --------------------------------------------------------------------------------------

cpdef ndarray select(ndarray a, Py_ssize_t dim, Py_ssize_t index):
    """Return `a` at `index` of `dim`, without that dimension."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int nd = a.ndim, d, i
    cdef npy_intp at
    if nd == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, nd)
    if index < -a.shape[d] or index >= a.shape[d]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {_sizes(a)} at dimension {d}")
    at = index + a.shape[d] if index < 0 else index
    for i in range(nd - 1):
        shape[i] = a.shape[i if i < d else i + 1]
        strides[i] = a.strides[i if i < d else i + 1]
    return make(a, nd - 1, shape, strides, cnp.PyArray_BYTES(a) + at * a.strides[d])


cdef ndarray _slice(ndarray a, int d, npy_intp start, npy_intp count, npy_intp step):
    """Take `count` (at least 0) indices of dimension `d`, from `start` on, `step` apart."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int i
    for i in range(a.ndim):
        shape[i] = a.shape[i]
        strides[i] = a.strides[i]
    shape[d] = count
    strides[d] = a.strides[d] * step
    return make(a, a.ndim, shape, strides, cnp.PyArray_BYTES(a) + start * a.strides[d])


cpdef ndarray slice_dim(ndarray a, Py_ssize_t dim=0, start=None, end=None, Py_ssize_t step=1):
    """Return `a` at indices ``start:end:step`` of `dim`; bounds are clipped as Python does."""
    cdef int nd = a.ndim, d
    cdef npy_intp first, last, n
    if nd == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, nd)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    n = a.shape[d]
    first = 0 if start is None else PyLong_AsLongLong(start)
    last = n if end is None else PyLong_AsLongLong(end)
    if first < 0:
        first += n
    if last < 0:
        last += n
    first = 0 if first < 0 else (n if first > n else first)
    last = first if last < first else (n if last > n else last)
    # One less before the division and one more after: `last - first + step` might overflow.
    return _slice(a, d, first, (last - first - 1) // step + 1 if last > first else 0, step)


cpdef ndarray diagonal(
    ndarray a, Py_ssize_t offset=0, Py_ssize_t dim1=0, Py_ssize_t dim2=1,
):
    """Return the diagonals over `dim1` and `dim2` as a new last dimension."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int nd = a.ndim, i, n = 0, d1 = wrap_dim(dim1, nd), d2 = wrap_dim(dim2, nd)
    cdef npy_intp rows, cols, start
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows = a.shape[d1]
    cols = a.shape[d2]
    for i in range(nd):
        if i != d1 and i != d2:
            shape[n] = a.shape[i]
            strides[n] = a.strides[i]
            n += 1
    start = 0
    if offset >= 0:
        cols = cols - offset if offset < cols else 0
    else:
        rows = rows + offset if -offset < rows else 0
    shape[n] = rows if rows < cols else cols
    strides[n] = a.strides[d1] + a.strides[d2]
    if shape[n] > 0:
        start = offset * a.strides[d2] if offset >= 0 else -offset * a.strides[d1]
    return make(a, nd - 1, shape, strides, cnp.PyArray_BYTES(a) + start)


cpdef ndarray unfold(ndarray a, Py_ssize_t dim, Py_ssize_t size, Py_ssize_t step):
    """Return the windows of length `size`, `step` apart, along `dim`, as a new last dimension."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int nd = a.ndim, i, d = wrap_dim(dim, nd)
    cdef npy_intp length = a.shape[d] if nd > 0 else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {d} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if nd + 1 > MAX_DIMS:
        raise ValueError(f"tensors have at most {MAX_DIMS} dimensions, got {nd + 1}")
    for i in range(nd):
        shape[i] = a.shape[i]
        strides[i] = a.strides[i]
    shape[nd] = size
    strides[nd] = a.strides[d] if nd > 0 else cnp.PyArray_ITEMSIZE(a)
    if nd > 0:
        shape[d] = (length - size) // step + 1
        strides[d] = step * a.strides[d]
    return make(a, nd + 1, shape, strides, cnp.PyArray_BYTES(a))


# ---- several results ----------------------------------------------------------------------------

cdef tuple _pieces(ndarray a, int d, npy_intp size, npy_intp count):
    """Return `count` pieces of length `size` along `d`, the last one as long as what is left."""
    cdef tuple result = PyTuple_New(count)
    cdef npy_intp i, left
    cdef ndarray piece
    for i in range(count):
        left = a.shape[d] - i * size
        piece = _slice(a, d, i * size, size if size < left else left, 1)
        Py_INCREF(piece)                   # PyTuple_SET_ITEM takes over one reference
        PyTuple_SET_ITEM(result, i, piece)
    return result


cpdef tuple split(ndarray a, Py_ssize_t split_size, Py_ssize_t dim=0):
    """Return pieces of length `split_size` along `dim`; the last may be shorter."""
    cdef int d
    cdef npy_intp length
    if a.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}")
    d = wrap_dim(dim, a.ndim)
    length = a.shape[d]
    if split_size == 0 and length > 0:
        raise RuntimeError(
            "split_size can only be 0 if dimension size is 0, "
            f"but got dimension size of {length}")
    return _pieces(a, d, split_size, 1 if length == 0 else (length - 1) // split_size + 1)


cpdef tuple split_with_sizes(ndarray a, tuple split_sizes, Py_ssize_t dim=0):
    """Return pieces of the given lengths along `dim`; they must add up to its length."""
    cdef int d
    cdef npy_intp start = 0, size
    cdef list result = []
    if a.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = wrap_dim(dim, a.ndim)
    cdef npy_intp total = 0
    cdef bint negative = False
    for size in split_sizes:
        negative |= size < 0
        total = LLONG_MAX if total > LLONG_MAX - size else total + size
    if negative:
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_sizes)}")
    if total != a.shape[d]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {a.shape[d]} (input tensor's "
            f"size at dimension {dim}), but got split_sizes={list(split_sizes)}")
    for size in split_sizes:
        result.append(_slice(a, d, start, size, 1))
        start += size
    return tuple(result)


cpdef tuple unbind(ndarray a, Py_ssize_t dim=0):
    """Return `a` at each index of `dim`, without that dimension."""
    cdef int d
    if a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    d = wrap_dim(dim, a.ndim)
    if a.shape[d] > 1 << 26:
        raise MemoryError(f"unbind(): {a.shape[d]} views are more than {1 << 26}")
    return tuple([select(a, d, i) for i in range(a.shape[d])])
