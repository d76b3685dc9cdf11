"""Picking and placing by index, compiled for the plain case; the rest is functions over ndarrays.

Plain: row order, int64 indices, dtypes that agree, no broadcasting. A kernel looks at all of its
arguments first, indices included, and hands over to the function of its entry (see `indexing`)
wherever something is not plain: that function knows every complaint. Nothing is written before.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport run_numpy
from imode._core.allocator cimport Fields, empty, fields, root
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.tensor cimport Tensor, is_tensor, storage, wrap
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    int PyFloat_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    double PyFloat_AS_DOUBLE(PyObject*) noexcept
    long PyLong_AsLongAndOverflow(PyObject*, int*) except? -1

cdef enum:
    C_CONTIGUOUS = 0x1
    WRITEABLE = 0x400
    MAX_DIMS = 64

ctypedef fused number:
    float
    double
    int64_t


cdef object _fall_back(Operator op, keyset_t keys, PyObject** args):
    return run_numpy(op, (<CKernel>op.kernels[highest_key(keys)]).config, args)


# ---- looking at the arguments ----

cdef inline Fields* _array(PyObject* tensor) noexcept:
    return fields((<Tensor>tensor).array)


cdef inline bint _plain(Fields* a) noexcept:
    return a.flags & C_CONTIGUOUS != 0


cdef inline bint _indices(Fields* a) noexcept:
    return a.flags & C_CONTIGUOUS and a.descr.type_num == cnp.NPY_INT64


cdef inline npy_intp _count(Fields* a, int start, int end) noexcept:
    """The number of elements of the dimensions from `start` to before `end`."""
    cdef npy_intp n = 1
    cdef int d
    for d in range(start, end):
        n *= a.dimensions[d]
    return n


cdef inline npy_intp _item(PyObject* tensor):
    return cnp.PyArray_ITEMSIZE(storage(<Tensor>tensor))


cdef bint _same_shape(Fields* a, Fields* b, int from_b, int nd) noexcept:
    """Whether the first `nd` dimensions of a are those of b from `from_b` on."""
    cdef int d
    for d in range(nd):
        if a.dimensions[d] != b.dimensions[from_b + d]:
            return False
    return True


cdef bint _inside(int64_t* index, npy_intp count, int64_t least, int64_t size) noexcept nogil:
    """Whether all indices are at least `least` (0 or -size) and below `size`."""
    cdef npy_intp i
    cdef bint bad = False
    for i in range(count):
        bad |= index[i] < least or index[i] >= size
    return not bad


cdef bint _wrap(int* dim, int nd) noexcept:
    if not -nd <= dim[0] < nd:
        return False
    if dim[0] < 0:
        dim[0] += nd
    return True


cdef int _dim(PyObject* value, int nd) except -2:
    """A dimension counted from the front; -1: not a good one."""
    cdef object given = <object>value
    cdef int dim
    if not -64 <= given < 64:
        return -1
    dim = given
    return dim if _wrap(&dim, nd) else -1


cdef ndarray _copied(PyObject* tensor):
    cdef Fields* a = _array(tensor)
    cdef ndarray out = empty(a.descr.type_num, a.nd, a.dimensions)
    memcpy(cnp.PyArray_DATA(out), a.data, cnp.PyArray_NBYTES(out))
    return out


# ---- rows: whole slices along a dimension ----

cdef void _pick(char* out, char* a, int64_t* index, npy_intp outer, npy_intp count, npy_intp size,
                npy_intp chunk) noexcept nogil:
    """out[o, i] = a[o, index[i]], each a chunk of bytes."""
    cdef npy_intp o, i
    cdef int64_t at
    for o in range(outer):
        if chunk == 4:
            for i in range(count):
                at = index[i] + (size if index[i] < 0 else 0)
                (<uint32_t*>out)[i] = (<uint32_t*>a)[at]
        elif chunk == 8:
            for i in range(count):
                at = index[i] + (size if index[i] < 0 else 0)
                (<uint64_t*>out)[i] = (<uint64_t*>a)[at]
        else:
            for i in range(count):
                at = index[i] + (size if index[i] < 0 else 0)
                memcpy(out + i * chunk, a + at * chunk, chunk)
        out += count * chunk
        a += size * chunk


cdef void _place(char* a, char* values, int64_t* index, npy_intp outer, npy_intp count,
                 npy_intp size, npy_intp chunk, npy_intp item, bint one) noexcept nogil:
    """a[o, index[i]] = values[o, i]; `one`: a single element for all."""
    cdef npy_intp o, i, j
    cdef char* to
    for o in range(outer):
        for i in range(count):
            to = a + (index[i] + (size if index[i] < 0 else 0)) * chunk
            if one:
                for j in range(chunk // item):
                    memcpy(to + j * item, values, item)
            else:
                memcpy(to, values, chunk)
                values += chunk
        a += size * chunk


cdef void _add(number* a, number* values, int64_t* index, npy_intp outer, npy_intp count,
               npy_intp size, npy_intp width, bint one) noexcept nogil:
    """a[o, index[i]] += values[o, i]."""
    cdef npy_intp o, i, j
    cdef number* to
    for o in range(outer):
        for i in range(count):
            to = a + (index[i] + (size if index[i] < 0 else 0)) * width
            if one:
                for j in range(width):
                    to[j] += values[0]
            else:
                for j in range(width):
                    to[j] += values[j]
                values += width
        a += size * width


cdef object _get(Operator op, keyset_t keys, PyObject** args):
    """_index(self, indices, dims) with one index tensor."""
    cdef tuple indices = <tuple>args[1]
    cdef PyObject* index
    cdef Fields* a = _array(args[0])
    cdef Fields* at
    cdef npy_intp dims[2 * MAX_DIMS]
    cdef npy_intp outer, count, size, chunk
    cdef int dim = 0, d, nd = 0
    cdef ndarray out
    if PyTuple_GET_SIZE(indices) != 1 or args[op.nargs] != NULL or not _plain(a):
        return _fall_back(op, keys, args)
    index = PyTuple_GET_ITEM(indices, 0)
    at = _array(index)
    if <object>args[2] is not None:
        dim = (<tuple>args[2])[0]
    if at.descr.type_num == cnp.NPY_BOOL:
        if dim == 0 and _plain(at) and 0 < at.nd <= a.nd and _same_shape(at, a, 0, at.nd):
            return _get_mask(a, at, _item(args[0]))
        return _fall_back(op, keys, args)
    if not _indices(at) or dim < 0 or dim >= a.nd or a.nd + at.nd > MAX_DIMS:
        return _fall_back(op, keys, args)
    size, count = a.dimensions[dim], _count(at, 0, at.nd)
    if size == 0 or not _inside(<int64_t*>at.data, count, -size, size):
        return _fall_back(op, keys, args)
    outer, chunk = _count(a, 0, dim), _count(a, dim + 1, a.nd) * _item(args[0])
    for d in range(dim):
        dims[nd] = a.dimensions[d]
        nd += 1
    for d in range(at.nd):
        dims[nd] = at.dimensions[d]
        nd += 1
    for d in range(dim + 1, a.nd):
        dims[nd] = a.dimensions[d]
        nd += 1
    out = empty(a.descr.type_num, nd, dims)
    with nogil:
        _pick(<char*>cnp.PyArray_DATA(out), a.data, <int64_t*>at.data, outer, count, size, chunk)
    return wrap(out)


cdef object _get_mask(Fields* a, Fields* mask, npy_intp item):
    """The slices of `a` at which `mask`, over its first dimensions, is true."""
    cdef npy_intp n = _count(mask, 0, mask.nd), chunk = _count(a, mask.nd, a.nd) * item
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp i, found = 0
    cdef uint8_t* flags = <uint8_t*>mask.data
    cdef char* to
    cdef int d
    cdef ndarray out
    for i in range(n):
        found += flags[i]
    dims[0] = found
    for d in range(mask.nd, a.nd):
        dims[1 + d - mask.nd] = a.dimensions[d]
    out = empty(a.descr.type_num, 1 + a.nd - mask.nd, dims)
    to = <char*>cnp.PyArray_DATA(out)
    for i in range(n):
        if flags[i]:
            memcpy(to, a.data + i * chunk, chunk)
            to += chunk
    return wrap(out)


cdef bint _put_plan(Fields* a, PyObject* target, PyObject** args, int* dim, bint* masked):
    """Whether index_put's arguments are plain."""
    cdef tuple indices = <tuple>args[1]
    cdef Fields* at
    cdef Fields* values = _array(args[2])
    cdef npy_intp n
    cdef int d
    if PyTuple_GET_SIZE(indices) != 1 or not _plain(a) or not _plain(values):
        return False
    if values.descr.type_num != a.descr.type_num:
        return False
    at = _array(PyTuple_GET_ITEM(indices, 0))
    dim[0] = 0
    if <object>args[4] is not None:
        dim[0] = (<tuple>args[4])[0]
    if target != NULL and (
            root((<Tensor>args[2]).array) == root(target)
            or root((<Tensor>PyTuple_GET_ITEM(indices, 0)).array) == root(target)):
        return False
    n = _count(values, 0, values.nd)
    masked[0] = at.descr.type_num == cnp.NPY_BOOL
    if masked[0]:
        return (dim[0] == 0 and n == 1 and _plain(at) and 0 < at.nd <= a.nd
                and <object>args[3] is False and _same_shape(at, a, 0, at.nd))
    if not _indices(at) or dim[0] < 0 or dim[0] >= a.nd or a.dimensions[dim[0]] == 0:
        return False
    if not _inside(<int64_t*>at.data, _count(at, 0, at.nd), -a.dimensions[dim[0]],
                   a.dimensions[dim[0]]):
        return False
    if <object>args[3] is not False and a.descr.type_num not in (
            cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_INT64):
        return False
    if n == 1 and values.nd <= a.nd + at.nd - 1:
        return True
    if values.nd != a.nd + at.nd - 1:
        return False
    for d in range(dim[0]):
        if values.dimensions[d] != a.dimensions[d]:
            return False
    for d in range(at.nd):
        if values.dimensions[dim[0] + d] != at.dimensions[d]:
            return False
    for d in range(dim[0] + 1, a.nd):
        if values.dimensions[at.nd + d - 1] != a.dimensions[d]:
            return False
    return True


