# SavedTensor: a tensor that backward will need. See saved.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from libc.stdint cimport uint64_t


cdef class SavedTensor:
    # Owned by the node that saved it. Thread rule: used with the GIL held.
    cdef Tensor tensor            # the input itself, or an alias of the node's own result
    cdef PyObject* counter        # owned: the version counter, which counts its savers
    cdef uint64_t version         # when it was saved
    cdef int place                # under anomaly detection, the line that saved it: errors.place
    cdef int output_nr            # which result of its node; -1: an input
    cdef bint requires_grad       # of a saved result
    cdef bint recorded            # a saved input had a grad_fn
    cdef object view_node         # of a result written into a view: reference to its grad_fn


cdef SavedTensor save_input(Tensor tensor, str saver)       # saver: the operator, for messages
cdef SavedTensor save_result(Tensor tensor, int output_nr)
cdef Tensor unpack(SavedTensor self, object node)
