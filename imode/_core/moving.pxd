# Copies of elements from one layout to another, shared between threads.

from numpy cimport ndarray, npy_intp

cdef extern from "moving.h":
    ctypedef struct imode_move:
        char* to
        const char* from_ "from"
        npy_intp item
        int nd
        npy_intp* dims
        npy_intp* to_steps
        npy_intp* from_steps

# Copy rows of n elements, `by` and `step` bytes apart, to where they lie side by side, one row
# behind the other; on this thread.
cdef void bring_together(char* to, const char* source, npy_intp by, npy_intp step, npy_intp rows,
                         npy_intp n, npy_intp item) noexcept nogil

# Copy such rows from where they lie side by side to ones `by` and `step` bytes apart.
cdef void spread_out(char* to, const char* source, npy_intp by, npy_intp step, npy_intp rows,
                     npy_intp n, npy_intp item) noexcept nogil

# Merge the dimensions of a move and bring them into the order in which they are walked; the last
# has the smallest steps of `to`.
cdef void plan_move(imode_move* m) noexcept nogil

# Run a move; nothing in it may be empty. The item is of 1, 2, 4, 8 or 16 bytes. It is changed.
cdef void run_move(imode_move* m) noexcept nogil

# Copy between arrays of one shape and dtype that share no memory. False: not such a dtype.
cdef bint move_into(ndarray to, ndarray source) noexcept

# Copy between arrays of one shape that share no memory, converting as NumPy does, but without its
# warnings: a number beyond the range becomes infinite, as PyTorch has it.
cdef int convert_into(ndarray to, ndarray source) except -1

# Store n copies of one element of 1, 2, 4, 8 or 16 bytes, which lies elsewhere.
cdef void fill_with(char* to, npy_intp n, npy_intp item, const char* value) noexcept nogil
# memset and memcpy, shared between threads.
cdef void clear(char* to, npy_intp n) noexcept nogil
cdef void copy_bytes(char* to, const char* source, npy_intp n) noexcept nogil
