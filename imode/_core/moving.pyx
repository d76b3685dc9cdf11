"""Copies of elements from one layout to another: what NumPy does element by element."""
cimport numpy as cnp
from imode._core.parallel cimport parallel_for
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "moving.h" nogil:
    void imode_plan_move(imode_move* m)
    void imode_run_move(const imode_move* m, npy_intp begin, npy_intp end)

cdef enum:
    GRAIN = 131072                # fewest bytes per thread


cdef void _part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    imode_run_move(<imode_move*>context, begin, end)


cdef void run_move(imode_move* m) noexcept nogil:
    cdef npy_intp row = m.item
    cdef int d
    imode_plan_move(m)
    for d in range(1, m.nd):
        row *= m.dims[d]
    parallel_for(m.dims[0] if m.nd else 1, GRAIN // row + 1, _part, m)


cdef bint move_into(ndarray to, ndarray source) noexcept:
    cdef imode_move m
    cdef int d
    m.to, m.from_ = <char*>cnp.PyArray_DATA(to), <const char*>cnp.PyArray_DATA(source)
    m.item, m.nd = cnp.PyArray_ITEMSIZE(to), to.ndim
    if m.item not in (1, 2, 4, 8, 16) or cnp.PyArray_TYPE(to) == cnp.NPY_OBJECT:
        return False
    for d in range(m.nd):
        m.dims[d], m.to_steps[d], m.from_steps[d] = to.shape[d], to.strides[d], source.strides[d]
        if m.dims[d] == 0:
            return True
    with nogil:
        run_move(&m)
    return True
