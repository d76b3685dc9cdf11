# An inner loop over arrays of any layout: the result's strides, dimensions collapsed, threads.
# See iterate.pyx for implementation details.

from cpython.object cimport PyObject
from imode._core.allocator cimport Fields
from numpy cimport ndarray, npy_intp

# A typed inner loop, as NumPy's ufuncs have them.
ctypedef void (*loop_t)(char** args, const npy_intp* dimensions, const npy_intp* steps,
                        void* data) noexcept nogil

cdef enum:
    GIL_FREE = 32768              # elements from which the GIL is released
    MAX_IN = 4                    # operands of a pointwise operator
    NDIM = 32                     # most dimensions that a broadcast may have

ctypedef struct Operand:
    char* data
    npy_intp* dims                # NULL: a number or a 0-dim tensor
    npy_intp* strides
    int nd
    int code


# Whether the strides of a contiguous array are those of a new one, in dimensions of size 1, too.
# NumPy does not care; PyTorch lays out results by them.
cdef inline bint in_row_order(Fields* array, npy_intp item) noexcept nogil:
    cdef npy_intp step = item
    cdef int d
    for d in range(array.nd - 1, -1, -1):
        if array.strides[d] != step:
            return False
        if array.dimensions[d]:
            step *= array.dimensions[d]
    return True


# The result's array: dense, its dimensions in the operands' order of strides.
cdef ndarray empty_like(Operand* operands, int nin, int nd, npy_intp* dims, int typenum,
                        npy_intp itemsize)

# Fill in the strides of the result; True where they are those of a C-contiguous array.
cdef bint layout(Operand* operands, int nin, int nd, npy_intp* dims, npy_intp itemsize,
                 npy_intp* strides) noexcept

# Call an inner loop once, over n elements; the GIL is released and threads share where n is large.
cdef void run(loop_t loop, void* loop_data, int n_operands, char** data, npy_intp n,
              npy_intp* steps) noexcept

# Call an inner loop over all of the result.
cdef int iterate(loop_t loop, void* loop_data, Operand* operands, int nin, int nd,
                 npy_intp* dims, ndarray out) except -1


cdef extern from "Python.h":
    PyObject* PyErr_Occurred() noexcept


cdef inline int raise_left() except -1:
    """Raise what a loop left behind: one over rows may find no memory for its copies."""
    return 0 if PyErr_Occurred() == NULL else -1
