# SavedTensor: a tensor that backward will need. See saved.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from imode.autograd.node cimport stamp_t
from libc.stdint cimport uint64_t


cdef class Packed:
    # A saved tensor that was packed by a pair of hooks. Immutable.
    cdef object value             # what the pack hook returned
    cdef object unpack            # the unpack hook
    cdef object node              # where an input's gradient goes: its grad_fn, or a leaf's
    #                               AccumulateGrad; None: nowhere, or it is a result
    cdef int input_nr             # which result of that node the input was


cdef class Defaults:
    # The hooks for tensors saved in one thread, which alone uses it; TLS.saving points to it.
    cdef list pairs               # (pack, unpack), innermost last; the last is used
    cdef str refusal              # the message with which saved_tensors_hooks raises; None: allowed
    cdef object before_write      # called with a tensor that is about to be written to; or None


cdef class SavedTensor:
    # Owned by the node that saved it, if that does not hold the tensor itself: see
    # Note [Stamped tensors]. Thread rule: used with the GIL held.
    cdef object content           # the input itself, or an alias of the node's own result; with
    #                               hooks a Packed; None once freed, or where None was saved
    cdef PyObject* counter        # owned: the version counter, which counts its savers
    cdef uint64_t version         # when it was saved
    cdef int saved_at             # the line that saved it; provenance.location; 0: not noted
    cdef int output_nr            # which result of its node; -1: an input
    cdef object view_node         # of a result written into a view: weak reference to its grad_fn
    cdef unsigned char requires_grad      # of a saved result
    cdef unsigned char recorded           # a saved input had a grad_fn
    cdef unsigned char freed              # the node has released it


cdef enum:                    # in a stamp_t: Note [Stamped tensors]
    STAMPED = 1               # a stamp is never 0
    RESULT = 2                # an alias of the node's own result; unset: an input, or a result
    #                           that does not require grad
    LINKED = 4                # an input that had a grad_fn
    OUTPUT_NR = 3             # from this bit on: which result
    MAX_OUTPUT_NR = 31
    VERSION = 8               # from this bit on: the version when it was saved
    MAX_VERSION = (1 << 24) - 1


# The stamp for a tensor that a node holds from now on; 0: it needs a SavedTensor
cdef stamp_t stamp(Tensor tensor, int output_nr) except? 0
cdef void drop_stamped(Tensor tensor) noexcept     # the node no longer holds it
cdef Tensor unpack_stamped(Tensor tensor, stamp_t stamp, object node)
cdef SavedTensor of_stamped(Tensor tensor, stamp_t stamp)      # the SavedTensor it stands for
cdef SavedTensor save_input(Tensor tensor, str saver)       # saver: the operator, for messages
cdef SavedTensor save_result(Tensor tensor, int output_nr)
cdef SavedTensor saved_value(object value)         # of None, or of a new tensor
cdef int before_write(Tensor target) except -1     # requires TLS.saving
cdef Tensor unpack(SavedTensor self, object node)
cdef void forget(object saved) noexcept            # its node releases it, though others may hold it
