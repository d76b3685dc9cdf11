# Guard: a block of code in which a thread's dispatch state differs. See guard.pyx.
from cpython.object cimport PyObject
from imode._core.dispatch cimport TLS
from libc.stdint cimport uint64_t

cdef enum Kind:               # which guard it is: what `_apply` sets and `_restore` restores
    NONE = 0
    INFERENCE                 # inference_mode(True)
    INFERENCE_OFF             # inference_mode(False)
    NORMAL                    # normal_mode
    NO_GRAD                   # no_grad, set_grad_enabled(False)
    GRAD                      # enable_grad, set_grad_enabled(True)
    BELOW_AUTOGRAD            # AutoDispatchBelowAutograd
    BELOW_AD                  # AutoDispatchBelowADInplaceOrView


cdef struct State:            # the part of the thread-local state that guards change
    uint64_t included
    uint64_t excluded
    int no_grad
    int guard_id


cdef class Guard:
    # One block (or, for a decorated generator or coroutine, one run of its body). Entered and left
    # in the same thread, whose chain of guards holds a reference while the guard is on.
    #
    # Invariants: `state` is NULL exactly when the guard is off or suspended; the guards that are on
    # in a thread form a chain from TLS.guard_top through `below`, and `before` of each is the state
    # that the guard below it left.
    cdef TLS* state           # of the thread in which it is on; NULL: off
    cdef State before         # that thread's state at entry, restored on leaving
    cdef PyObject* below      # the guard that was innermost at entry, and still is on; borrowed
    cdef PyObject* original   # owned: the guard for whose second entry this one stands; or NULL
    cdef PyObject* top        # suspended: the innermost guard inside which the body is
    cdef int entered_at       # line of the last entry, or of the decorated function; provenance.py
    cdef int grad_by_call     # suspended: 1 + no_grad if the body set it by a call; else 0
    cdef unsigned char kind   # Kind
    cdef bint used            # has been entered, or used as a decorator
    cdef bint decorates       # stands for a decorated function: entered_at does not change
    cdef bint at_once         # set_grad_enabled: took effect when it was created
    cdef int no_grad_before   # at_once: the grad mode before that
    cdef int guard_id_before  # at_once: TLS.guard_id before that


cdef Guard new_guard(object cls, int kind)
cdef int set_grad(Guard guard) except -1          # take effect at once, as set_grad_enabled does
