# How tensors are created, freed and recycled. See making.pyx for implementation details.
# Thread rule: with the GIL held.
from cpython.object cimport PyObject
from imode._core.keyset cimport keyset_t
from imode._core.tensor cimport Tensor
from numpy cimport ndarray, npy_intp

cdef Tensor new_tensor(ndarray array, keyset_t keys)
cdef Tensor wrap(ndarray array)                    # the result of a functional kernel
cdef Tensor wrap_view(ndarray array, Tensor base)  # same keys as base; shares its version counter
cdef Tensor view_of(Tensor base, int typenum, int nd, npy_intp* dims, npy_intp* strides, char* data)
cdef Tensor alias_of(Tensor self)                  # what detach() returns: same storage and version
cdef void replace_array(Tensor self, ndarray array)        # metadata changed in place
cdef list hold(PyObject** args, int n)             # the arrays of tensor arguments
cdef void free_array(Tensor self) noexcept         # called when the tensor dies
