# Sparse tensors: coordinates and values. See sparse.pyx. Thread rule: with the GIL held.
from imode._core.tensor cimport Tensor
from numpy cimport ndarray


cdef class Coordinates:
    # The base of a sparse tensor's array. Immutable: a write gives the tensor others.
    cdef readonly ndarray indices    # int64 [sparse dimensions, nnz], within the shape
    cdef readonly ndarray values     # [nnz, *the other dimensions], of the tensor's dtype
    cdef readonly bint coalesced     # known to be sorted, each place once


cdef Coordinates coordinates_of(Tensor t)            # raises for other tensors
