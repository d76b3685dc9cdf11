"""The fast case of copy_, fill_, zero_ and conversion.

The general case serves what needs a rule: a complex number that loses its imaginary part, a float
outside an integer's range, shapes that do not broadcast.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, fields
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport (
    BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT8, N_DTYPES, code_from_object,
    code_of, is_complex, is_float, is_integral, typenum_of)
from imode._core.iterate cimport empty_like
from imode._core.keyset cimport keyset_t
from imode._core.layout cimport empty_like as in_order
from imode._core.making cimport wrap
from imode._core.moving cimport (
    bring_together, clear, convert_into, copy_bytes, fill_with, imode_move, move_into, plan_move,
    run_move, spread_out)
from imode._core.overlap cimport ranges_meet
from imode._core.parallel cimport Thread, give_up_gil, parallel_for, skipping, take_gil
from imode._core.tensor cimport Tensor, is_tensor, storage, typenum
from imode.kernels.fast_guards cimport (
    C_CONTIGUOUS, WRITEABLE, PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyLong_AsLongAndOverflow,
    PyLong_CheckExact, _fill_value, _same_shape)
from libc.stdint cimport uint64_t
from libc.string cimport memmove
from numpy cimport ndarray, npy_intp

import numpy as np

cnp.import_array()

cdef extern from "convert.h" nogil:
    void imode_half_to_float(char* to, const char* source, npy_intp n) noexcept
    void imode_float_to_half(char* to, const char* source, npy_intp n) noexcept
    void imode_half_to_brain(char* to, const char* source, npy_intp n) noexcept
    void imode_brain_to_half(char* to, const char* source, npy_intp n) noexcept
    void imode_brain_to_float(char* to, const char* source, npy_intp n) noexcept
    void imode_float_to_brain(char* to, const char* source, npy_intp n) noexcept
    void imode_half_to_double(char* to, const char* source, npy_intp n) noexcept
    void imode_brain_to_double(char* to, const char* source, npy_intp n) noexcept
    void imode_double_to_half(char* to, const char* source, npy_intp n) noexcept
    void imode_double_to_brain(char* to, const char* source, npy_intp n) noexcept
    void imode_truth_to_half(char* to, const char* source, npy_intp n) noexcept
    void imode_truth_to_brain(char* to, const char* source, npy_intp n) noexcept
    void imode_byte_to_half(char* to, const char* source, npy_intp n) noexcept
    void imode_byte_to_brain(char* to, const char* source, npy_intp n) noexcept
    void imode_int32_to_half(char* to, const char* source, npy_intp n) noexcept
    void imode_int32_to_brain(char* to, const char* source, npy_intp n) noexcept
    void imode_int64_to_half(char* to, const char* source, npy_intp n) noexcept
    void imode_int64_to_brain(char* to, const char* source, npy_intp n) noexcept
    void imode_narrow_to_truth(char* to, const char* source, npy_intp n) noexcept
    void imode_half_to_byte(char* to, const char* source, npy_intp n) noexcept
    void imode_brain_to_byte(char* to, const char* source, npy_intp n) noexcept
    void imode_half_to_int32(char* to, const char* source, npy_intp n) noexcept
    void imode_brain_to_int32(char* to, const char* source, npy_intp n) noexcept
    void imode_half_to_int64(char* to, const char* source, npy_intp n) noexcept
    void imode_brain_to_int64(char* to, const char* source, npy_intp n) noexcept
    void imode_byte_to_float(char* to, const char* source, npy_intp n) noexcept
    void imode_byte_to_double(char* to, const char* source, npy_intp n) noexcept
    void imode_byte_to_int64(char* to, const char* source, npy_intp n) noexcept
    void imode_float_to_byte(char* to, const char* source, npy_intp n) noexcept
    void imode_double_to_byte(char* to, const char* source, npy_intp n) noexcept
    void imode_float_to_int32(char* to, const char* source, npy_intp n) noexcept
    void imode_float_to_int64(char* to, const char* source, npy_intp n) noexcept
    void imode_double_to_int32(char* to, const char* source, npy_intp n) noexcept
    void imode_double_to_int64(char* to, const char* source, npy_intp n) noexcept
    void imode_float_to_double(char* to, const char* source, npy_intp n) noexcept
    void imode_double_to_float(char* to, const char* source, npy_intp n) noexcept
    void imode_int32_to_float(char* to, const char* source, npy_intp n) noexcept
    void imode_int64_to_float(char* to, const char* source, npy_intp n) noexcept
    void imode_int64_to_double(char* to, const char* source, npy_intp n) noexcept
    void imode_truth_to_int64(char* to, const char* source, npy_intp n) noexcept
    void imode_truth_to_float(char* to, const char* source, npy_intp n) noexcept
    void imode_float_to_truth(char* to, const char* source, npy_intp n) noexcept
    void imode_double_to_truth(char* to, const char* source, npy_intp n) noexcept
    void imode_int64_to_truth(char* to, const char* source, npy_intp n) noexcept

cdef enum:
    GRAIN = 32768                 # fewest elements per thread
    BLOCK = 1024                  # elements of a buffer
    PIECE = 64                    # of a row that is read from as many lines of the cache


cdef bint _overlaps_itself(Fields* array) noexcept:
    """Whether a dimension is expanded (stride 0), or two dimensions have the same stride."""
    cdef int d, e
    for d in range(array.nd):
        if array.dimensions[d] > 1:
            if array.strides[d] == 0:
                return True
            for e in range(d):
                if array.strides[d] == array.strides[e] and array.dimensions[e] > 1:
                    return True
    return False


cdef bint _casts_alike(int source, int target) noexcept:
    """Whether NumPy converts like PyTorch, but for its warnings."""
    return source == target or not (
        (is_complex(source) and not is_complex(target))
        or (is_float(source) and is_integral(target)))


# ---- conversions that have a loop of their own ----

cdef struct Conversion:
    imode_converter run
    char* to
    const char* source
    npy_intp wide                 # bytes of an element of `to`,
    npy_intp item                 # and of `source`
    imode_move* plan              # of what does not lie side by side


cdef imode_converter[N_DTYPES][N_DTYPES] _converters      # by Codes, from and to; NULL: NumPy's
_converters[<int>FLOAT32][<int>BOOL] = imode_float_to_truth
_converters[<int>FLOAT32][<int>FLOAT64] = imode_float_to_double
_converters[<int>FLOAT32][<int>FLOAT16] = imode_float_to_half
_converters[<int>FLOAT32][<int>BFLOAT16] = imode_float_to_brain
_converters[<int>FLOAT32][<int>UINT8] = imode_float_to_byte
_converters[<int>FLOAT32][<int>INT32] = imode_float_to_int32
_converters[<int>FLOAT32][<int>INT64] = imode_float_to_int64
_converters[<int>FLOAT64][<int>BOOL] = imode_double_to_truth
_converters[<int>FLOAT64][<int>FLOAT16] = imode_double_to_half
_converters[<int>FLOAT64][<int>BFLOAT16] = imode_double_to_brain
_converters[<int>FLOAT64][<int>FLOAT32] = imode_double_to_float
_converters[<int>FLOAT64][<int>UINT8] = imode_double_to_byte
_converters[<int>FLOAT64][<int>INT32] = imode_double_to_int32
_converters[<int>FLOAT64][<int>INT64] = imode_double_to_int64
_converters[<int>FLOAT16][<int>BOOL] = imode_narrow_to_truth
_converters[<int>FLOAT16][<int>FLOAT32] = imode_half_to_float
_converters[<int>FLOAT16][<int>FLOAT64] = imode_half_to_double
_converters[<int>FLOAT16][<int>UINT8] = imode_half_to_byte
_converters[<int>FLOAT16][<int>INT32] = imode_half_to_int32
_converters[<int>FLOAT16][<int>INT64] = imode_half_to_int64
_converters[<int>BFLOAT16][<int>BOOL] = imode_narrow_to_truth
_converters[<int>BFLOAT16][<int>FLOAT32] = imode_brain_to_float
_converters[<int>BFLOAT16][<int>FLOAT64] = imode_brain_to_double
_converters[<int>BFLOAT16][<int>UINT8] = imode_brain_to_byte
_converters[<int>BFLOAT16][<int>INT32] = imode_brain_to_int32
_converters[<int>BFLOAT16][<int>INT64] = imode_brain_to_int64
_converters[<int>UINT8][<int>FLOAT32] = imode_byte_to_float
_converters[<int>UINT8][<int>FLOAT64] = imode_byte_to_double
_converters[<int>UINT8][<int>INT64] = imode_byte_to_int64
_converters[<int>INT64][<int>FLOAT32] = imode_int64_to_float
_converters[<int>BOOL][<int>FLOAT32] = imode_truth_to_float
_converters[<int>FLOAT16][<int>BFLOAT16] = imode_half_to_brain
_converters[<int>BFLOAT16][<int>FLOAT16] = imode_brain_to_half
_converters[<int>BOOL][<int>INT64] = imode_truth_to_int64
_converters[<int>INT64][<int>BOOL] = imode_int64_to_truth
_converters[<int>INT64][<int>FLOAT64] = imode_int64_to_double
_converters[<int>INT32][<int>FLOAT32] = imode_int32_to_float
_converters[<int>BOOL][<int>FLOAT16] = imode_truth_to_half
_converters[<int>BOOL][<int>BFLOAT16] = imode_truth_to_brain
_converters[<int>UINT8][<int>FLOAT16] = imode_byte_to_half
_converters[<int>UINT8][<int>BFLOAT16] = imode_byte_to_brain
_converters[<int>INT32][<int>FLOAT16] = imode_int32_to_half
_converters[<int>INT32][<int>BFLOAT16] = imode_int32_to_brain
_converters[<int>INT64][<int>FLOAT16] = imode_int64_to_half
_converters[<int>INT64][<int>BFLOAT16] = imode_int64_to_brain


cdef imode_converter converter(int source, int target) noexcept nogil:
    if not (0 <= source < N_DTYPES and 0 <= target < N_DTYPES):     # NumPy's other dtypes
        return NULL
    return _converters[source][target]


cdef void _convert_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Conversion* c = <Conversion*>context
    c.run(c.to + begin * c.wide, c.source + begin * c.item, end - begin)


cdef void _convert_rows(Conversion* c, char* to, const char* source, npy_intp rows, npy_intp n,
                        npy_intp to_by, npy_intp to_step, npy_intp by,
                        npy_intp step) noexcept nogil:
    """Rows of n elements: as they lie, or a block at a time by way of dense buffers."""
    cdef uint64_t[BLOCK] read
    cdef uint64_t[BLOCK] written
    cdef bint down = rows > 1 and by * by < step * step   # the elements of a column lie nearer
    cdef npy_intp i, j = 0, k, high, broad = min(n, PIECE if down else BLOCK)
    cdef npy_intp most = BLOCK // broad
    cdef char* found
    if step == c.item and to_step == c.wide and n >= PIECE:
        for i in range(rows):
            c.run(to + i * to_by, source + i * by, n)
        return
    while j < n:
        k = min(broad, n - j)
        i = 0
        while i < rows:
            high = min(most, rows - i)
            found = to + i * to_by + j * to_step
            bring_together(<char*>read, source + i * by + j * step, by, step, high, k, c.item)
            if to_step == c.wide and (high == 1 or to_by == k * c.wide):
                c.run(found, <char*>read, high * k)
            else:
                c.run(<char*>written, <char*>read, high * k)
                spread_out(found, <char*>written, to_by, to_step, high, k, c.wide)
            i += high
        j += k


cdef void _convert_planes(Conversion* c, char* to, const char* source, int d,
                          npy_intp first) noexcept nogil:
    """The dimensions from d on, of which the first has so many."""
    cdef imode_move* m = c.plan
    cdef npy_intp i
    if d == m.nd - 1:
        _convert_rows(c, to, source, 1, first, 0, m.to_steps[d], 0, m.from_steps[d])
    elif d == m.nd - 2:
        _convert_rows(c, to, source, first, m.dims[d + 1], m.to_steps[d], m.to_steps[d + 1],
                      m.from_steps[d], m.from_steps[d + 1])
    else:
        for i in range(first):
            _convert_planes(c, to + i * m.to_steps[d], source + i * m.from_steps[d], d + 1,
                            m.dims[d + 1])


cdef void _convert_planned(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The part whose first index is from `begin` up to `end`."""
    cdef Conversion* c = <Conversion*>context
    _convert_planes(c, c.to + begin * c.plan.to_steps[0], c.source + begin * c.plan.from_steps[0],
                    0, end - begin)


