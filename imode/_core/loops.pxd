# A NumPy ufunc as a kernel: its typed inner loops, called directly.
# See loops.pyx. A Loops is filled in when its operator is declared, and immutable from then on.
from imode._core.dispatch cimport CKernel
from imode._core.dtype cimport N_DTYPES
from imode._core.iterate cimport MAX_IN, loop_t
from libc.stdint cimport intptr_t
from numpy cimport npy_intp

cpdef enum Ints:                  # in what dtype integers and bools are computed
    SAME = 0
    FLOAT = 1                     # the default float dtype
    ERROR = 2                     # none: an error
    DIVIDED = 3                   # their own; with a 0 in the second operand: the fallback
    NOBOOL = 4                    # their own; a bool operand goes to the fallback
    ALIKE = 5                     # their own, without numbers; different dtypes: the fallback
    TENSORS = 6                   # their own, without numbers
    MASK = 7                      # their own, without the first operand, a condition

cpdef enum Layout:                # how new results lie in memory
    POINTWISE = 0                 # see iterate.pxd
    ROWS = 1                      # row-major, whatever the operands' layout
    LIKE = 2                      # like a copy of the first operand
    PARTS = 3                     # row-major if operands are complex and the result is real

cpdef enum Number:                # how a number becomes an operand: flags; 0: like a cast in C
    CHECKED = 1                   # an error if the dtype cannot hold it
    WIDE = 2                      # beside float16 tensors it is, and is computed in, float32
    FILLED = 4                    # beside float16 tensors it is a float64, however large
    PARAMETER = 8                 # it does not influence the result's layout
    NARROW = 16                   # beside 16 bits, an error if these cannot hold it

cdef extern from "wide.h":
    # That does in registers, for 16 bits, what a loop over float32 does
    ctypedef int (*narrow_loop)(char** args, npy_intp n, const npy_intp* steps, unsigned halves,
                                int brain) noexcept nogil
    ctypedef struct wide_loop:    # a loop over float32 that runs on float16 or bfloat16
        loop_t loop
        void* data
        int nin
        unsigned halves           # a bit for each operand of 16 bits, and for the result
        int brain                 # these are bfloat16
        narrow_loop narrow        # or NULL

ctypedef struct Loops:            # of one ufunc; indexed by the Code of the operands' common dtype
    int nin
    int ints                      # Ints
    loop_t loop[N_DTYPES]         # NULL: none
    void* data[N_DTYPES]
    int out[N_DTYPES]             # Code of the result
    int numbers[MAX_IN]           # flags for each operand that is a number
    bint bounds                   # None for operand 1 or 2: no lower, no upper bound
    int layout                    # Layout
    void* scaled                  # Loops with one more operand (alpha), for floats; or NULL
    wide_loop halves              # that of float32, for float16: see `_fill`
    wide_loop brains              # and for bfloat16


# The inner loop of a ufunc or gufunc for operands all of one dtype; False if it has none.
# `first`: the first operand whose dtype counts (1 after a condition).
cdef bint find_loop(object ufunc, int code, loop_t* loop, void** data, int* out,
                    int first=*) except -1

# The loop of a ufunc over float32 as one over float16, or `brain` bfloat16, all its operands and
# its result: `found`, called with `wide` as its data. False if there is none.
cdef bint widened_loop(object ufunc, bint brain, loop_t* found, wide_loop* wide) except -1

# Let operators of that loop over float32 use `narrow` for 16 bits; called before they are made.
cdef int add_narrow_loop(loop_t loop, void* data, narrow_loop narrow) except -1
