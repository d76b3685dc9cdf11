# A NumPy ufunc as a kernel: its typed inner loops, called directly.
# See loops.pyx. Loops are filled in when an operator is declared, and immutable from then on.
from imode._core.dispatch cimport CKernel
from imode._core.dtype cimport N_DTYPES
from imode._core.iterate cimport MAX_IN, loop_t
from libc.stdint cimport intptr_t
from numpy cimport npy_intp

cdef enum Ints:                   # what integer and bool operands compute in
    SAME = 0
    AS_FLOAT = 1                  # the default float dtype
    REFUSED = 2
    NO_BOOL = 3                   # themselves; a bool operand goes to `otherwise`
    ALIKE = 4                     # themselves; numbers do not count, unlike tensors: `otherwise`
    TENSORS = 5                   # themselves; numbers do not count
    MASK = 6                      # the first operand is a condition and has no say in the dtype

cdef enum Laid:                   # how new results lie in memory
    POINTWISE = 0                 # see iterate.pxd
    ROWS = 1                      # row-major, however the operands lie
    LIKE = 2                      # as a copy of the first operand
    PARTS = 3                     # row-major where complex numbers give real ones

cdef enum:                        # how a number becomes an operand; else as by a cast in C
    CHECKED = 1                   # refused where the dtype cannot hold it
    WIDE = 2                      # float32 beside float16 tensors, and so is what is computed
    FILLED = 4                    # beside float16 tensors a float64, however large
    APART = 8                     # a parameter, which has no say in how the result lies in memory

ctypedef struct Loops:            # one ufunc; index: Code of the operands' common dtype
    int nin
    int ints                      # Ints
    loop_t loop[N_DTYPES]         # NULL: none
    void* data[N_DTYPES]
    int out[N_DTYPES]             # Code of the result
    int numbers[MAX_IN]           # flags of each operand where it is a number
    bint bounds                   # None for operand 1 or 2: no lower, no upper bound
    int laid                      # Laid
    bint exact                    # out= must have the result's dtype
    void* scaled                  # Loops with one operand more (alpha), for floats; or NULL


# The inner loop of a ufunc or gufunc for operands all of one dtype; False: it has none.
# `first`: the operand from which on the dtypes count (1 after a condition).
cdef bint find_loop(object ufunc, int code, loop_t* loop, void** data, int* out,
                    int first=*) except -1
