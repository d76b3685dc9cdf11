# Memory that tensors and others look at. See lending.pyx for the rule and its reasons.
# Thread rule: with the GIL held.
from imode._core.addresses cimport Link
from imode._core.tensor cimport Tensor
from numpy cimport ndarray


cdef class Lent:
    # A tensor's memory handed out: the base of every array over it. Alive as long as one of them.
    cdef Link link
    cdef ndarray root             # what the tensors' arrays are views of, or their own
    cdef bint inference           # the kind of those tensors
    cdef int guard_id, maker      # of an inference tensor, as errors.py numbers them


cdef class Borrowed:
    # Memory of others that tensors look at: the base of their arrays. Alive as long as one of them.
    cdef Link link                # in no table where it is a later one
    cdef object owner             # a Lent, or whoever's memory it is
    cdef object kept              # what keeps the memory where it is: an array, its base a buffer
    cdef Borrowed first           # the one that the table has; None: this one
    cdef bint inference
    cdef int guard_id, maker


cpdef ndarray lend(Tensor tensor)                  # a new array over the tensor's memory
# A tensor over an array's memory; source: where that came from, if the array's base cannot tell.
cpdef Tensor borrow(ndarray array, object source=*)
