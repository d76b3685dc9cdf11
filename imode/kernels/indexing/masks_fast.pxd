# Slices at which a mask over a tensor's first dimensions is true; see masks_fast.pyx.
from imode._core.allocator cimport Fields
from libc.stdint cimport uint8_t
from numpy cimport npy_intp

# Whether `mask` is a mask over the first dimensions of `a`, in row order.
cdef bint is_mask(Fields* mask, Fields* a) noexcept
# Copy the `found` chunks of bytes whose flags are set, of n that lie side by side.
cdef void compact(char* to, const char* a, const uint8_t* flags, npy_intp n, npy_intp found,
                  npy_intp chunk) noexcept nogil
# These slices of `a` as a new tensor; an element of `a` has `item` bytes.
cdef object at_mask(Fields* a, Fields* mask, npy_intp item)
# Write one element to all of these slices; `data` has the shape of `a`.
cdef void fill_at_mask(char* data, Fields* a, Fields* mask, npy_intp item,
                       const char* value) noexcept
