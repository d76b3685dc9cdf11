# Sums over planes of arrays, and what follows from them, on several threads: the loops below the
# normalisations. See planes.pyx for how they are shared, _planes.h for what each computes.

ctypedef fused real:
    float
    double

cdef extern from "_planes.h" nogil:
    ctypedef struct plane_t:
        long outer, channels, inner   # the array is (outer, channels, inner)
        long step                     # elements from one of `outer` to the next


cdef enum Kind:
    FLOAT = 0
    DOUBLE = 1
    HALF = 2                          # of 16 bits; what there is one of per channel or row is of
    BRAIN = 3                         # float32

# A contiguous array of that shape.
cdef plane_t planes(long outer, long channels, long inner) noexcept nogil

# Mean and biased variance of every channel; -1: no memory.
cdef int stats(const plane_t* p, Kind kind, const void* x, void* mean, void* var) noexcept nogil
# The mean of every channel, and 1 / its standard deviation; -1: no memory.
cdef int mean_and_rstd(const plane_t* p, Kind kind, double eps, const void* x, void* mean,
                       void* rstd) noexcept nogil
# total[c] = sum of grad, dot[c] = sum of grad * (x - mean[c]); -1: no memory.
cdef int sums(const plane_t* p, Kind kind, const void* grad, const void* x, const void* mean,
              void* total, void* dot) noexcept nogil
# out = x * scale[c] + shift[c]
cdef void affine(const plane_t* p, Kind kind, const void* x, const void* scale,
                 const void* shift, void* out) noexcept nogil
# out = grad * a[c] + x * b[c] + shift[c]
cdef void combine(const plane_t* p, Kind kind, const void* grad, const void* x, const void* a,
                  const void* b, const void* shift, void* out) noexcept nogil

ctypedef struct rows_t:               # rows that are normalised, each on its own
    long rows, size
    Kind kind
    const char* x
    char* mean                        # of each row
    char* rstd
    const char* weight                # one for each of `size`, or NULL
    const char* bias

# mean, rstd, and out = (x - mean) * rstd * weight + bias; -1: no memory
cdef int normalise(rows_t* r, double eps, void* out) noexcept nogil
# The gradients of that; each of the last three may be NULL.
cdef void normalise_backward(rows_t* r, const void* grad, void* grad_x, void* grad_weight,
                             void* grad_bias) noexcept nogil
