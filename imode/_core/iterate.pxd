# An inner loop over arrays of any layout: the result's strides, dimensions collapsed, threads.
# See iterate.pyx for implementation details.

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport Fields
from numpy cimport ndarray, npy_intp

# A typed inner loop, as NumPy's ufuncs have them.
ctypedef void (*loop_t)(char** args, const npy_intp* dimensions, const npy_intp* steps,
                        void* data) noexcept nogil

cdef enum:
    GIL_FREE = 32768              # elements from which the GIL is released
    MAX_IN = 4                    # operands of a pointwise operator
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


# Whether the strides of a contiguous array are those of a new one, in dimensions of size 1, too.
# NumPy does not care; PyTorch lays out results by them. One without elements may lie anyhow.
cdef inline bint in_row_order(Fields* array, npy_intp item) noexcept nogil:
    cdef npy_intp step = item
    cdef int d
    for d in range(array.nd - 1, -1, -1):
        if array.strides[d] != step or array.dimensions[d] == 0:
            return False
        step *= array.dimensions[d]
    return True


# Where PyTorch puts the axes of a new tensor in memory. There are two ways, and no third:
# what pointwise operators give, by all of their operands,
cdef ndarray empty_for(Operand* operands, int nin, int nd, npy_intp* dims, int typenum,
                       npy_intp itemsize, bint alike)
# and what copies one tensor: the very strides of one without gaps.
cdef ndarray empty_like(ndarray a, int typenum)

# Whether the elements fill a block of memory without holes or overlap, in any order of the axes.
cdef bint dense(Operand* a) noexcept

cdef inline bint is_dense(ndarray a) noexcept:
    cdef Operand operand = operand_of(a)
    return cnp.PyArray_IS_C_CONTIGUOUS(a) or dense(&operand)

# The strides of the first way; True where they are those of a new C-contiguous array. `alike`: all
# operands have the result's shape, and numbers, if any, are parameters of the operator.
cdef bint layout(Operand* operands, int nin, int nd, npy_intp* dims, npy_intp itemsize,
                 bint alike, npy_intp* strides) noexcept

# OUT axes: the order of both, innermost first.
cdef void order_axes(Operand* operands, int nin, int nd, npy_intp* dims, int* axes) noexcept

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