cdef int _put(char* data, Fields* a, npy_intp item, PyObject** args, int dim,
              bint masked) except -1:
    """Write to `data`, which has the shape of `a`."""
    cdef Fields* at = _array(PyTuple_GET_ITEM(<tuple>args[1], 0))
    cdef Fields* values = _array(args[2])
    cdef int64_t* index = <int64_t*>at.data
    cdef npy_intp i, j, n, chunk, outer, count, size, width
    cdef bint one = _count(values, 0, values.nd) == 1, accumulate = <object>args[3] is not False
    cdef int kind = a.descr.type_num
    if masked:
        n, chunk = _count(at, 0, at.nd), _count(a, at.nd, a.nd) * item
        for i in range(n):
            if (<uint8_t*>at.data)[i]:
                for j in range(chunk // item):
                    memcpy(data + i * chunk + j * item, values.data, item)
        return 0
    outer, width = _count(a, 0, dim), _count(a, dim + 1, a.nd)
    count, size = _count(at, 0, at.nd), a.dimensions[dim]
    if not accumulate:
        with nogil:
            _place(data, values.data, index, outer, count, size, width * item, item, one)
    elif kind == cnp.NPY_FLOAT:
        _add(<float*>data, <float*>values.data, index, outer, count, size, width, one)
    elif kind == cnp.NPY_DOUBLE:
        _add(<double*>data, <double*>values.data, index, outer, count, size, width, one)
    else:
        _add(<int64_t*>data, <int64_t*>values.data, index, outer, count, size, width, one)
    return 0


cdef object _index_put(Operator op, keyset_t keys, PyObject** args):
    cdef int dim
    cdef bint masked
    cdef ndarray out
    if args[op.nargs] != NULL or not _put_plan(_array(args[0]), NULL, args, &dim, &masked):
        return _fall_back(op, keys, args)
    out = _copied(args[0])
    _put(<char*>cnp.PyArray_DATA(out), _array(args[0]), _item(args[0]), args, dim, masked)
    return wrap(out)


cdef object _index_put_(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef int dim
    cdef bint masked
    if not a.flags & WRITEABLE or not _put_plan(a, (<Tensor>args[0]).array, args, &dim, &masked):
        return _fall_back(op, keys, args)
    _put(a.data, a, _item(args[0]), args, dim, masked)
    return <object>args[0]


cdef object _index_backward(Operator op, keyset_t keys, PyObject** args):
    """_index_backward(grad, shape, indices, dims): grad added to zeros at the indices."""
    cdef Fields* grad = _array(args[0])
    cdef Fields* at
    cdef tuple shape = <tuple>args[1], indices = <tuple>args[2]
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp outer = 1, width = 1, count, size
    cdef int dim = 0, d, nd = <int>len(shape), kind = grad.descr.type_num
    cdef ndarray out
    cdef char* data
    if PyTuple_GET_SIZE(indices) != 1 or args[op.nargs] != NULL or not _plain(grad) or (
            nd == 0 or nd > MAX_DIMS or kind not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE)):
        return _fall_back(op, keys, args)
    if <object>args[3] is not None:
        dim = (<tuple>args[3])[0]
    at = _array(PyTuple_GET_ITEM(indices, 0))
    if not _indices(at) or not 0 <= dim < nd or grad.nd != nd + at.nd - 1:
        return _fall_back(op, keys, args)
    for d in range(nd):
        dims[d] = shape[d]
        if d < dim:
            outer *= dims[d]
        elif d > dim:
            width *= dims[d]
    size, count = dims[dim], _count(at, 0, at.nd)
    if _count(grad, 0, grad.nd) != outer * count * width or not _inside(
            <int64_t*>at.data, count, -size, size):
        return _fall_back(op, keys, args)
    out = empty(kind, nd, dims)
    data = <char*>cnp.PyArray_DATA(out)
    memset(data, 0, cnp.PyArray_NBYTES(out))
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _add(<float*>data, <float*>grad.data, <int64_t*>at.data, outer, count, size, width,
                 False)
        else:
            _add(<double*>data, <double*>grad.data, <int64_t*>at.data, outer, count, size, width,
                 False)
    return wrap(out)


cdef object _index_select(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[2])
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp outer, count, size, chunk
    cdef int dim = _dim(args[1], a.nd), d
    cdef ndarray out
    if args[op.nargs] != NULL or dim < 0 or not _plain(a) or not _indices(at) or at.nd != 1:
        return _fall_back(op, keys, args)
    size, count = a.dimensions[dim], at.dimensions[0]
    if not _inside(<int64_t*>at.data, count, 0, size):
        return _fall_back(op, keys, args)
    outer, chunk = _count(a, 0, dim), _count(a, dim + 1, a.nd) * _item(args[0])
    for d in range(a.nd):
        dims[d] = a.dimensions[d]
    dims[dim] = count
    out = empty(a.descr.type_num, a.nd, dims)
    with nogil:
        _pick(<char*>cnp.PyArray_DATA(out), a.data, <int64_t*>at.data, outer, count, size, chunk)
    return wrap(out)


cdef bint _add_plan(Fields* a, PyObject* target, PyObject** args, int* dim):
    """Whether index_add's arguments are plain."""
    cdef Fields* at = _array(args[2])
    cdef Fields* source = _array(args[3])
    cdef int d
    dim[0] = _dim(args[1], a.nd)
    if dim[0] < 0 or not _plain(a) or not _plain(source) or not _indices(at) or at.nd != 1:
        return False
    if not PyLong_CheckExact(args[4]) or <object>args[4] != 1:
        return False
    if source.descr.type_num != a.descr.type_num or source.nd != a.nd:
        return False
    if a.descr.type_num not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_INT64):
        return False
    for d in range(a.nd):
        if source.dimensions[d] != (at.dimensions[0] if d == dim[0] else a.dimensions[d]):
            return False
    if target != NULL and (root((<Tensor>args[3]).array) == root(target)
                           or root((<Tensor>args[2]).array) == root(target)):
        return False
    return _inside(<int64_t*>at.data, at.dimensions[0], 0, a.dimensions[dim[0]])


