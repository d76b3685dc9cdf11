# Fourier transforms along dimensions of an array. See transform.pyx for implementation details.
from numpy cimport ndarray, npy_intp

cdef extern from "transform.h" nogil:
    ctypedef struct imode_plan:
        pass
    enum:
        IMODE_C2C
        IMODE_R2C
        IMODE_C2R
        IMODE_LINES
    imode_plan* imode_plan_new(long n, int wide, int real) noexcept
    void imode_plan_free(imode_plan*) noexcept
    size_t imode_plan_bytes(const imode_plan*) noexcept
    size_t imode_plan_work(const imode_plan*, int kind, npy_intp src_step,
                           npy_intp dst_step) noexcept
    int imode_lines(const imode_plan*, int kind, npy_intp src_step, npy_intp dst_step,
                    int* unit) noexcept
    void imode_transform(
        const imode_plan*, int kind, int inverse, int both, double scale, const char* src,
        const npy_intp* src_at, npy_intp src_step, char* dst, const npy_intp* dst_at,
        npy_intp dst_step, int lines, void* work) noexcept


cdef class Plan:
    # What the transforms of one length share. Immutable once made.
    cdef imode_plan* tables       # owned; does not change
    cdef object key               # (n, wide, real)


# The plan of a length, made when it is first asked for. Thread rule: with the GIL held.
cdef Plan plan_of(npy_intp n, bint wide, bint real)

# Transform along one axis of `source` into `target`, whose other sizes agree.
cdef int along(int kind, ndarray source, ndarray target, int axis, npy_intp n, bint inverse,
               bint both, double scale) except -1
