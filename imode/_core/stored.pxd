# Dtypes that are stored, and computed in another; see stored.pyx, Note [Stored dtypes].
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from imode._core.keyset cimport keyset_t

# Call an operator's kernel for `keys` on float32 in the place of bfloat16, and round what it gives.
cdef object run_widened(Operator op, keyset_t keys, PyObject** args)
# The general case of a kernel that serves bfloat16 in its fast one ("served").
cdef object run_otherwise(Operator op, keyset_t keys, PyObject** args)
cdef bint has_stored(Operator op, PyObject** args) noexcept    # whether a tensor is of such a dtype
cdef double in_brain(object number) except? -1                  # rounded to bfloat16
