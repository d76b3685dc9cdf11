# View kernels: the checks, and the arithmetic of shapes and strides. Strides here are NumPy's, in
# bytes; messages give PyTorch's, in elements.
#
# Each view is one function from an array and the operator's arguments to a Geometry on the C stack.
# `kernel` makes an operator's kernel from it. The new array header and the tensor are recycled
# ones, so a view of four floats costs 30 ns, or 60 ns with the call from Python. NumPy's functions
# (`as_strided`, `broadcast_to`) take 1 to 5 µs and give read-only arrays, or bases that are not
# ndarrays.

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.allocator cimport Fields, copy_dims, fields, take_view
from imode._core.dispatch cimport DEFAULT_INCLUDED, INPLACE, MAX_ARGS, TLS, CKernel, Operator, tls
from imode._core.keyset cimport BIT_CPU, highest_key, keyset_t
from imode._core.layout cimport as_hollow_as
from imode._core.making cimport alias_of, replace_array, view_of
from imode._core.tensor cimport Tensor, storage, typenum
from libc.limits cimport LLONG_MAX
from numpy cimport ndarray, npy_intp

from imode import errors
from imode._core.type_names import tensor_type

cnp.import_array()

cdef extern from "short_int.h":
    long long size_of "imode_size_of"(PyObject* value) except? -1


# ---- errors -------------------------------------------------------------------------------------

cdef list _sizes(ndarray a):
    return [a.shape[i] for i in range(a.ndim)]


cdef int _raise_dim(Py_ssize_t dim, int nd) except -1:
    raise errors.shapes.dim_out_of_range(dim, nd)


cdef int _raise_shape(npy_intp numel, tuple size) except -1:
    raise errors.shapes.invalid_view(size, numel)


cdef int _raise_expand(ndarray a, tuple size, Py_ssize_t target, Py_ssize_t have, int i) except -1:
    raise RuntimeError(
        f"The expanded size of the tensor ({target}) must match the existing size ({have}) at "
        f"non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {_sizes(a)}")


# ---- building blocks ----------------------------------------------------------------------------

