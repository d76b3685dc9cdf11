"""Fast cases of the transforms of `imode.fft`, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from imode._core.allocator cimport Fields
from imode._core.dispatch cimport MAX_ARGS, Operator, call, call1
from imode._core.dtype cimport COMPLEX64, COMPLEX128, dtype_from_code
from imode._core.keyset cimport keyset_t
from imode.kernels.fast_guards cimport PyLong_CheckExact, _array, _dim, _integer
from imode.ops.composites_fast cimport callee, calling
from libc.stdint cimport int64_t
from numpy cimport npy_intp

cnp.import_array()

cdef enum:
    C2C                           # the operators that are called, in this order
    R2C
    C2R
    CONJ
    CONJ_PHYSICAL
    SLICE
    PAD
    TO_COPY
    OTHER                         # no norm, no plain argument

cdef list _CALLED = ["_fft_c2c", "_fft_r2c", "_fft_c2r", "_conj", "_conj_physical", "slice",
                     "constant_pad_nd", "_to_copy"]
cdef object _ZERO = 0
cdef object _ONE = 1
cdef tuple _AXES = tuple([(axis,) for axis in range(64)])


cdef inline bint _is_complex(int kind) noexcept:
    return kind == cnp.NPY_CFLOAT or kind == cnp.NPY_CDOUBLE


cdef inline bint _is_float(int kind) noexcept:
    return kind == cnp.NPY_FLOAT or kind == cnp.NPY_DOUBLE


cdef int _normalization(PyObject* norm, bint forward):
    """The number of a norm; OTHER: unknown."""
    if norm == <PyObject*>None or <object>norm == "backward":
        return 0 if forward else 2
    if <object>norm == "ortho":
        return 1
    return (2 if forward else 0) if <object>norm == "forward" else OTHER


cdef object _call4(Operator op, object a, object b, object c, object d):
    cdef PyObject** values = [<PyObject*>a, <PyObject*>b, <PyObject*>c, <PyObject*>d, NULL, NULL]
    return call(op, values)


cdef object _complex(Operator op, object tensor):
    """The tensor in complex numbers."""
    cdef int kind = _array(<PyObject*>tensor).descr.type_num
    cdef PyObject* values[MAX_ARGS + 1]
    if _is_complex(kind):
        return tensor
    dtype = dtype_from_code(COMPLEX64 if kind == cnp.NPY_FLOAT else COMPLEX128)
    values[0], values[1] = <PyObject*>tensor, <PyObject*>dtype
    values[2] = values[3] = <PyObject*>None
    values[4] = NULL
    return call(callee(op, TO_COPY), values)


cdef object _fitted(Operator op, object tensor, int axis, int64_t n):
    """The tensor with n elements along an axis: cut off at the end, or zeros after it."""
    cdef Fields* a = _array(<PyObject*>tensor)
    cdef int64_t size = a.dimensions[axis]
    cdef PyObject* values[MAX_ARGS + 1]
    cdef object dim = axis
    cdef object end = n
    if n == size:
        return tensor
    if n > size:
        pad = [0] * (2 * a.nd)
        pad[2 * (a.nd - 1 - axis) + 1] = n - size
        whole = tuple(pad)
        values[0], values[1], values[2] = <PyObject*>tensor, <PyObject*>whole, <PyObject*>_ZERO
        values[3] = NULL
        return call(callee(op, PAD), values)
    values[0], values[1], values[2] = <PyObject*>tensor, <PyObject*>dim, <PyObject*>_ZERO
    values[3], values[4], values[5] = <PyObject*>end, <PyObject*>_ONE, NULL
    return call(callee(op, SLICE), values)


# ---- one dimension: (self, n, dim, norm) ----

cdef int _plain_axis(PyObject** args, int64_t* n) except -2:
    """The axis, and the length that is asked for, or -1; -1: the general case."""
    cdef Fields* a = _array(args[0])
    n[0] = -1
    if not PyLong_CheckExact(args[2]) or args[1] != <PyObject*>None and (
            not _integer(args[1], n) or n[0] < 1):
        return -1
    return _dim(args[2], a.nd)


cdef object _one(Operator op, PyObject** args, bint forward, bint half):
    cdef Fields* a = _array(args[0])
    cdef bint real = _is_float(a.descr.type_num)
    cdef int scale = _normalization(args[3], forward)
    cdef int64_t n
    cdef int axis = _plain_axis(args, &n)
    if axis < 0 or scale == OTHER or not (real or not half and _is_complex(a.descr.type_num)):
        return NotImplemented
    if n < 0:
        n = a.dimensions[axis]
    if n == 0:
        return NotImplemented
    tensor = _fitted(op, <object>args[0], axis, n)
    if not real:
        return _call4(callee(op, C2C), tensor, _AXES[axis], scale, forward)
    found = _call4(callee(op, R2C), tensor, _AXES[axis], scale, half)
    return found if forward else call1(callee(op, CONJ), found)


cdef object _whole(Operator op, PyObject** args, bint forward):
    """The same to real numbers, 2 * (m - 1) of m unless n is given."""
    cdef Fields* a = _array(args[0])
    cdef int kind = a.descr.type_num
    cdef int scale = _normalization(args[3], forward)
    cdef int64_t n
    cdef int axis = _plain_axis(args, &n)
    if axis < 0 or scale == OTHER or not (_is_float(kind) or _is_complex(kind)):
        return NotImplemented
    if n < 0:
        n = 2 * (a.dimensions[axis] - 1)
    if n < 1:
        return NotImplemented
    tensor = _fitted(op, _complex(op, <object>args[0]), axis, n // 2 + 1)
    if forward:
        tensor = call1(callee(op, CONJ), tensor)
    return _call4(callee(op, C2R), tensor, _AXES[axis], scale, n)


cdef object _fft(Operator op, keyset_t keys, PyObject** args):
    return _one(op, args, True, False)


cdef object _ifft(Operator op, keyset_t keys, PyObject** args):
    return _one(op, args, False, False)


cdef object _rfft(Operator op, keyset_t keys, PyObject** args):
    return _one(op, args, True, True)


cdef object _ihfft(Operator op, keyset_t keys, PyObject** args):
    return _one(op, args, False, True)


cdef object _irfft(Operator op, keyset_t keys, PyObject** args):
    return _whole(op, args, False)


cdef object _hfft(Operator op, keyset_t keys, PyObject** args):
    return _whole(op, args, True)


# ---- several: (self, s, dim, norm), of all sizes as they are ----

cdef tuple _plain_axes(PyObject** args):
    """The axes from the front; None: the general case."""
    cdef Fields* a = _array(args[0])
    cdef Py_ssize_t i, n = a.nd if args[2] == <PyObject*>None else PyTuple_GET_SIZE(<object>args[2])
    cdef unsigned long long seen = 0
    cdef int axis
    cdef tuple axes
    cdef PyObject* item
    if args[1] != <PyObject*>None or n == 0 or not (
            _is_float(a.descr.type_num) or _is_complex(a.descr.type_num)):
        return None
    axes = PyTuple_New(n)
    for i in range(n):
        axis = <int>i
        if args[2] != <PyObject*>None:
            item = PyTuple_GET_ITEM(<object>args[2], i)
            axis = _dim(item, a.nd) if PyLong_CheckExact(item) else -1
        if axis < 0 or a.dimensions[axis] == 0 or seen >> axis & 1:
            return None
        seen |= 1ULL << axis
        number = axis
        Py_INCREF(number)                  # PyTuple_SET_ITEM takes over one reference
        PyTuple_SET_ITEM(axes, i, number)
    return axes


cdef inline tuple _last(tuple axes):
    return axes[len(axes) - 1:]


cdef inline tuple _but_last(tuple axes):
    return axes[:len(axes) - 1]


cdef object _several(Operator op, PyObject** args, bint forward):
    cdef tuple axes = _plain_axes(args)
    cdef int scale = _normalization(args[3], forward)
    if axes is None or scale == OTHER:
        return NotImplemented
    return _call4(callee(op, C2C), _complex(op, <object>args[0]), axes, scale, forward)


cdef object _several_half(Operator op, PyObject** args, bint forward):
    cdef tuple axes = _plain_axes(args)
    cdef int scale = _normalization(args[3], forward)
    if axes is None or scale == OTHER or not _is_float(_array(args[0]).descr.type_num):
        return NotImplemented
    if forward:
        return _call4(callee(op, R2C), <object>args[0], axes, scale, True)
    found = _call4(callee(op, R2C), <object>args[0], _last(axes), scale, True)
    if len(axes) == 1:
        return call1(callee(op, CONJ), found)
    found = call1(callee(op, CONJ_PHYSICAL), found)
    return _call4(callee(op, C2C), found, _but_last(axes), scale, False)


cdef object _several_whole(Operator op, PyObject** args, bint forward):
    cdef tuple axes = _plain_axes(args)
    cdef int scale = _normalization(args[3], forward)
    cdef npy_intp last
    if axes is None or scale == OTHER:
        return NotImplemented
    last = 2 * (_array(args[0]).dimensions[<int>axes[len(axes) - 1]] - 1)
    if last < 1:
        return NotImplemented
    tensor = _complex(op, <object>args[0])
    if forward:
        if len(axes) > 1:
            tensor = _call4(callee(op, C2C), tensor, _but_last(axes), scale, True)
        tensor, axes = call1(callee(op, CONJ), tensor), _last(axes)
    return _call4(callee(op, C2R), tensor, axes, scale, last)


cdef object _fftn(Operator op, keyset_t keys, PyObject** args):
    return _several(op, args, True)


cdef object _ifftn(Operator op, keyset_t keys, PyObject** args):
    return _several(op, args, False)


cdef object _rfftn(Operator op, keyset_t keys, PyObject** args):
    return _several_half(op, args, True)


cdef object _ihfftn(Operator op, keyset_t keys, PyObject** args):
    return _several_half(op, args, False)


cdef object _irfftn(Operator op, keyset_t keys, PyObject** args):
    return _several_whole(op, args, False)


cdef object _hfftn(Operator op, keyset_t keys, PyObject** args):
    return _several_whole(op, args, True)


# ---- the order with 0 in the middle: (self, dim) ----

cdef object _rolled(Operator op, PyObject** args, int extra):
    cdef Fields* a = _array(args[0])
    cdef PyObject* values[MAX_ARGS + 1]
    cdef object shifts, axes
    cdef int i
    if args[1] != <PyObject*>None or a.nd == 0:
        return NotImplemented
    axes = _AXES[0] if a.nd == 1 else tuple(range(a.nd))
    shifts = tuple([(a.dimensions[i] + extra) // 2 for i in range(a.nd)])
    values[0], values[1], values[2] = args[0], <PyObject*>shifts, <PyObject*>axes
    values[3] = NULL
    return call(callee(op, 0), values)


cdef object _fftshift(Operator op, keyset_t keys, PyObject** args):
    return _rolled(op, args, 0)


cdef object _ifftshift(Operator op, keyset_t keys, PyObject** args):
    return _rolled(op, args, 1)


fftshift, ifftshift = calling(_fftshift, ["roll"]), calling(_ifftshift, ["roll"])

# What each calls is found once for all: they share the list.
fft, ifft = calling(_fft, _CALLED), calling(_ifft, _CALLED)
rfft, irfft = calling(_rfft, _CALLED), calling(_irfft, _CALLED)
hfft, ihfft = calling(_hfft, _CALLED), calling(_ihfft, _CALLED)
fftn, ifftn = calling(_fftn, _CALLED), calling(_ifftn, _CALLED)
rfftn, irfftn = calling(_rfftn, _CALLED), calling(_irfftn, _CALLED)
hfftn, ihfftn = calling(_hfftn, _CALLED), calling(_ihfftn, _CALLED)
