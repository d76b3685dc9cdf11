# Operators that are one product of matrices; see matmul.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from imode._core.keyset cimport keyset_t

cdef object mm_kernel(Operator op, keyset_t keys, PyObject** args)
cdef object bmm_kernel(Operator op, keyset_t keys, PyObject** args)
cdef object addmm_kernel(Operator op, keyset_t keys, PyObject** args)
