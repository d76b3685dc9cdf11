# Random zeros and ones; see choices.pyx.
cimport numpy as cnp
from imode.kernels.random.generator cimport Generator, mt_state
from libc.stdint cimport int64_t

# Ones with probability p, else zeros; kind: float32, float64, or bytes. The caller holds the lock.
cdef void draw_coins(mt_state *mt, int kind, void *out, int64_t n, double p) noexcept nogil
# The same with a probability per element: contiguous arrays of one shape and floating dtype,
# disjoint. RuntimeError for a probability outside [0, 1].
cdef int toss_alike(cnp.ndarray out, cnp.ndarray p, Generator source) except -1