cdef void _add_rows(char* data, Fields* a, PyObject** args, int dim) noexcept:
    cdef Fields* at = _array(args[2])
    cdef char* source = _array(args[3]).data
    cdef int64_t* index = <int64_t*>at.data
    cdef npy_intp outer = _count(a, 0, dim), width = _count(a, dim + 1, a.nd)
    cdef npy_intp count = at.dimensions[0], size = a.dimensions[dim]
    cdef int kind = a.descr.type_num
    if kind == cnp.NPY_FLOAT:
        _add(<float*>data, <float*>source, index, outer, count, size, width, False)
    elif kind == cnp.NPY_DOUBLE:
        _add(<double*>data, <double*>source, index, outer, count, size, width, False)
    else:
        _add(<int64_t*>data, <int64_t*>source, index, outer, count, size, width, False)


cdef object _index_add(Operator op, keyset_t keys, PyObject** args):
    cdef int dim
    cdef ndarray out
    if args[op.nargs] != NULL or not _add_plan(_array(args[0]), NULL, args, &dim):
        return _fall_back(op, keys, args)
    out = _copied(args[0])
    _add_rows(<char*>cnp.PyArray_DATA(out), _array(args[0]), args, dim)
    return wrap(out)


cdef object _index_add_(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef int dim
    if not a.flags & WRITEABLE or not _add_plan(a, (<Tensor>args[0]).array, args, &dim):
        return _fall_back(op, keys, args)
    _add_rows(a.data, a, args, dim)
    return <object>args[0]


# ---- masks ----

cdef bint _fill_value(int kind, PyObject* value, char* item) except -1:
    """Bring a fill value into the dtype; False where that takes more than a plain conversion."""
    cdef int overflow = 0
    cdef double real
    cdef Fields* given
    if is_tensor(value):
        given = _array(value)
        if given.nd != 0 or given.descr.type_num != kind:
            return False
        memcpy(item, given.data, _item(value))
        return True
    if PyFloat_CheckExact(value):
        real = PyFloat_AS_DOUBLE(value)
        if kind == cnp.NPY_DOUBLE:
            (<double*>item)[0] = real
            return True
        if kind == cnp.NPY_FLOAT and (-1e38 < real < 1e38 or real - real != 0):
            (<float*>item)[0] = <float>real
            return True
        return False
    if not PyLong_CheckExact(value):
        return False
    real = PyLong_AsLongAndOverflow(value, &overflow)
    if overflow or not -(1 << 24) < real < 1 << 24:
        return False
    if kind == cnp.NPY_FLOAT:
        (<float*>item)[0] = <float>real
    elif kind == cnp.NPY_DOUBLE:
        (<double*>item)[0] = real
    elif kind == cnp.NPY_INT64:
        (<int64_t*>item)[0] = <int64_t>real
    else:
        return False
    return True


cdef void _select(char* out, char* a, uint8_t* mask, char* value, npy_intp n,
                  npy_intp item) noexcept nogil:
    """out = value where mask else a; out may be a."""
    cdef npy_intp i
    cdef uint32_t narrow
    cdef uint64_t wide
    if item == 4:
        narrow = (<uint32_t*>value)[0]
        for i in range(n):
            (<uint32_t*>out)[i] = narrow if mask[i] else (<uint32_t*>a)[i]
    elif item == 8:
        wide = (<uint64_t*>value)[0]
        for i in range(n):
            (<uint64_t*>out)[i] = wide if mask[i] else (<uint64_t*>a)[i]
    else:
        for i in range(n):
            memcpy(out + i * item, value if mask[i] else a + i * item, item)


cdef bint _mask_plan(Fields* a, PyObject** args, char* value) except -1:
    cdef Fields* mask = _array(args[1])
    return (_plain(a) and _plain(mask) and mask.descr.type_num == cnp.NPY_BOOL and mask.nd == a.nd
            and _same_shape(mask, a, 0, a.nd) and _fill_value(a.descr.type_num, args[2], value))


cdef object _masked_fill(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef uint64_t value[2]
    cdef ndarray out
    if args[op.nargs] != NULL or not _mask_plan(a, args, <char*>value):
        return _fall_back(op, keys, args)
    out = empty(a.descr.type_num, a.nd, a.dimensions)
    _select(<char*>cnp.PyArray_DATA(out), a.data, <uint8_t*>_array(args[1]).data, <char*>value,
            _count(a, 0, a.nd), _item(args[0]))
    return wrap(out)


cdef object _masked_fill_(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef uint64_t value[2]
    if not a.flags & WRITEABLE or not _mask_plan(a, args, <char*>value):
        return _fall_back(op, keys, args)
    _select(a.data, a.data, <uint8_t*>_array(args[1]).data, <char*>value, _count(a, 0, a.nd),
            _item(args[0]))
    return <object>args[0]


# ---- along a dimension: gather and scatter ----

cdef struct Walk:             # a row-order walk through an index tensor
    int nd
    int dim                   # whose coordinate the index replaces
    npy_intp shape[MAX_DIMS]  # of the index
    npy_intp a[MAX_DIMS]      # steps in the indexed tensor, in elements
    npy_intp b[MAX_DIMS]      # steps in the other one


cdef enum Action:
    GATHER
    SCATTER
    SCATTER_ADD


cdef void _steps(Fields* array, npy_intp* steps) noexcept:
    cdef npy_intp step = 1
    cdef int d
    for d in range(array.nd - 1, -1, -1):
        steps[d] = step
        step *= array.dimensions[d]


ctypedef fused element:
    uint8_t
    uint32_t
    uint64_t
    float
    double
    int64_t


cdef void _run(Walk* w, element* a, element* b, int64_t* index, Action action) noexcept nogil:
    """Visit the index in row order: b = a[...] or a[...] = b or a[...] += b."""
    cdef npy_intp at[MAX_DIMS]
    cdef npy_intp base_a, base_b, j, outer = 1, o
    cdef npy_intp inner = w.shape[w.nd - 1], step_a = w.a[w.nd - 1], step_b = w.b[w.nd - 1]
    cdef npy_intp step = w.a[w.dim]
    cdef int d
    if w.dim == w.nd - 1:
        step_a = 0
    for d in range(w.nd - 1):
        outer *= w.shape[d]
        at[d] = 0
    for o in range(outer):
        base_a, base_b = 0, 0
        for d in range(w.nd - 1):
            if d != w.dim:
                base_a += at[d] * w.a[d]
            base_b += at[d] * w.b[d]
        if action == GATHER:
            for j in range(inner):
                b[base_b + j * step_b] = a[base_a + index[j] * step + j * step_a]
        elif action == SCATTER:
            for j in range(inner):
                a[base_a + index[j] * step + j * step_a] = b[base_b + j * step_b]
        else:
            for j in range(inner):
                a[base_a + index[j] * step + j * step_a] += b[base_b + j * step_b]
        index += inner
        for d in range(w.nd - 2, -1, -1):
            at[d] += 1
            if at[d] < w.shape[d]:
                break
            at[d] = 0


cdef bint _walk_plan(Walk* w, Fields* a, PyObject* dim, Fields* index, Fields* other) except -1:
    """Whether a, index and other (NULL: an element or the result) are plain and fit together."""
    cdef int d
    w.nd, w.dim = a.nd, _dim(dim, a.nd)
    if w.dim < 0 or not _plain(a) or not _indices(index) or index.nd != a.nd:
        return False
    _steps(a, w.a)
    for d in range(w.nd):
        w.shape[d] = index.dimensions[d]
        w.b[d] = 0
        if w.shape[d] == 0 or (d != w.dim and w.shape[d] > a.dimensions[d]):
            return False
    if other != NULL:
        if not _plain(other) or other.nd != w.nd or other.descr.type_num != a.descr.type_num:
            return False
        for d in range(w.nd):
            if w.shape[d] > other.dimensions[d]:
                return False
        _steps(other, w.b)
    return _inside(<int64_t*>index.data, _count(index, 0, index.nd), 0, a.dimensions[w.dim])


cdef bint _can_run(int kind, npy_intp item, Action action) noexcept:
    if action == SCATTER_ADD:
        return kind in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_INT64)
    return item in (1, 4, 8)


cdef void _visit(Walk* w, char* a, char* b, char* index, Action action, int kind,
                 npy_intp item) noexcept nogil:
    cdef int64_t* at = <int64_t*>index
    if action == SCATTER_ADD:
        if kind == cnp.NPY_FLOAT:
            _run(w, <float*>a, <float*>b, at, action)
        elif kind == cnp.NPY_DOUBLE:
            _run(w, <double*>a, <double*>b, at, action)
        else:
            _run(w, <int64_t*>a, <int64_t*>b, at, action)
    elif item == 4:
        _run(w, <uint32_t*>a, <uint32_t*>b, at, action)
    elif item == 8:
        _run(w, <uint64_t*>a, <uint64_t*>b, at, action)
    else:
        _run(w, <uint8_t*>a, <uint8_t*>b, at, action)


cdef object _gather(Operator op, keyset_t keys, PyObject** args):
    cdef Walk w
    cdef Fields* a = _array(args[0])
    cdef Fields* index = _array(args[2])
    cdef npy_intp item = _item(args[0])
    cdef ndarray out
    if args[op.nargs] != NULL or not _can_run(a.descr.type_num, item, GATHER) or (
            a.nd == 0 or not _walk_plan(&w, a, args[1], index, NULL)):
        return _fall_back(op, keys, args)
    out = empty(a.descr.type_num, index.nd, index.dimensions)
    _steps(index, w.b)
    with nogil:
        _visit(&w, a.data, <char*>cnp.PyArray_DATA(out), index.data, GATHER, a.descr.type_num, item)
    return wrap(out)


cdef bint _scatter_plan(Walk* w, PyObject* target, PyObject** args, Action action, char* value
                        ) except -1:
    """Whether scatter's arguments are plain; a number is brought to `value`."""
    cdef Fields* a = _array(args[0])
    cdef Fields* index = _array(args[2])
    cdef Fields* other = NULL
    if a.nd == 0 or not _can_run(a.descr.type_num, _item(args[0]), action):
        return False
    if is_tensor(args[3]):
        other = _array(args[3])
    elif not _fill_value(a.descr.type_num, args[3], value):
        return False
    if target != NULL and (
            root((<Tensor>args[2]).array) == root(target)
            or (other != NULL and root((<Tensor>args[3]).array) == root(target))):
        return False
    return _walk_plan(w, a, args[1], index, other)


cdef void _scatter_into(char* data, Walk* w, PyObject** args, Action action, char* value):
    cdef char* other = _array(args[3]).data if is_tensor(args[3]) else value
    cdef char* index = _array(args[2]).data
    cdef int kind = _array(args[0]).descr.type_num
    cdef npy_intp item = _item(args[0])
    with nogil:
        _visit(w, data, other, index, action, kind, item)


cdef object _scatter_new(Operator op, keyset_t keys, PyObject** args, Action action):
    cdef Walk w
    cdef uint64_t value[2]
    cdef ndarray out
    if args[op.nargs] != NULL or not _scatter_plan(&w, NULL, args, action, <char*>value):
        return _fall_back(op, keys, args)
    out = _copied(args[0])
    _scatter_into(<char*>cnp.PyArray_DATA(out), &w, args, action, <char*>value)
    return wrap(out)


cdef object _scatter_in_place(Operator op, keyset_t keys, PyObject** args, Action action):
    cdef Walk w
    cdef uint64_t value[2]
    cdef Fields* a = _array(args[0])
    if not a.flags & WRITEABLE or not _scatter_plan(
            &w, (<Tensor>args[0]).array, args, action, <char*>value):
        return _fall_back(op, keys, args)
    _scatter_into(a.data, &w, args, action, <char*>value)
    return <object>args[0]


cdef object _scatter(Operator op, keyset_t keys, PyObject** args):
    return _scatter_new(op, keys, args, SCATTER)


cdef object _scatter_(Operator op, keyset_t keys, PyObject** args):
    return _scatter_in_place(op, keys, args, SCATTER)


cdef object _scatter_add(Operator op, keyset_t keys, PyObject** args):
    return _scatter_new(op, keys, args, SCATTER_ADD)


cdef object _scatter_add_(Operator op, keyset_t keys, PyObject** args):
    return _scatter_in_place(op, keys, args, SCATTER_ADD)


def take_along(ndarray a not None, ndarray index not None, int dim):
    """Return a[..., index, ...] along `dim`, as np.take_along_axis; indices are in range.

    Both are of one shape but for `dim`; index is int64.
    """
    cdef Walk w
    cdef Fields* source
    cdef Fields* at
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a)
    cdef ndarray out
    a, index = cnp.PyArray_GETCONTIGUOUS(a), cnp.PyArray_GETCONTIGUOUS(index)
    out = empty(cnp.PyArray_TYPE(a), cnp.PyArray_NDIM(index), cnp.PyArray_DIMS(index))
    if cnp.PyArray_SIZE(index) == 0 or not _can_run(cnp.PyArray_TYPE(a), item, GATHER):
        import numpy as np
        return np.take_along_axis(a, index, dim)
    source, at = fields(<PyObject*>a), fields(<PyObject*>index)
    w.nd, w.dim = a.ndim, dim
    _steps(source, w.a)
    _steps(at, w.b)
    for d in range(w.nd):
        w.shape[d] = at.dimensions[d]
    _visit(&w, source.data, <char*>cnp.PyArray_DATA(out), at.data, GATHER, cnp.PyArray_TYPE(a),
           item)
    return out


# ---- the largest ----

cdef inline bint _before(number a, number b, bint largest) noexcept nogil:
    """Whether a stands before b among the k best; NaN counts as the largest."""
    if number is int64_t:
        return a > b if largest else a < b
    else:
        if largest:
            return a > b or (a != a and b == b)
        return a < b or (b != b and a == a)


cdef void _best(number* row, int64_t* best, npy_intp n, npy_intp k, bint largest) noexcept nogil:
    """The positions of the k best of a row, in order: an insertion into a short list."""
    cdef npy_intp i, j, held = 0
    for i in range(n):
        if held == k and not _before(row[i], row[best[k - 1]], largest):
            continue
        j = held if held < k else k - 1
        while j > 0 and _before(row[i], row[best[j - 1]], largest):
            best[j] = best[j - 1]
            j -= 1
        best[j] = i
        if held < k:
            held += 1


def leading(ndarray a not None, npy_intp k, bint largest):
    """Return the positions of the k best along the last dimension, or None for other arrays."""
    cdef Fields* source = fields(<PyObject*>a)
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp n, rows, r
    cdef int64_t* to
    cdef int d, kind = cnp.PyArray_TYPE(a)
    cdef ndarray out
    if not _plain(source) or a.ndim == 0 or kind not in (
            cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_INT64):
        return None
    n, rows = source.dimensions[a.ndim - 1], _count(source, 0, a.ndim - 1)
    for d in range(a.ndim):
        dims[d] = source.dimensions[d]
    dims[a.ndim - 1] = k
    out = empty(cnp.NPY_INT64, a.ndim, dims)
    to = <int64_t*>cnp.PyArray_DATA(out)
    if k == 0:
        return out
    with nogil:
        for r in range(rows):
            if kind == cnp.NPY_FLOAT:
                _best(<float*>source.data + r * n, to, n, k, largest)
            elif kind == cnp.NPY_DOUBLE:
                _best(<double*>source.data + r * n, to, n, k, largest)
            else:
                _best(<int64_t*>source.data + r * n, to, n, k, largest)
            to += k
    return out


# ---- the kernels by name ----

def compiled(name, function, where):
    """The CKernel `name`, with the function over ndarrays that serves what is not plain."""
    if name == "_index":
        return CKernel.new(_get, function, where, True)
    if name == "_index_backward":
        return CKernel.new(_index_backward, function, where, True)
    if name == "index_put":
        return CKernel.new(_index_put, function, where, True)
    if name == "index_put_":
        return CKernel.new(_index_put_, function, where, True)
    if name == "index_select":
        return CKernel.new(_index_select, function, where, True)
    if name == "index_add":
        return CKernel.new(_index_add, function, where, True)
    if name == "index_add_":
        return CKernel.new(_index_add_, function, where, True)
    if name == "masked_fill":
        return CKernel.new(_masked_fill, function, where, True)
    if name == "masked_fill_":
        return CKernel.new(_masked_fill_, function, where, True)
    if name == "gather":
        return CKernel.new(_gather, function, where, True)
    if name == "scatter":
        return CKernel.new(_scatter, function, where, True)
    if name == "scatter_":
        return CKernel.new(_scatter_, function, where, True)
    if name == "scatter_add":
        return CKernel.new(_scatter_add, function, where, True)
    if name == "scatter_add_":
        return CKernel.new(_scatter_add_, function, where, True)
    raise KeyError(name)
