# Shared by fast cases: tests of whether a fast case serves the arguments.
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from imode._core.allocator cimport Fields, fields
from imode._core.dispatch cimport Operator
from imode._core.element cimport store_narrow
from imode._core.tensor cimport Tensor, is_tensor, storage
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cimport numpy as cnp

cdef extern from "Python.h":
    PyObject* Py_True
    PyObject* Py_False
    int PyFloat_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    double PyFloat_AS_DOUBLE(PyObject*) noexcept
    double PyFloat_AsDouble(PyObject*) except? -1
    long PyLong_AsLong(PyObject*) except? -1
    long PyLong_AsLongAndOverflow(PyObject*, int*) except? -1

cdef enum:
    C_CONTIGUOUS = 0x1
    WRITEABLE = 0x400
    MAX_DIMS = 64
    SAFE = 1 << 30                 # numbers whose sums and products fit 64 bits


cdef inline Fields* _array(PyObject* tensor) noexcept:
    return fields((<Tensor>tensor).array)


cdef inline ndarray array_of(PyObject* tensor):
    return storage(<Tensor>tensor)


cdef inline object array_or_none(PyObject* tensor):
    return None if tensor == <PyObject*>None else storage(<Tensor>tensor)


cdef inline bint _row_major(Fields* a) noexcept:
    return a.flags & C_CONTIGUOUS != 0


cdef inline bint _indices(Fields* a) noexcept:
    return a.flags & C_CONTIGUOUS and a.descr.type_num == cnp.NPY_INT64


cdef inline npy_intp _count(Fields* a, int start, int end) noexcept:
    """The product of the sizes of dimensions `start` to `end` - 1."""
    cdef npy_intp n = 1
    cdef int d
    for d in range(start, end):
        n *= a.dimensions[d]
    return n


cdef inline bint _only_defaults(Operator op, PyObject** args, int first) noexcept:
    """Whether the arguments from `first` on are defaults or requires_grad, without out=."""
    cdef int i
    for i in range(first, op.nargs):
        if args[i] != PyTuple_GET_ITEM(op.defaults, i) and i != op.requires_grad_arg:
            return False
    return args[op.nargs] == NULL


cdef inline npy_intp _item(PyObject* tensor):
    return cnp.PyArray_ITEMSIZE(storage(<Tensor>tensor))


cdef inline bint _same_shape(Fields* a, Fields* b, int from_b, int nd) noexcept:
    """Whether the first `nd` sizes of a are those of b from dimension `from_b` on."""
    cdef int d
    for d in range(nd):
        if a.dimensions[d] != b.dimensions[from_b + d]:
            return False
    return True


cdef inline bint _inside(const int64_t* index, npy_intp count, int64_t least,
                         int64_t size) noexcept nogil:
    """Whether `least` (0 or -size) <= index < `size` for all indices."""
    cdef npy_intp i
    cdef uint64_t signs = 0       # collects the sign bits of both differences, without a branch
    for i in range(count):
        signs |= (<uint64_t>index[i] - <uint64_t>least) | (
            <uint64_t>(size - 1) - <uint64_t>index[i])
    return <int64_t>signs >= 0


cdef inline npy_intp _wrapped(int64_t index, npy_intp size) noexcept nogil:
    """A checked index, made non-negative; 0 if a write has made it invalid since the check."""
    if index < 0:
        index += size
    return index if 0 <= index < size else 0


cdef inline npy_intp _bounded(int64_t index, npy_intp size) noexcept nogil:
    """As `_wrapped`, for an index that was not negative."""
    return index if <uint64_t>index < <uint64_t>size else 0


cdef inline bint _wrap(int* dim, int nd) noexcept:
    if not -nd <= dim[0] < nd:
        return False
    if dim[0] < 0:
        dim[0] += nd
    return True


cdef inline int _dim(PyObject* value, int nd) except -2:
    """A dimension counted from the front; -1: out of range."""
    cdef object given = <object>value
    cdef int dim
    if not -64 <= given < 64:
        return -1
    dim = given
    return dim if _wrap(&dim, nd) else -1


cdef inline bint _integer(PyObject* number, int64_t* out, int64_t bound=SAFE) except -1:
    """Whether a number is an int between -bound and bound, and which."""
    cdef int overflow = 0
    if not PyLong_CheckExact(number):
        return False
    out[0] = PyLong_AsLongAndOverflow(number, &overflow)
    return not overflow and -bound < out[0] < bound


cdef inline bint _real(PyObject* number, double* out) except -1:
    """Whether a number is a float or an int that any float dtype holds, and which."""
    cdef int64_t whole
    if PyFloat_CheckExact(number):
        out[0] = PyFloat_AS_DOUBLE(number)
        return -1e37 < out[0] < 1e37
    if not _integer(number, &whole):
        return False
    out[0] = <double>whole
    return True


cdef inline bint _fill_value(int kind, PyObject* value, char* item) except -1:
    """Convert a fill value to the dtype; False if that needs a rule of the general case."""
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
        return store_narrow(kind, real, item)
    if kind == cnp.NPY_BOOL and (value == Py_True or value == Py_False):
        item[0] = value == Py_True
        return True
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
    elif kind == cnp.NPY_INT32:
        (<int32_t*>item)[0] = <int32_t>real
    elif kind == cnp.NPY_UINT8 and 0 <= real < 256:
        (<uint8_t*>item)[0] = <uint8_t>real
    else:
        return store_narrow(kind, real, item)
    return True


cdef inline void repeat_item(char* to, npy_intp n, npy_intp item, const char* value) noexcept nogil:
    """Store n copies of one element."""
    cdef npy_intp i
    cdef uint16_t half
    cdef uint32_t narrow
    cdef uint64_t wide
    if item == 1:
        memset(to, value[0], n)
    elif item == 2:
        half = (<const uint16_t*>value)[0]
        for i in range(n):
            (<uint16_t*>to)[i] = half
    elif item == 4:
        narrow = (<const uint32_t*>value)[0]
        for i in range(n):
            (<uint32_t*>to)[i] = narrow
    elif item == 8:
        wide = (<const uint64_t*>value)[0]
        for i in range(n):
            (<uint64_t*>to)[i] = wide
    else:
        for i in range(n):
            memcpy(to + i * item, value, item)
