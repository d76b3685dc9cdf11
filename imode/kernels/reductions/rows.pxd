# Functions of a row; see rows.pyx. Here are the loops that are not in its ufuncs.
from imode._core.loops cimport loop_t
from numpy cimport npy_intp

cdef extern from "rows.h" nogil:
    enum: IMODE_COLUMN
    enum: IMODE_ROOM              # bytes of a row, in float, for which no memory is allocated
    ctypedef void (*scan_t "imode_scan *")(const char* source, char* out, npy_intp outer,
                                           npy_intp n, npy_intp inner, npy_intp width) noexcept

cdef struct BrainLoops:           # of bfloat16, (n)->() and (n)->(n)
    loop_t sum
    loop_t logsumexp
    loop_t softmax
    loop_t log_softmax

cdef struct WideLoops:            # of float16 and bfloat16, with results in float, (n)->()
    loop_t half
    loop_t brain

cdef struct Columns:              # of lanes side by side: float32, float64, float16, bfloat16
    scan_t softmax[4]             # the last two: of up to IMODE_COLUMN elements
    scan_t log_softmax[4]

cdef BrainLoops brain
cdef WideLoops wide_sums
cdef WideLoops wide_norms         # the roots of sums of squares
cdef Columns columns
