# DispatchKey, in priority order, and a set of keys as one 64-bit word.
# See keyset.pyx for the Python faces, which are immutable.
from libc.stdint cimport uint64_t

ctypedef uint64_t keyset_t        # bit i set: key i is in the set

cdef enum:
    N_KEYS = 7                    # number of keys; a kernel table has this many entries

cdef enum Key:                    # low to high priority
    CPU = 0                       # NumPy storage
    META = 1                      # shape only, no storage
    PRIVATEUSE1 = 2               # a backend from outside
    AD_INPLACE_OR_VIEW = 3        # version bumps and view records
    AUTOGRAD = 4                  # the graph
    TRACER = 5                    # dispatch trace
    PYTHON = 6                    # user-level dispatch mode

cdef enum:
    BIT_CPU = 1 << 0
    BIT_META = 1 << 1
    BIT_PRIVATEUSE1 = 1 << 2
    BIT_AD = 1 << 3
    BIT_AUTOGRAD = 1 << 4
    BIT_TRACER = 1 << 5
    BIT_PYTHON = 1 << 6
    BACKENDS = BIT_CPU | BIT_META | BIT_PRIVATEUSE1
    ALL_KEYS = (1 << N_KEYS) - 1
    NORMAL_KEYS = BIT_CPU | BIT_AD | BIT_AUTOGRAD     # a normal CPU tensor
    INFERENCE_KEYS = BIT_CPU                          # an inference CPU tensor


cdef extern from "keyset.h":
    int highest_key "imode_highest_key"(keyset_t keys) noexcept nogil   # keys must not be 0


cdef inline keyset_t below(int key) noexcept nogil:
    """All keys of lower priority than `key`."""
    return (<keyset_t>1 << key) - 1


cdef class DispatchKeySet:
    cdef readonly keyset_t bits   # the set

    @staticmethod
    cdef DispatchKeySet new(keyset_t bits)


cdef object key_object(int key)
cdef int key_index(object key) except -1
