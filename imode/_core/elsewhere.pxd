# Tensors whose elements are not in the CPU's memory: "meta" and devices from outside.
# See elsewhere.pyx. Thread rule: with the GIL held.
from cpython.object cimport PyObject
from imode._core.device cimport device
from imode._core.dispatch cimport CKernel, Operator, kernel_t
from imode._core.keyset cimport keyset_t
from imode._core.tensor cimport Tensor
from numpy cimport ndarray


cdef class Memory:
    # The base of the arrays of tensors on a device from outside: their storage. Shared by views.
    cdef readonly device place
    cdef readonly object backend  # of the device: what computes there
    cdef public object elements   # what the backend keeps of them


cdef device place_of(Tensor t)                       # its device
cdef Tensor on_cpu(Tensor t, bint item)              # a copy on the CPU; raises if on meta
cdef ndarray values_of(Tensor t)                     # the array of its elements, a copy likewise

ctypedef object (*general_t)(Operator op, object function, PyObject** args)

cdef int set_general_case(general_t function) noexcept   # what calls a function over ndarrays

# Run the kernel behind one that looks at the arguments (`inner`), or the function beside it where
# shapes alone are wanted.
cdef object run_inner(CKernel kernel, kernel_t fn, Operator op, keyset_t keys, PyObject** args)