cdef void _convert_strided(Conversion* c, ndarray target, ndarray source) noexcept:
    cdef imode_move m
    cdef int d
    cdef npy_intp row = 1
    m.to, m.from_, m.item, m.nd = c.to, c.source, c.item, target.ndim
    for d in range(m.nd):
        m.dims[d], m.to_steps[d], m.from_steps[d] = (
            target.shape[d], target.strides[d], source.strides[d])
        if m.dims[d] == 0:
            return
    plan_move(&m)
    if m.nd == 0:
        c.run(c.to, c.source, 1)
        return
    for d in range(1, m.nd):
        row *= m.dims[d]
    c.plan = &m
    parallel_for(m.dims[0], GRAIN // row + 1, _convert_planned, c)


cdef int write(ndarray target, ndarray source) except -1:
    cdef int a = code_of[cnp.PyArray_TYPE(source)]
    cdef int b = code_of[cnp.PyArray_TYPE(target)]
    cdef npy_intp n = cnp.PyArray_SIZE(target)
    cdef Conversion c
    cdef Thread* thread
    if skipping():
        return 0
    c.run = converter(a, b)
    if c.run == NULL:
        if a != b or not move_into(target, source):
            convert_into(target, source)
        return 0
    c.to, c.source = <char*>cnp.PyArray_DATA(target), <const char*>cnp.PyArray_DATA(source)
    c.wide, c.item = cnp.PyArray_ITEMSIZE(target), cnp.PyArray_ITEMSIZE(source)
    thread = give_up_gil(n)
    if cnp.PyArray_IS_C_CONTIGUOUS(source) and cnp.PyArray_IS_C_CONTIGUOUS(target):
        parallel_for(n, GRAIN, _convert_part, &c)
    else:
        _convert_strided(&c, target, source)
    take_gil(thread)
    return 0


cdef bint _move_broadcast(ndarray target, ndarray source) noexcept:
    """Copy rows, columns or a number into a larger array of the same dtype that shares no memory;
    False: the shapes do not go together, or there is nothing to copy."""
    cdef imode_move m
    cdef Thread* thread
    cdef int d, own
    cdef int added = target.ndim - source.ndim
    if added < 0:
        return False
    m.to, m.from_ = <char*>cnp.PyArray_DATA(target), <const char*>cnp.PyArray_DATA(source)
    m.item, m.nd = cnp.PyArray_ITEMSIZE(target), target.ndim
    for d in range(m.nd):
        own = d - added
        if target.shape[d] == 0 or (
                own >= 0 and source.shape[own] != 1 and source.shape[own] != target.shape[d]):
            return False
        m.dims[d], m.to_steps[d] = target.shape[d], target.strides[d]
        m.from_steps[d] = 0 if own < 0 or source.shape[own] == 1 else source.strides[own]
    thread = give_up_gil(cnp.PyArray_SIZE(target))
    run_move(&m)
    take_gil(thread)
    return True


def as_half(x):
    """Floats rounded to float16: many are converted faster than NumPy computes in it."""
    return cast(cast(np.asarray(x), np.float16), np.float32)


cpdef ndarray cast(ndarray a, object dtype):
    """Return the array converted to a dtype, with the layout of a copy; or itself if it has it."""
    cdef ndarray made
    if a.dtype == dtype:
        return a
    made = in_order(a, dtype)
    write(made, a)
    return made


cdef object _copy(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* target = fields((<Tensor>args[0]).array)
    cdef Fields* source
    cdef ndarray to, at
    cdef npy_intp n
    cdef int a, b
    cdef bint alike
    if not is_tensor(args[1]) or not target.flags & WRITEABLE:
        return run_general(op, keys, args)
    source = fields((<Tensor>args[1]).array)
    a, b = code_of[source.descr.type_num], code_of[target.descr.type_num]
    alike = target.nd == source.nd and _same_shape(target, source, 0, target.nd)
    if not (_casts_alike(a, b) or converter(a, b) != NULL if alike else a == b):
        return run_general(op, keys, args)
    to, at = storage(<Tensor>args[0]), storage(<Tensor>args[1])
    if alike and target.flags & source.flags & C_CONTIGUOUS and a == b:
        n = cnp.PyArray_NBYTES(to)
        if target.data + n <= source.data or source.data + n <= target.data:
            if not skipping():
                copy_bytes(target.data, source.data, n)
            return <object>args[0]
    if target.data == source.data or _overlaps_itself(target) or (
            cnp.PyArray_SIZE(to) == 0 or ranges_meet(to, at)):
        return run_general(op, keys, args)
    if alike:
        write(to, at)
    elif not _move_broadcast(to, at):
        return run_general(op, keys, args)
    return <object>args[0]


cdef object _fill(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray array = storage(<Tensor>args[0])
    cdef int code = code_of[typenum(<Tensor>args[0])]
    cdef int overflow = 0
    cdef long value
    cdef double number
    cdef uint64_t item[2]
    if cnp.PyArray_ISWRITEABLE(array):
        if cnp.PyArray_IS_C_CONTIGUOUS(array) and not is_tensor(args[1]) and (
                _fill_value(cnp.PyArray_TYPE(array), args[1], <char*>item)):
            if not skipping():
                fill_with(<char*>cnp.PyArray_DATA(array), cnp.PyArray_SIZE(array),
                          cnp.PyArray_ITEMSIZE(array), <char*>item)
            return <object>args[0]
        if PyLong_CheckExact(args[1]):
            value = PyLong_AsLongAndOverflow(args[1], &overflow)
            if not overflow and 0 <= value < 128:
                cnp.PyArray_FillWithScalar(array, <object>args[1])
                return <object>args[0]
        elif PyFloat_CheckExact(args[1]) and (code == FLOAT32 or code == FLOAT64):
            number = PyFloat_AS_DOUBLE(args[1])
            if -1e38 < number < 1e38:
                cnp.PyArray_FillWithScalar(array, <object>args[1])
                return <object>args[0]
    return run_general(op, keys, args)


cdef object _zero(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray array = storage(<Tensor>args[0])
    if not cnp.PyArray_ISWRITEABLE(array):
        return run_general(op, keys, args)
    if skipping():
        return <object>args[0]
    if cnp.PyArray_IS_C_CONTIGUOUS(array):
        clear(<char*>cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array))
    else:
        cnp.PyArray_FillWithScalar(array, 0)
    return <object>args[0]


cdef object _convert(Operator op, keyset_t keys, PyObject** args):
    """_to_copy(self, dtype): a new tensor of a dtype."""
    cdef ndarray array = storage(<Tensor>args[0])
    cdef int source = code_of[typenum(<Tensor>args[0])]
    cdef int target = code_from_object(<object>args[1])
    cdef ndarray out
    if target < 0:
        target = source
    if args[2] != <PyObject*>None or (
            not _casts_alike(source, target) and converter(source, target) == NULL):
        return run_general(op, keys, args)
    if cnp.PyArray_IS_C_CONTIGUOUS(array):
        out = empty_like(array, typenum_of[target])
    else:
        out = in_order(array, cnp.PyArray_DescrFromType(typenum_of[target]))
    write(out, array)
    return wrap(out)


def move(ndarray target not None, ndarray source not None):
    """Copy between arrays of one shape and dtype that share no memory; returns the target."""
    if cnp.PyArray_SIZE(target):
        write(target, source)
    return target


def copy_in_turn(ndarray target not None, ndarray source not None):
    """Copy element by element in row order, between arrays of one shape and dtype that may overlap:
    an element already overwritten is copied with its new value."""
    cdef cnp.flatiter to = cnp.PyArray_IterNew(target)
    cdef cnp.flatiter at = cnp.PyArray_IterNew(source)
    cdef size_t size = cnp.PyArray_ITEMSIZE(target)
    while cnp.PyArray_ITER_NOTDONE(to):
        memmove(cnp.PyArray_ITER_DATA(to), cnp.PyArray_ITER_DATA(at), size)
        cnp.PyArray_ITER_NEXT(to)
        cnp.PyArray_ITER_NEXT(at)


copy_fast = CKernel.new(_copy)
fill_fast = CKernel.new(_fill)
zero_fast = CKernel.new(_zero)
convert_fast = CKernel.new(_convert)
