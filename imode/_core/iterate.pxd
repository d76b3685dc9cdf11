# An inner loop over arrays of any layout: the result's strides, dimensions collapsed, threads.
# See iterate.pyx for implementation details.

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport Fields
from numpy cimport ndarray, npy_intp

# A typed inner loop with the signature of NumPy's.
ctypedef void (*loop_t)(char** args, const npy_intp* dimensions, const npy_intp* steps,
                        void* data) noexcept nogil

cdef enum:
    GIL_FREE = 32768              # from so many elements on, the GIL is released
    MAX_IN = 4                    # most operands of a pointwise operator
    NDIM = 64                     # most dimensions of an ndarray

ctypedef struct Operand:
    char* data
    npy_intp* dims                # NULL: a number or a 0-dim tensor
    npy_intp* strides
    int nd
    npy_intp item                 # bytes per element


cdef inline Operand operand_of(ndarray a) noexcept:
    cdef Operand operand
    operand.data, operand.dims, operand.strides = (
        <char*>cnp.PyArray_DATA(a), cnp.PyArray_DIMS(a), cnp.PyArray_STRIDES(a))
    operand.nd, operand.item = cnp.PyArray_NDIM(a), cnp.PyArray_ITEMSIZE(a)
    return operand


# Whether the strides of a contiguous array are those of a new array, also in dimensions of size 1.
# NumPy ignores those; PyTorch lays out results by them. An empty array may have any strides.
cdef inline bint in_row_order(Fields* array, npy_intp item) noexcept nogil:
    cdef npy_intp step = item
    cdef int d
    for d in range(array.nd - 1, -1, -1):
        if array.strides[d] != step or array.dimensions[d] == 0:
            return False
        step *= array.dimensions[d]
    return True


# PyTorch's order of the axes of a new tensor in memory. There are only two rules:
# for the result of a pointwise operator, from all of its operands,
cdef ndarray empty_for(Operand* operands, int nin, int nd, npy_intp* dims, int typenum,
                       npy_intp itemsize, bint alike)
# and for a copy of one tensor: exactly its strides, if it has no gaps.
cdef ndarray empty_like(ndarray a, int typenum)

# Whether the elements fill a block of memory without gaps or overlap, in any order of the axes.
cdef bint dense(Operand* a) noexcept

cdef inline bint is_dense(ndarray a) noexcept:
    cdef Operand operand = operand_of(a)
    return cnp.PyArray_IS_C_CONTIGUOUS(a) or dense(&operand)

# The strides by the first rule; True if they are those of a new C-contiguous array. `alike`: all
# operands have the result's shape, and numbers, if any, are parameters of the operator.
cdef bint layout(Operand* operands, int nin, int nd, npy_intp* dims, npy_intp itemsize,
                 bint alike, npy_intp* strides) noexcept

# OUT axes: the order by both rules, innermost first.
cdef void order_axes(Operand* operands, int nin, int nd, npy_intp* dims, int* axes) noexcept

# Call an inner loop once, over n elements; for large n the GIL is released and threads share them.
cdef void run(loop_t loop, void* loop_data, int n_operands, char** data, npy_intp n,
              npy_intp* steps) noexcept

# Call an inner loop over all of the result.
cdef int iterate(loop_t loop, void* loop_data, Operand* operands, int nin, int nd,
                 npy_intp* dims, ndarray out) except -1

# Where `iterate` would call `loop` for each of many rows, it calls `rows`, once: dimensions[1] is
# their number, and their steps follow those of the elements. data: of `rows`; NULL: the loop's.
cdef int add_rows_loop(loop_t loop, loop_t rows, void* data) except -1


cdef extern from "Python.h":
    PyObject* PyErr_Occurred() noexcept


cdef inline int raise_left() except -1:
    """Raise the error that a loop has set: there may be no memory for its copies."""
    return 0 if PyErr_Occurred() == NULL else -1
