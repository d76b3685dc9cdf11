"""Picking and placing by index, compiled for the plain case; the rest is functions over ndarrays.

Plain: row order, int64 indices, dtypes that agree, no broadcasting. A kernel looks at all of its
arguments first, indices included, and hands over to the function of its entry (see `indexing`)
wherever something is not plain: that function knows every complaint. Nothing is written before.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.allocator cimport Fields, empty, fields, root
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport hold, wrap
from imode._core.tensor cimport Tensor
from imode.kernels.plain cimport (
    MAX_DIMS, PyLong_CheckExact, WRITEABLE, _array, _copied, _count, _dim, _fall_back, _fill_value,
    _indices, _inside, _item, _place_of, _plain, _same_shape, repeat_item)
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

from .gather import along_dimension

cnp.import_array()

ctypedef fused number:
    float
    double
    int64_t


# ---- rows: whole slices along a dimension ----

cdef void _pick(char* out, char* a, int64_t* index, npy_intp outer, npy_intp count, npy_intp size,
                npy_intp chunk) noexcept nogil:
    """out[o, i] = a[o, index[i]], each a chunk of bytes."""
    cdef npy_intp _, i
    for _ in range(outer):
        if chunk == 4:
            for i in range(count):
                (<uint32_t*>out)[i] = (<uint32_t*>a)[_place_of(index[i], size)]
        elif chunk == 8:
            for i in range(count):
                (<uint64_t*>out)[i] = (<uint64_t*>a)[_place_of(index[i], size)]
        else:
            for i in range(count):
                memcpy(out + i * chunk, a + _place_of(index[i], size) * chunk, chunk)
        out += count * chunk
        a += size * chunk


cdef void _place(char* a, char* values, int64_t* index, npy_intp outer, npy_intp count,
                 npy_intp size, npy_intp chunk, npy_intp item, bint one) noexcept nogil:
    """a[o, index[i]] = values[o, i]; `one`: a single element for all."""
    cdef npy_intp _, i
    cdef char* to
    for _ in range(outer):
        for i in range(count):
            to = a + _place_of(index[i], size) * chunk
            if one:
                repeat_item(to, chunk // item, item, values)
            else:
                memcpy(to, values, chunk)
                values += chunk
        a += size * chunk


cdef void _add(number* a, number* values, int64_t* index, npy_intp outer, npy_intp count,
               npy_intp size, npy_intp width, bint one) noexcept nogil:
    """a[o, index[i]] += values[o, i]."""
    cdef npy_intp _, i, j
    cdef number* to
    for _ in range(outer):
        for i in range(count):
            to = a + _place_of(index[i], size) * width
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
    if args[2] != <PyObject*>None:
        if PyTuple_GET_SIZE(<object>args[2]) != 1:
            return _fall_back(op, keys, args)
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
    _held = hold(args, 2)
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
        found += flags[i] != 0
    dims[0] = found
    for d in range(mask.nd, a.nd):
        dims[1 + d - mask.nd] = a.dimensions[d]
    out = empty(a.descr.type_num, 1 + a.nd - mask.nd, dims)
    to = <char*>cnp.PyArray_DATA(out)
    for i in range(n):
        if flags[i] and found:        # no more than were counted, whoever writes the mask
            memcpy(to, a.data + i * chunk, chunk)
            to += chunk
            found -= 1
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
    if args[4] != <PyObject*>None:
        if PyTuple_GET_SIZE(<object>args[4]) != 1:
            return False
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
        _held = hold(args, 3)
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


cdef ndarray _joined(tuple indices, tuple shape, int dim, npy_intp* size):
    """Indices of dimensions in a row from `dim` as one, of their product; None: not plain."""
    cdef Fields* first = _array(PyTuple_GET_ITEM(indices, 0))
    cdef Fields* at
    cdef npy_intp count = _count(first, 0, first.nd), length, i
    cdef Py_ssize_t k
    cdef ndarray out
    cdef int64_t* to
    if not _indices(first):
        return None
    size[0] = 1
    out = empty(cnp.NPY_INT64, first.nd, first.dimensions)
    to = <int64_t*>cnp.PyArray_DATA(out)
    memset(to, 0, count * sizeof(int64_t))
    for k in range(PyTuple_GET_SIZE(indices)):
        at = _array(PyTuple_GET_ITEM(indices, k))
        length = shape[dim + k]
        if not _indices(at) or at.nd != first.nd or not _same_shape(at, first, 0, at.nd) or (
                not _inside(<int64_t*>at.data, count, -length, length)):
            return None
        for i in range(count):
            to[i] = to[i] * length + _place_of((<int64_t*>at.data)[i], length)
        size[0] *= length
    return out


cdef object _index_backward(Operator op, keyset_t keys, PyObject** args):
    """_index_backward(None, grad, shape, indices, dims): grad added to zeros at the indices."""
    cdef Fields* grad = _array(args[1])
    cdef Fields* at
    cdef tuple shape = <tuple>args[2], indices = <tuple>args[3]
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp outer = 1, width = 1, count, size
    cdef int dim = 0, d, nd = <int>len(shape), kind = grad.descr.type_num
    cdef int several = <int>PyTuple_GET_SIZE(indices)
    cdef ndarray out, joined
    cdef char* data
    if not several or args[op.nargs] != NULL or not _plain(grad) or (
            nd == 0 or nd > MAX_DIMS or kind not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE)):
        return _fall_back(op, keys, args)
    if args[4] != <PyObject*>None:
        if PyTuple_GET_SIZE(<object>args[4]) != several:
            return _fall_back(op, keys, args)
        dim = (<tuple>args[4])[0]
        if several > 1 and <tuple>args[4] != tuple(range(dim, dim + several)):
            return _fall_back(op, keys, args)
    at = _array(PyTuple_GET_ITEM(indices, 0))
    if not 0 <= dim <= nd - several or grad.nd != nd + at.nd - several:
        return _fall_back(op, keys, args)
    for d in range(nd):
        dims[d] = shape[d]
        if d < dim:
            outer *= dims[d]
        elif d >= dim + several:
            width *= dims[d]
    joined = _joined(indices, shape, dim, &size)
    if joined is None:
        return _fall_back(op, keys, args)
    count, at = _count(at, 0, at.nd), fields(<PyObject*>joined)
    if _count(grad, 0, grad.nd) != outer * count * width:
        return _fall_back(op, keys, args)
    out = empty(kind, nd, dims)
    data = <char*>cnp.PyArray_DATA(out)
    memset(data, 0, cnp.PyArray_NBYTES(out))
    _held = hold(args, 4)
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
    _held = hold(args, 3)
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


cdef bint _fill_plan(Fields* a, PyObject* target, PyObject** args, int* dim,
                     char* value) except -1:
    """Whether index_fill's arguments are plain."""
    cdef Fields* at = _array(args[2])
    dim[0] = _dim(args[1], a.nd)
    return (dim[0] >= 0 and _plain(a) and _indices(at) and at.nd == 1
            and (target == NULL or root((<Tensor>args[2]).array) != root(target))
            and _inside(<int64_t*>at.data, at.dimensions[0], -a.dimensions[dim[0]],
                        a.dimensions[dim[0]])
            and _fill_value(a.descr.type_num, args[3], value))


