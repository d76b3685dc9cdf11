# SavedTensor: a tensor that backward will need. See saved.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from libc.stdint cimport uint64_t


cdef class Packed:
    # What a pair of hooks made of a saved tensor. Immutable.
    cdef object value             # what the pack hook gave
    cdef object unpack            # the other hook
    cdef object node              # where an input's gradient goes: its grad_fn, or a leaf's
    #                               AccumulateGrad; None: nowhere, or it is a result
    cdef int input_nr             # which result of that node the input was


cdef class Defaults:
    # The hooks for tensors saved in one thread, which alone uses it; TLS.saving points to it.
    cdef list pairs               # (pack, unpack), innermost last; the last is used
    cdef str refusal              # what saved_tensors_hooks raises; None: allowed
    cdef object before_write      # called with a tensor that is about to be written to; or None


cdef class SavedTensor:
    # Owned by the node that saved it, where that holds not the tensor itself: see
    # Note [Stamped tensors]. Thread rule: used with the GIL held.
    cdef object held              # the input itself, or an alias of the node's own result; with
    #                               hooks a Packed; None once freed, or where None was saved
    cdef PyObject* counter        # owned: the version counter, which counts its savers
    cdef uint64_t version         # when it was saved
    cdef int place                # the user's line that saved it, where it is kept: origins.place
    cdef int output_nr            # which result of its node; -1: an input
    cdef object view_node         # of a result written into a view: reference to its grad_fn
    cdef unsigned char requires_grad      # of a saved result
    cdef unsigned char recorded           # a saved input had a grad_fn
    cdef unsigned char freed              # the node has given it up


ctypedef unsigned int stamp_t     # of a tensor that a node holds itself: Note [Stamped tensors]

cdef enum:
    STAMPED = 1               # a stamp is never 0
    RESULT = 2                # an alias of the node's own result; else an input, or a result
    #                           that does not require grad
    LINKED = 4                # an input that had a grad_fn
    OUTPUT_NR = 3             # from this bit on: which result
    MAX_OUTPUT_NR = 31
    VERSION = 8               # from this bit on: the version when it was saved
    MAX_VERSION = (1 << 24) - 1


cdef stamp_t stamp(Tensor tensor, int output_nr) except? 0     # 0: it takes a SavedTensor
cdef void add_stamped(Tensor tensor) noexcept      # a node holds it now
cdef void drop_stamped(Tensor tensor) noexcept     # no longer
cdef Tensor unpack_stamped(Tensor tensor, stamp_t stamp, object node)
cdef SavedTensor of_stamped(Tensor tensor, stamp_t stamp)      # what it would be without
cdef SavedTensor save_input(Tensor tensor, str saver)       # saver: the operator, for messages
cdef SavedTensor save_result(Tensor tensor, int output_nr)
cdef SavedTensor saved_value(object value)         # of None, or a tensor made for the occasion
cdef int before_write(Tensor target) except -1     # where TLS.saving is there
cdef Tensor unpack(SavedTensor self, object node)
cdef void forget(object saved) noexcept            # its node gives it up, who else may hold it
