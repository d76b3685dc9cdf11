# Reductions: one plan for every operator that folds dimensions, over typed inner loops.
# See reduce.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from imode._core.dtype cimport N_DTYPES
from imode._core.loops cimport loop_t
from libc.stdint cimport uint64_t
from numpy cimport ndarray, npy_intp

cdef extern from "reduce.h" nogil:
    void imode_nansum_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_nansum_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_prod_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_prod_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_max_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_max_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_min_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_min_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_norm1_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_norm1_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_norm2_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_norm2_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_any_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_any_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_any_l(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_all_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_all_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_all_l(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_count_b(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_count_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_count_d(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_count_l(char**, const npy_intp*, const npy_intp*, void*) noexcept

cdef enum:
    NDIM = 32                     # most dimensions that a plan serves
    ALL = -1                      # axes: every one
    BAD = -2                      # axes for which the Python kernel raises
    GIL_FREE = 32768              # from so many elements on, the GIL is released
    COPY = 16384                  # from so many elements on, strided lanes are copied into rows

ctypedef struct Lanes:            # the inner loops for one dtype
    int compute                   # Code to convert the tensor to first; NO_DTYPE: not served
    int out                       # Code of the result
    loop_t rows                   # (n)->(); NULL: by `step`
    void* rows_data
    loop_t step                   # (),()->(): takes one more element into the result; NULL: none
    void* step_data
    loop_t wide                   # of 16 bits: (n)->() with results in float32; NULL: none

ctypedef struct Axes:             # dimensions, neighbours merged where memory allows
    int n
    npy_intp size[NDIM]
    npy_intp stride[NDIM]         # bytes

ctypedef struct Plan:             # one reduction: the dimensions of a lane, and those kept
    Axes lane
    Axes kept
    int nd                        # the result's
    npy_intp dims[NDIM]


# The bits of the axes that an argument names (None, a tuple, an int), or ALL, or BAD.
cdef long long axes_of(PyObject* dim, int nd) noexcept
# A Python int; one that does not fit becomes a number out of any range.
cdef long long_of(PyObject* value) noexcept
# How to reduce `x` along `axes`: what is a lane, what is kept, the result's shape.
cdef void make_plan(ndarray x, long long axes, bint keepdim, Plan* plan) noexcept
# The same elements with the reduced dimensions last, C-contiguous.
cdef ndarray lanes_last(ndarray x, long long axes)