cdef void _fill_rows(char* data, PyObject** args, int dim, char* value):
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[2])
    cdef npy_intp item = _item(args[0])
    _place(data, value, <int64_t*>at.data, _count(a, 0, dim), at.dimensions[0],
           a.dimensions[dim], _count(a, dim + 1, a.nd) * item, item, True)


cdef object _index_fill(Operator op, keyset_t keys, PyObject** args):
    cdef uint64_t value[2]
    cdef int dim
    cdef ndarray out
    if args[op.nargs] != NULL or not _fill_plan(_array(args[0]), NULL, args, &dim, <char*>value):
        return _fall_back(op, keys, args)
    out = _copied(args[0])
    _fill_rows(<char*>cnp.PyArray_DATA(out), args, dim, <char*>value)
    return wrap(out)


cdef object _index_fill_(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef uint64_t value[2]
    cdef int dim
    if not a.flags & WRITEABLE or (
            not _fill_plan(a, (<Tensor>args[0]).array, args, &dim, <char*>value)):
        return _fall_back(op, keys, args)
    _fill_rows(a.data, args, dim, <char*>value)
    return <object>args[0]


# ---- flat positions ----

cdef bint _flat_plan(Fields* a, PyObject* target, PyObject** args):
    """Whether put's arguments are plain: index, source, accumulate."""
    cdef Fields* at = _array(args[1])
    cdef Fields* source = _array(args[2])
    cdef npy_intp n = _count(a, 0, a.nd), count = _count(at, 0, at.nd)
    if not _plain(a) or not _plain(source) or not _indices(at) or (
            source.descr.type_num != a.descr.type_num or _count(source, 0, source.nd) != count):
        return False
    if <object>args[3] is not False and a.descr.type_num not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE):
        return False
    return _apart(target, args) and _inside(<int64_t*>at.data, count, -n, n)


