# Kernels over ndarrays, and where results go: new tensors, views, in-place, out=.
# See adapter.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport CKernel, Operator, kernel_t
from imode._core.keyset cimport keyset_t
from imode._core.tensor cimport Tensor
from numpy cimport ndarray, npy_intp

# Call a function over ndarrays with an operator's arguments and deliver what it returns.
cdef object run_numpy(Operator op, object function, PyObject** args)
# The CKernel of `fn`, which hands what is not plain to a function over ndarrays of imode/ops; the
# function is its config, or in the one given.
cdef CKernel compiled_kernel(kernel_t fn, object function, object config=*)
# Write a result (an ndarray, or a tuple of them) into the tensor or tensors of an in-place or
# out= call.
cdef object deliver_into(Operator op, object result, object target)
# Refuse a tensor that cannot take a result of this dtype: casts, overlap with itself, read-only.
# `halves`: the result is complex64 where PyTorch has complex32
cdef int check_target(Operator op, Tensor target, int code, bint halves=*,
                      int place=*) except -1
# Give an out= tensor the result's shape (a warning if it had elements); in-place: they must agree.
cdef int fit_target(Operator op, Tensor target, int nd, npy_intp* dims, bint resize) except -1
# Whether one of this dtype is then in row order, not in that of the result
cdef bint rows_wanted(Operator op, object computed, object found) except -1
cdef int copy_into(Tensor target, ndarray result) except -1
cdef str type_str(int code)                    # "Float", as messages name dtypes
cdef str c_type_str(int code)                  # "float", as a few of them do
