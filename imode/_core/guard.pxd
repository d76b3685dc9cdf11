# Guard: a block of code in which a thread's dispatch state differs. See guard.pyx.
from cpython.object cimport PyObject
from imode._core.dispatch cimport TLS
from libc.stdint cimport uint64_t

cdef enum Kind:               # which guard it is; decides what `apply` sets and `restore` puts back
    NONE = 0
    INFERENCE                 # inference_mode(True)
    INFERENCE_OFF             # inference_mode(False)
    NORMAL                    # normal_mode
    NO_GRAD                   # no_grad, set_grad_enabled(False)
    GRAD                      # enable_grad, set_grad_enabled(True)
    BELOW_AUTOGRAD            # AutoDispatchBelowAutograd
    BELOW_AD                  # AutoDispatchBelowADInplaceOrView


cdef struct State:            # what of the thread-local state guards change
    uint64_t included
    uint64_t excluded
    int no_grad
    int guard_id


cdef class Guard:
    # One block (or, for a decorated generator or coroutine, one run of its body). Entered and left
    # in the same thread, whose stack holds a reference while it is on.
    #
    # Invariants: `state` is NULL exactly when the guard is off or suspended; the guards that are on
    # in a thread form a chain from TLS.guard_top down through `below`, the `before` of each being
    # the state that the one below it made.
    cdef TLS* state           # the thread that it is on in; NULL: off
    cdef State before         # that thread's state at entry, put back on leaving
    cdef PyObject* below      # the guard that was innermost at entry; borrowed, for it is still on
    cdef PyObject* original   # owned: the guard that was entered again while it was on; or NULL
    cdef PyObject* top        # suspended: the innermost of the guards that its body is inside of
    cdef int entered_at       # place of its last entry, or of the decorated function: origins.place
    cdef int grad_by_call     # suspended: 1 + no_grad, if the body set it by a call; else 0
    cdef unsigned char kind   # Kind
    cdef bint used            # entered, or used as a decorator
    cdef bint decorates       # stands for a decorated function: entered_at does not change
    cdef bint at_once         # set_grad_enabled: acted when it was made
    cdef int no_grad_before   # at_once: the grad mode before it was made
    cdef int guard_id_before  # at_once: the place that TLS.guard_id was


cdef Guard new_guard(object cls, int kind)
cdef int set_grad(Guard guard) except -1          # act at once, as set_grad_enabled does
