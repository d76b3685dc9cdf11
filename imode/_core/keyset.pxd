# DispatchKey, in priority order, and a set of keys as one 64-bit word.
# See keyset.pyx for the Python faces, which are immutable.
from libc.stdint cimport uint64_t

ctypedef uint64_t keyset_t        # bit i set: key i is in the set

cdef enum:
    N_KEYS = 9                    # number of keys; a kernel table has this many entries

cdef enum Key:                    # low to high priority
    CPU = 0                       # NumPy storage
    META = 1                      # shape only, no storage
    PRIVATEUSE1 = 2               # a backend from outside
    SPARSE = 3                    # coordinates and values of a sparse tensor
    STORED = 4                    # a dtype that no loop computes in: Note [Stored dtypes]
    AD_INPLACE_OR_VIEW = 5        # version bumps and view records
    AUTOGRAD = 6                  # the graph
    TRACER = 7                    # dispatch trace
    PYTHON = 8                    # user-level dispatch mode

cdef enum:
    WANTS = 9                     # no key: an inference tensor requires grad
    BIT_CPU = 1 << 0
    BIT_META = 1 << 1
    BIT_PRIVATEUSE1 = 1 << 2
    BIT_SPARSE = 1 << 3
    BIT_STORED = 1 << 4
    BIT_AD = 1 << 5
    BIT_AUTOGRAD = 1 << 6
    BIT_TRACER = 1 << 7
    BIT_PYTHON = 1 << 8
    BIT_WANTS = 1 << WANTS
    BACKENDS = BIT_CPU | BIT_META | BIT_PRIVATEUSE1 | BIT_SPARSE
    ALL_KEYS = (1 << N_KEYS) - 1
    NORMAL_KEYS = BIT_CPU | BIT_AD                    # a normal CPU tensor without a history
    INFERENCE_KEYS = BIT_CPU                          # an inference CPU tensor


cdef extern from "keyset.h":
    int highest_key "imode_highest_key"(keyset_t keys) noexcept nogil   # keys must not be 0


cdef inline keyset_t with_autograd(keyset_t keys, keyset_t always) noexcept nogil:
    """The keys of a call's tensors, and Autograd if one of them is normal and either `always` is
    BIT_AD or another is an inference tensor that requires grad."""
    return keys | (keys & (keys >> (WANTS - AD_INPLACE_OR_VIEW) | always) & BIT_AD) << 1


cdef inline keyset_t below(int key) noexcept nogil:
    """All keys of lower priority than `key`."""
    return (<keyset_t>1 << key) - 1


cdef class DispatchKeySet:
    cdef readonly keyset_t bits   # the set

    @staticmethod
    cdef DispatchKeySet new(keyset_t bits)


cdef object key_object(int key)
cdef int key_index(object key) except -1