cdef bint _apart(PyObject* target, PyObject** args) noexcept:
    """Whether what is written to, if anything is, has nothing of the two next arguments."""
    return target == NULL or (root((<Tensor>args[1]).array) != root(target)
                              and root((<Tensor>args[2]).array) != root(target))


cdef void _put_flat(char* data, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[1])
    cdef char* source = _array(args[2]).data
    cdef int64_t* index = <int64_t*>at.data
    cdef npy_intp n = _count(a, 0, a.nd), count = _count(at, 0, at.nd), item = _item(args[0])
    if <object>args[3] is False:
        _place(data, source, index, 1, count, n, item, item, False)
    elif a.descr.type_num == cnp.NPY_FLOAT:
        _add(<float*>data, <float*>source, index, 1, count, n, 1, False)
    else:
        _add(<double*>data, <double*>source, index, 1, count, n, 1, False)


cdef object _put_new(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray out
    if args[op.nargs] != NULL or not _flat_plan(_array(args[0]), NULL, args):
        return _fall_back(op, keys, args)
    out = _copied(args[0])
    _put_flat(<char*>cnp.PyArray_DATA(out), args)
    return wrap(out)


cdef object _put_in_place(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    if not a.flags & WRITEABLE or not _flat_plan(a, (<Tensor>args[0]).array, args):
        return _fall_back(op, keys, args)
    _put_flat(a.data, args)
    return <object>args[0]


# ---- masks ----

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


cdef bint _spread_plan(Fields* a, PyObject* target, PyObject** args):
    """Whether masked_scatter's arguments are plain: mask, source."""
    cdef Fields* mask = _array(args[1])
    cdef Fields* source = _array(args[2])
    cdef npy_intp count = 0, i
    if not _plain(a) or not _plain(mask) or not _plain(source) or (
            mask.descr.type_num != cnp.NPY_BOOL or source.descr.type_num != a.descr.type_num
            or mask.nd != a.nd or not _same_shape(mask, a, 0, a.nd)):
        return False
    for i in range(_count(mask, 0, mask.nd)):
        count += (<uint8_t*>mask.data)[i] != 0
    return _apart(target, args) and count <= _count(source, 0, source.nd)


cdef void _spread(char* data, PyObject** args):
    """The elements of the source, one after the other, where the mask is true."""
    cdef Fields* mask = _array(args[1])
    cdef Fields* source = _array(args[2])
    cdef npy_intp most = _count(source, 0, source.nd), item = _item(args[0]), at = 0, i
    for i in range(_count(mask, 0, mask.nd)):
        if (<uint8_t*>mask.data)[i] and at < most:
            if item == 4:
                (<uint32_t*>data)[i] = (<uint32_t*>source.data)[at]
            else:
                memcpy(data + i * item, source.data + at * item, item)
            at += 1


cdef object _masked_scatter(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray out
    if args[op.nargs] != NULL or not _spread_plan(_array(args[0]), NULL, args):
        return _fall_back(op, keys, args)
    out = _copied(args[0])
    _spread(<char*>cnp.PyArray_DATA(out), args)
    return wrap(out)


cdef object _masked_scatter_(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    if not a.flags & WRITEABLE or not _spread_plan(a, (<Tensor>args[0]).array, args):
        return _fall_back(op, keys, args)
    _spread(a.data, args)
    return <object>args[0]


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
    if name == "index_fill":
        return CKernel.new(_index_fill, function, where, True)
    if name == "index_fill_":
        return CKernel.new(_index_fill_, function, where, True)
    if name == "put":
        return CKernel.new(_put_new, function, where, True)
    if name == "put_":
        return CKernel.new(_put_in_place, function, where, True)
    if name == "masked_scatter":
        return CKernel.new(_masked_scatter, function, where, True)
    if name == "masked_scatter_":
        return CKernel.new(_masked_scatter_, function, where, True)
    if name == "masked_fill":
        return CKernel.new(_masked_fill, function, where, True)
    if name == "masked_fill_":
        return CKernel.new(_masked_fill_, function, where, True)
    return along_dimension(name, function, where)
