# Numbers of events; see counts.pyx.
from imode.kernels.random.generator cimport mt_state
from libc.stdint cimport int64_t

# A number of each rate; kind: float32 or float64, of both. The caller holds the lock.
cdef void draw_poisson(
    mt_state *mt, int kind, void *out, const void *rates, int64_t n
) noexcept nogil