cdef int check_numel(Geometry* g) except -1:
    cdef npy_intp count = 1
    cdef int i
    for i in range(g.nd):
        if g.shape[i] < 0 or (g.shape[i] > 0 and count > LLONG_MAX // 16 // g.shape[i]):
            raise errors.shapes.too_many_elements()
        if g.shape[i] > 0:
            count *= g.shape[i]
    return 0


cdef int check_rank(int nd) except -1:
    if nd > MAX_DIMS:
        raise ValueError(f"tensors have at most {MAX_DIMS} dimensions, got {nd}")
    return 0


cpdef int wrap_dim(Py_ssize_t dim, int nd) except -1:
    """Return `dim` as a non-negative index; a scalar counts as having one dimension."""
    cdef int n = nd if nd > 0 else 1
    if dim < -n or dim >= n:
        return _raise_dim(dim, nd)
    return <int>(dim + n if dim < 0 else dim)


cdef int dim_of(PyObject* dim, int nd) except -1:
    return wrap_dim(size_of(dim), nd)


cdef int read_ints(tuple values, npy_intp* out) except -1:
    """Copy a tuple of ints into `out` (room for MAX_DIMS); return how many."""
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(values)
    check_rank(<int>n)
    for i in range(n):
        out[i] = size_of(PyTuple_GET_ITEM(values, i))
    return <int>n


cdef int _infer_size(npy_intp numel, tuple size, int nd, npy_intp* shape) except -1:
    """Fill in the -1 of `shape`, if any, and check that the element counts agree."""
    cdef npy_intp count = 1
    cdef int i, infer = -1
    cdef bint huge = False
    for i in range(nd):
        if shape[i] == -1:
            if infer >= 0:
                raise errors.shapes.two_inferred()
            infer = i
        elif shape[i] < 0:
            raise errors.shapes.invalid_size(size, i)
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
        raise errors.shapes.ambiguous_size(size)
    if numel % count != 0:
        return _raise_shape(numel, size)
    shape[infer] = numel // count
    return 0


cdef int _infer_view(
    int old_nd, npy_intp* old_shape, npy_intp* old_strides, npy_intp item,
    int nd, npy_intp* shape, npy_intp* strides,
) noexcept:
    """Fill in the `strides` that view a geometry as `shape`; return 0 if there are none, else 1.

    The rule is PyTorch's: divide the old dimensions into the longest runs that are contiguous; each
    run must divide into whole dimensions of the new shape. `item` is the stride of adjacent
    elements, in the unit of the strides.
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


cdef inline bint _in_rows(Fields* a, npy_intp item, int nd, const npy_intp* shape,
                          Geometry* g) noexcept:
    """Fill in shape and strides for elements that lie in rows; False: another rule decides."""
    cdef npy_intp old = item, new = item
    cdef int d
    for d in range(a.nd - 1, -1, -1):
        if a.strides[d] != old:
            return False
        old *= a.dimensions[d]
    if old >> 31:                 # so that no product is beyond 64 bits
        return False
    for d in range(nd - 1, -1, -1):
        g.shape[d], g.strides[d] = shape[d], new
        if not 0 < shape[d] <= old:
            return False
        new *= shape[d]
        if new > old:
            return False
    return new == old


def viewable(tuple shape, tuple strides, tuple size):
    """Return whether a geometry can be viewed as `size`.

    Raises RuntimeError if `size` is wrong even for reshape.
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
    return _infer_view(old_nd, old_shape, old_strides, 1, nd, new_shape, new_strides) == 1


cdef bint is_viewable(ndarray a, tuple size) except -1:
    cdef npy_intp[MAX_DIMS] shape
    cdef npy_intp[MAX_DIMS] strides
    cdef int nd = read_ints(size, shape)
    _infer_size(cnp.PyArray_SIZE(a), size, nd, shape)
    return _infer_view(a.ndim, cnp.PyArray_DIMS(a), cnp.PyArray_STRIDES(a),
                       cnp.PyArray_ITEMSIZE(a), nd, shape, strides)


# ---- from a geometry to a tensor ----------------------------------------------------------------

cdef ndarray _header(ndarray a, Geometry* g):
    cdef PyObject* owned = take_view(
        <PyObject*>a, g.typenum, g.nd, g.shape, g.strides, g.data)
    header = <ndarray>owned
    Py_DECREF(header)
    return header


cdef object _one(Operator op, keyset_t keys, PyObject** args):
    """The kernel of operators that give one view, and of those that change their own geometry."""
    cdef Geometry g
    cdef Tensor base = <Tensor>args[0]
    cdef ndarray a = storage(base)
    g.typenum = typenum(base)
    g.data = cnp.PyArray_BYTES(a)
    (<view_t>(<CKernel>op.kernels[highest_key(keys)]).data)(a, args, &g)
    if op.role != INPLACE:
        return view_of(base, g.typenum, g.nd, g.shape, g.strides, g.data)
    a = _header(a, &g)            # the one before it is recycled: nobody else may have it
    replace_array(base, a)
    return base


cdef CKernel kernel(view_t function):
    return CKernel.new(_one, None, <void*>function)


cdef object view_in_order(Operator view, Tensor base, int nd, const npy_intp* shape):
    cdef TLS* state = tls()
    cdef keyset_t keys = (base.keys | (state.included ^ DEFAULT_INCLUDED)) & ~state.excluded
    cdef Fields* a = fields(base.array)
    cdef Geometry g
    if keys & view.mask != BIT_CPU or state.watcher != NULL or view.table[0] != _one or (
            (<CKernel>view.kernels[0]).data != <void*>_view) or nd > MAX_DIMS:
        return None
    if not _in_rows(a, cnp.PyArray_ITEMSIZE(storage(base)), nd, shape, &g):
        return None
    state.operator_id = view.id
    state.hops += 1
    return view_of(base, a.descr.type_num, nd, g.shape, g.strides, a.data)


def apply(CKernel view not None, ndarray a, *arguments):
    """Return the view of an array that an operator's kernel makes; for Python kernels.

    Sizes and strides may come as lists: what reads them reads tuples, and looks at no type.
    """
    cdef Geometry g
    cdef PyObject* args[MAX_ARGS]
    cdef int i
    if view.fn != _one or len(arguments) >= MAX_ARGS:
        raise TypeError("apply(): expected a kernel of one view, and its arguments")
    for i in range(len(arguments)):
        args[i + 1] = PyTuple_GET_ITEM(arguments, i)
        if type(<object>args[i + 1]) is list:
            return apply(view, a, *[tuple(x) if type(x) is list else x for x in arguments])
    g.typenum = cnp.PyArray_TYPE(a)
    g.data = cnp.PyArray_BYTES(a)
    (<view_t>view.data)(a, args, &g)
    return as_hollow_as(a, _header(a, &g))


cdef object _alias(Operator op, keyset_t keys, PyObject** args):
    """The same header, which may be shared: a tensor's geometry changes by replacing its header."""
    return alias_of(<Tensor>args[0])


cdef object _untouched(Operator op, keyset_t keys, PyObject** args):
    """An in-place operator that changes neither geometry nor elements."""
    return <object>args[0]


# ---- sizes --------------------------------------------------------------------------------------

cdef void copy_geometry(ndarray a, Geometry* g) noexcept:
    g.nd = a.ndim
    copy_dims(g.shape, cnp.PyArray_DIMS(a), g.nd)
    copy_dims(g.strides, cnp.PyArray_STRIDES(a), g.nd)


cdef int _view(ndarray a, PyObject** args, Geometry* g) except -1:
    """view(size): one entry may be -1."""
    g.nd = read_ints(<tuple>args[1], g.shape)
    if _in_rows(fields(<PyObject*>a), cnp.PyArray_ITEMSIZE(a), g.nd, g.shape, g):
        return 0
    _infer_size(cnp.PyArray_SIZE(a), <tuple>args[1], g.nd, g.shape)
    if _infer_view(
        a.ndim, cnp.PyArray_DIMS(a), cnp.PyArray_STRIDES(a), cnp.PyArray_ITEMSIZE(a),
        g.nd, g.shape, g.strides,
    ) == 0:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead.")
    return 0


cdef int _expand(ndarray a, PyObject** args, Geometry* g) except -1:
    """expand(size): dimensions of length 1 are repeated (stride 0), new ones are put in front."""
    cdef tuple size = <tuple>args[1]
    cdef int nd = read_ints(size, g.shape), old_nd = a.ndim, i, d
    cdef npy_intp have, step
    g.nd = nd
    if nd < old_nd:
        raise RuntimeError(
            f"expand({tensor_type(descr_of(a))}{{{_sizes(a)}}}, size={list(size)}): "
            f"the number of sizes provided ({nd}) must be greater or equal to the number of "
            f"dimensions in the tensor ({old_nd})")
    for i in range(nd - 1, -1, -1):
        d = i - (nd - old_nd)
        if d >= 0:
            have = a.shape[d]
            step = a.strides[d]
        else:
            have = 1
            step = 0 if old_nd == 0 or i + 1 == nd else g.shape[i + 1] * g.strides[i + 1]
        if g.shape[i] == -1 and old_nd > 0:
            if d < 0:
                raise RuntimeError(
                    "The expanded size of the tensor (-1) isn't allowed in a leading, "
                    f"non-existing dimension {i}")
            g.shape[i] = have
        if g.shape[i] != have:
            if have != 1:
                _raise_expand(a, size, g.shape[i], have, i)
            step = 0
        g.strides[i] = step
    return check_numel(g)


cdef int _unsqueeze(ndarray a, PyObject** args, Geometry* g) except -1:
    """unsqueeze(dim): a dimension of length 1 is inserted before `dim`."""
    cdef Py_ssize_t dim = size_of(args[1])
    cdef int nd = a.ndim, at, i
    if dim < -nd - 1 or dim > nd:
        _raise_dim(dim, nd + 1)
    check_rank(nd + 1)
    at = <int>(dim + nd + 1 if dim < 0 else dim)
    for i in range(nd):
        g.shape[i if i < at else i + 1] = a.shape[i]
        g.strides[i if i < at else i + 1] = a.strides[i]
    g.shape[at] = 1
    g.strides[at] = a.shape[at] * a.strides[at] if at < nd else cnp.PyArray_ITEMSIZE(a)
    g.nd = nd + 1
    return 0


cdef int _drop(ndarray a, unsigned long long which, Geometry* g) noexcept:
    """Drop the dimensions of length 1 whose bit in `which` is set."""
    cdef int i, n = 0
    for i in range(a.ndim):
        if a.shape[i] != 1 or not (which >> i) & 1:
            g.shape[n] = a.shape[i]
            g.strides[n] = a.strides[i]
            n += 1
    g.nd = n
    return 0


cdef int _squeeze(ndarray a, PyObject** args, Geometry* g) except -1:
    return _drop(a, <unsigned long long>-1, g)


cdef int _squeeze_dim(ndarray a, PyObject** args, Geometry* g) except -1:
    return _drop(a, 1ULL << dim_of(args[1], a.ndim), g)


cdef int _squeeze_dims(ndarray a, PyObject** args, Geometry* g) except -1:
    cdef unsigned long long which = 0
    cdef int d
    for dim in <tuple>args[1]:
        d = wrap_dim(dim, a.ndim)
        if (which >> d) & 1:
            raise errors.shapes.repeated_dim(d)
        which |= 1ULL << d
    return _drop(a, which, g)


# ---- order of dimensions ------------------------------------------------------------------------

cdef int _permute(ndarray a, PyObject** args, Geometry* g) except -1:
    cdef tuple dims = <tuple>args[1]
    cdef Py_ssize_t n = PyTuple_GET_SIZE(dims)
    cdef int nd = a.ndim, i, d
    cdef unsigned long long seen = 0
    if n != nd:
        check_rank(<int>n)
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of dimensions i.e. "
            f"input.dim() = {nd} is not equal to len(dims) = {n}")
    g.nd = nd
    for i in range(nd):
        d = dim_of(PyTuple_GET_ITEM(dims, i), nd)
        if (seen >> d) & 1:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        seen |= 1ULL << d
        g.shape[i] = a.shape[d]
        g.strides[i] = a.strides[d]
    return 0


