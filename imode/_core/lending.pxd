# Memory that tensors share with other objects. See lending.pyx for the rule and its reasons.
# Thread rule: with the GIL held.
from imode._core.addresses cimport Link
from imode._core.tensor cimport Tensor
from numpy cimport ndarray


cdef class Lent:
    # A tensor's memory handed out: the base of every array over it, and alive as long as any.
    cdef Link link
    cdef ndarray root             # owns the memory; the tensors' arrays are its views, or itself
    cdef bint inference           # the kind of those tensors
    cdef int guard_id, maker      # of an inference tensor; see Note [Who made a tensor]


cdef class Borrowed:
    # Memory of another object, used by tensors: the base of their arrays, and alive as long as any.
    cdef Link link                # in no table if `first` is set
    cdef object owner             # a Lent, or the object that owns the memory
    cdef object keeper            # keeps the memory alive: an array, or a buffer
    cdef Borrowed first           # the one in the table; None: this one
    cdef bint inference
    cdef int guard_id, maker


cpdef ndarray lend(Tensor tensor)                  # a new array over the tensor's memory
# A tensor over an array's memory; source: the memory's origin, if the array's base does not tell.
cpdef Tensor borrow(ndarray array, object source=*)
