# Kernels over ndarrays, and where results go: new tensors, views, those of `out.pxd`.
# See adapter.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from imode._core.keyset cimport keyset_t

# Call a function over ndarrays with an operator's arguments and deliver what it returns.
cdef object run_numpy(Operator op, object function, PyObject** args)
# The general case of an operator: that call of the function that stands beside the kernel. Itself
# a kernel, and what each fast case ends in that does not serve its arguments.
cdef object run_general(Operator op, keyset_t keys, PyObject** args)
# Results of a compiled kernel, new arrays: as tensors, or in those of an in-place or out= call.
cdef object deliver(Operator op, object result, PyObject** args)
# Results of any function, which may be views of arguments or of other dtypes, too: looked at first.
cdef object deliver_any(Operator op, object result, PyObject** args)
cdef str type_str(int code)                    # "Float", as messages name dtypes
cdef str c_type_str(int code)                  # "float", as a few of them do