cdef int _swap(ndarray a, int d0, int d1, Geometry* g) noexcept:
    copy_geometry(a, g)
    if g.nd > 0:
        g.shape[d0] = a.shape[d1]
        g.strides[d0] = a.strides[d1]
        g.shape[d1] = a.shape[d0]
        g.strides[d1] = a.strides[d0]
    return 0


cdef int _transpose(ndarray a, PyObject** args, Geometry* g) except -1:
    cdef int d0 = dim_of(args[1], a.ndim)
    return _swap(a, d0, dim_of(args[2], a.ndim), g)


cdef int _t(ndarray a, PyObject** args, Geometry* g) except -1:
    """t(): the transpose of a matrix; scalars and vectors are unchanged."""
    if a.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {a.ndim}D")
    return _swap(a, 0, 1 if a.ndim == 2 else 0, g)


cdef int _t_in_place(ndarray a, PyObject** args, Geometry* g) except -1:
    if a.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {a.ndim}D")
    return _t(a, args, g)


# ---- parts --------------------------------------------------------------------------------------

cdef void at_index(ndarray a, int d, npy_intp index, Geometry* g) noexcept:
    """Select one index of dimension `d`, and drop the dimension."""
    cdef int i
    g.nd = a.ndim - 1
    for i in range(g.nd):
        g.shape[i] = a.shape[i if i < d else i + 1]
        g.strides[i] = a.strides[i if i < d else i + 1]
    g.data = cnp.PyArray_BYTES(a) + index * a.strides[d]


