"""Picking and placing by masks, compiled for the plain case (see `index`)."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport INPLACE, CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor
from imode.kernels.placing cimport apart, may_place, placed
from imode.kernels.plain cimport (
    MAX_DIMS, _array, _count, _fall_back, _fill_value, _item, _plain, _same_shape, repeat_item)
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

from .gather import along_dimension

cnp.import_array()


cdef bint is_mask(Fields* mask, Fields* a) noexcept:
    return (mask.descr.type_num == cnp.NPY_BOOL and _plain(mask) and mask.nd <= a.nd
            and _same_shape(mask, a, 0, mask.nd))


cdef npy_intp _true(Fields* mask) noexcept:
    """The number of places at which a mask is true."""
    cdef npy_intp i, found = 0
    for i in range(_count(mask, 0, mask.nd)):
        found += (<uint8_t*>mask.data)[i] != 0
    return found


cdef object at_mask(Fields* a, Fields* mask, npy_intp item):
    cdef npy_intp chunk = _count(a, mask.nd, a.nd) * item, found = _true(mask)
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp i
    cdef uint8_t* flags = <uint8_t*>mask.data
    cdef char* to
    cdef int d
    cdef ndarray out
    dims[0] = found
    for d in range(mask.nd, a.nd):
        dims[1 + d - mask.nd] = a.dimensions[d]
    out = empty(a.descr.type_num, 1 + a.nd - mask.nd, dims)
    to = <char*>cnp.PyArray_DATA(out)
    for i in range(_count(mask, 0, mask.nd)):
        if flags[i] and found:        # no more than were counted, whoever writes the mask
            memcpy(to, a.data + i * chunk, chunk)
            to += chunk
            found -= 1
    return wrap(out)


cdef void fill_at_mask(char* data, Fields* a, Fields* mask, npy_intp item,
                       const char* value) noexcept:
    cdef npy_intp i, width = _count(a, mask.nd, a.nd)
    for i in range(_count(mask, 0, mask.nd)):
        if (<uint8_t*>mask.data)[i]:
            repeat_item(data + i * width * item, width, item, value)


# ---- masks of the tensor's shape ----

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


cdef object _masked_fill(Operator op, keyset_t keys, PyObject** args):
    # Not by `placed`: the new tensor is filled and copied in one pass.
    cdef Fields* a = _array(args[0])
    cdef Fields* mask = _array(args[1])
    cdef uint64_t value[2]
    cdef char* to = a.data
    cdef ndarray out = None
    if not may_place(op, args) or mask.nd != a.nd or not _plain(a) or not (
            is_mask(mask, a) and _fill_value(a.descr.type_num, args[2], <char*>value)):
        return _fall_back(op, keys, args)
    if op.role == INPLACE:
        if not apart((<Tensor>args[0]).array, args[1]):
            return _fall_back(op, keys, args)
    else:
        out = empty(a.descr.type_num, a.nd, a.dimensions)
        to = <char*>cnp.PyArray_DATA(out)
    _select(to, a.data, <uint8_t*>mask.data, <char*>value, _count(a, 0, a.nd), _item(args[0]))
    return <object>args[0] if out is None else wrap(out)


cdef bint _check_scatter(PyObject** args, PyObject* target, void* plan) except -1:
    """Whether masked_scatter's arguments are plain: mask, source."""
    cdef Fields* a = _array(args[0])
    cdef Fields* mask = _array(args[1])
    cdef Fields* source = _array(args[2])
    return (_plain(a) and _plain(source) and source.descr.type_num == a.descr.type_num
            and mask.nd == a.nd and is_mask(mask, a)
            and apart(target, args[1]) and apart(target, args[2])
            and _true(mask) <= _count(source, 0, source.nd))


cdef int _scatter(char* data, PyObject** args, void* plan) except -1:
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
    return 0


cdef object _masked_scatter(Operator op, keyset_t keys, PyObject** args):
    return placed(op, keys, args, _check_scatter, _scatter, NULL)


def masked(name, function, where):
    """As `compiled` in `index`, of operators whose index is a mask."""
    if name == "masked_fill":
        return CKernel.new(_masked_fill, function, where, True)
    if name == "masked_scatter":
        return CKernel.new(_masked_scatter, function, where, True)
    return along_dimension(name, function, where)
