# Kernels that libraries lay over an operator's own. See layers.pyx for implementation details.
# Thread rule: tables change with the GIL held, in C, so no call sees half of a change; a call holds
# the kernel that it runs.
from cpython.object cimport PyObject
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport N_KEYS, keyset_t

cdef enum:                        # slots of Operator.layers after those of the keys
    EXPLICIT = N_KEYS             # for every backend that has no kernel of its own
    IMPLICIT = N_KEYS + 1         # made of other operators: for Autograd, too
    N_SLOTS = N_KEYS + 2


cdef class Signature:
    # What a schema says of memory and results. Immutable, but for `formulas`.
    cdef readonly tuple written   # positions of the arguments that are written to
    cdef readonly tuple results   # per result: its type's name ("Tensor", "int"); (): none
    cdef readonly tuple alias_of  # per result: position of the argument whose memory it has, or -1
    cdef readonly tuple identical  # per result: whether it is that argument, written
    cdef readonly tuple checked   # (position, type) of arguments that binding takes as they are
    cdef readonly bint listed     # the only result is a list
    cdef readonly bint functional  # nothing is written, no result has an argument's memory
    cdef readonly object result_type  # the named tuple of several results, or None
    cdef public tuple formulas    # derivatives from outside, the last one counts


cdef class Layer:
    # One kernel from outside. Immutable.
    cdef readonly object function  # a callable, a CKernel; None: a fallthrough
    cdef readonly str where       # file and line of the function
    cdef readonly str key         # as it was registered: "CPU", "CompositeImplicitAutograd"
    cdef readonly bint with_keyset  # the function's first argument is the DispatchKeySet
    cdef readonly bint fallback   # the function's first argument is the operator
    cdef readonly bint implicit   # its own operators are recorded
    cdef readonly bint exclusive  # its results share no memory with arguments or each other


cdef bint has_fallbacks() noexcept
cdef int refresh(Operator op) except -1    # set the tables from what is registered now
cdef Signature signature_of(Operator op)