cdef int _select(ndarray a, PyObject** args, Geometry* g) except -1:
    cdef Py_ssize_t index = size_of(args[2])
    cdef int d
    if a.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = dim_of(args[1], a.ndim)
    if index < -a.shape[d] or index >= a.shape[d]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {_sizes(a)} at dimension {d}")
    at_index(a, d, index + a.shape[d] if index < 0 else index, g)
    return 0


cdef void at_range(ndarray a, int d, npy_intp start, npy_intp count, npy_intp step,
                   Geometry* g) noexcept:
    """Select `count` (at least 0) indices of dimension `d`, every `step`th from `start` on."""
    copy_geometry(a, g)
    g.shape[d] = count
    g.strides[d] = a.strides[d] * step
    g.data = cnp.PyArray_BYTES(a) + start * a.strides[d]


cdef int _slice(ndarray a, PyObject** args, Geometry* g) except -1:
    """slice(dim, start, end, step): bounds are clipped as in Python."""
    cdef int d
    cdef npy_intp first, last, n
    cdef npy_intp step = size_of(args[4])
    if a.ndim == 0:
        raise errors.shapes.scalar_sliced()
    d = dim_of(args[1], a.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    n = a.shape[d]
    first = 0 if args[2] == <PyObject*>None else size_of(args[2])
    last = n if args[3] == <PyObject*>None else size_of(args[3])
    if first < 0:
        first += n
    if last < 0:
        last += n
    first = 0 if first < 0 else (n if first > n else first)
    last = first if last < first else (n if last > n else last)
    # Subtract 1 before the division and add 1 after it: `last - first + step` might overflow.
    at_range(a, d, first, (last - first - 1) // step + 1 if last > first else 0, step, g)
    return 0


cdef int _diagonal(ndarray a, PyObject** args, Geometry* g) except -1:
    """diagonal(offset, dim1, dim2): the diagonals as a new last dimension."""
    cdef Py_ssize_t offset = size_of(args[1])
    cdef int nd = a.ndim, i, n = 0, d1 = dim_of(args[2], nd), d2 = dim_of(args[3], nd)
    cdef npy_intp rows, cols
    if d1 == d2:
        raise errors.shapes.same_diagonal(<object>args[2], <object>args[3])
    rows = a.shape[d1]
    cols = a.shape[d2]
    for i in range(nd):
        if i != d1 and i != d2:
            g.shape[n] = a.shape[i]
            g.strides[n] = a.strides[i]
            n += 1
    if offset >= 0:
        cols = cols - offset if offset < cols else 0
    else:
        rows = rows + offset if offset > -rows else 0       # -offset may overflow
    g.nd = nd - 1
    g.shape[n] = rows if rows < cols else cols
    g.strides[n] = a.strides[d1] + a.strides[d2]
    if g.shape[n] > 0:
        g.data += offset * a.strides[d2] if offset >= 0 else -offset * a.strides[d1]
    return 0


cdef int _unfold(ndarray a, PyObject** args, Geometry* g) except -1:
    """unfold(dim, size, step): the windows along `dim`, as a new last dimension."""
    cdef int nd = a.ndim, d = dim_of(args[1], nd)
    cdef Py_ssize_t size = size_of(args[2]), step = size_of(args[3])
    cdef npy_intp length = a.shape[d] if nd > 0 else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {d} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    check_rank(nd + 1)
    copy_geometry(a, g)
    g.shape[nd] = size
    g.strides[nd] = a.strides[d] if nd > 0 else cnp.PyArray_ITEMSIZE(a)
    if nd > 0:
        g.shape[d] = (length - size) // step + 1
        g.strides[d] = step * a.strides[d]
    g.nd = nd + 1
    return check_numel(g)


# ---- kernels for operator entries ---------------------------------------------------------------

alias = CKernel.new(_alias)
untouched = CKernel.new(_untouched)
view = kernel(_view)
expand = kernel(_expand)
unsqueeze = kernel(_unsqueeze)
squeeze = kernel(_squeeze)
squeeze_dim = kernel(_squeeze_dim)
squeeze_dims = kernel(_squeeze_dims)
permute = kernel(_permute)
transpose = kernel(_transpose)
t = kernel(_t)
t_in_place = kernel(_t_in_place)
select = kernel(_select)
slice_dim = kernel(_slice)
diagonal = kernel(_diagonal)
unfold = kernel(_unfold)
