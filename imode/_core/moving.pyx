"""Copies of elements from one layout to another: what NumPy does element by element."""
import numpy as np
cimport numpy as cnp
from imode._core.parallel cimport Thread, give_up_gil, parallel_for, take_gil
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "moving.h" nogil:
    void imode_plan_move(imode_move* m)
    void imode_widen_move(imode_move* m)
    void imode_run_move(const imode_move* m, npy_intp begin, npy_intp end)

cdef enum:
    GRAIN = 131072                # fewest bytes per thread
    FEW = 256                     # bytes for which a plan does not pay
    LEAST = 4096                  # bytes that the C library's copy may be slow for


cdef void _part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    imode_run_move(<imode_move*>context, begin, end)


cdef void bring_together(char* to, const char* source, npy_intp by, npy_intp step, npy_intp rows,
                         npy_intp n, npy_intp item) noexcept nogil:
    cdef imode_move m
    m.to, m.from_, m.item, m.nd = to, source, item, 2
    m.dims[0], m.to_steps[0], m.from_steps[0] = rows, n * item, by
    m.dims[1], m.to_steps[1], m.from_steps[1] = n, item, step
    imode_run_move(&m, 0, rows)


cdef void spread_out(char* to, const char* source, npy_intp by, npy_intp step, npy_intp rows,
                     npy_intp n, npy_intp item) noexcept nogil:
    cdef imode_move m
    m.to, m.from_, m.item, m.nd = to, source, item, 2
    m.dims[0], m.to_steps[0], m.from_steps[0] = rows, by, n * item
    m.dims[1], m.to_steps[1], m.from_steps[1] = n, step, item
    imode_run_move(&m, 0, rows)


cdef void plan_move(imode_move* m) noexcept nogil:
    imode_plan_move(m)


cdef void run_move(imode_move* m) noexcept nogil:
    cdef npy_intp row
    cdef int d
    imode_plan_move(m)
    imode_widen_move(m)
    row = m.item
    for d in range(1, m.nd):
        row *= m.dims[d]
    parallel_for(m.dims[0] if m.nd else 1, GRAIN // row + 1, _part, m)


cdef int convert_into(ndarray to, ndarray source) except -1:
    if cnp.PyArray_CanCastSafely(cnp.PyArray_TYPE(source), cnp.PyArray_TYPE(to)):
        return cnp.PyArray_CopyInto(to, source)
    with np.errstate(all="ignore"):
        return cnp.PyArray_CopyInto(to, source)


cdef void fill_with(char* to, npy_intp n, npy_intp item, const char* value) noexcept nogil:
    cdef imode_move m
    cdef npy_intp i
    if n * item < FEW:
        for i in range(n):
            memcpy(to + i * item, value, item)
        return
    m.to, m.from_, m.item, m.nd = to, value, item, 1
    m.dims[0], m.to_steps[0], m.from_steps[0] = n, item, 0
    run_move(&m)


cdef void clear(char* to, npy_intp n) noexcept nogil:
    cdef char zero = 0
    if n < 2 * GRAIN:
        memset(to, 0, n)
    else:
        fill_with(to, n, 1, &zero)


cdef void copy_bytes(char* to, const char* source, npy_intp n) noexcept nogil:
    cdef imode_move m
    if n < LEAST:
        memcpy(to, source, n)
        return
    m.to, m.from_, m.item, m.nd = to, source, 1, 1
    m.dims[0], m.to_steps[0], m.from_steps[0] = n, 1, 1
    if n < 2 * GRAIN:
        imode_run_move(&m, 0, n)
    else:
        run_move(&m)


cdef bint move_into(ndarray to, ndarray source) noexcept:
    cdef imode_move m
    cdef Thread* thread
    cdef int d
    m.to, m.from_ = <char*>cnp.PyArray_DATA(to), <const char*>cnp.PyArray_DATA(source)
    m.item, m.nd = cnp.PyArray_ITEMSIZE(to), to.ndim
    if m.item not in (1, 2, 4, 8, 16) or cnp.PyArray_TYPE(to) == cnp.NPY_OBJECT:
        return False
    for d in range(m.nd):
        m.dims[d], m.to_steps[d], m.from_steps[d] = to.shape[d], to.strides[d], source.strides[d]
        if m.dims[d] == 0:
            return True
    thread = give_up_gil(cnp.PyArray_SIZE(to))
    run_move(&m)
    take_gil(thread)
    return True
