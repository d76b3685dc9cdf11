# What the tensors of out= and in-place calls may be, and how results get into them. See out.pyx.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from imode._core.tensor cimport Tensor
from numpy cimport ndarray, npy_intp

cpdef enum Takes:                 # `dtype` of Out
    CAST
    SAME
    SELF
    NAMED
    FLOATING
    ASKED
    OWN

cpdef enum Order:                 # `layout` of Out
    RESULT
    ROWS
    COMPLEX_ROWS
    INTEGER_ROWS

cpdef enum Share:                 # memory that out= may share with an argument
    ANY
    WHOLE                         # all of it, in the same order
    NOTHING

cdef class Out:
    # What an operator's out= may be; `Operator.accepts`. Immutable.
    cdef readonly int takes       # Takes
    cdef readonly object dtype    # ASKED: the function; NAMED: the dtypes' names; else the word
    cdef readonly object says     # the sentence about another dtype, one for each result, or None
    cdef readonly int order       # Order
    cdef readonly int first       # Share, with the first argument
    cdef readonly int others      # Share, with the other ones
    cdef readonly bint free       # of a pointwise operator: with a part of an operand, too
    cdef readonly object shape    # function of the arguments, or None
    cdef readonly object arguments
    cdef readonly object into
    cdef readonly str name        # who refuses to be recorded, or None

# Write a result (an ndarray, or a tuple of them) into the tensor or tensors of an in-place or
# out= call.
cdef object deliver_into(Operator op, object result, object target, PyObject** args)
# Refuse a tensor that cannot take a result of this dtype, the `place`th. `halves`: the result is
# complex64 where PyTorch has complex32. `exact`: false where "same" is any that it can be cast to.
cdef int check_dtype(Operator op, Tensor target, int code, bint halves=*, int place=*,
                     bint exact=*) except -1
cdef int check_writeable(Operator op, Tensor target) except -1
# Give an out= tensor the result's shape (a warning if it had elements); in-place: they must agree.
cdef int fit_target(Operator op, Tensor target, int nd, npy_intp* dims, bint resize) except -1
# Whether one of this dtype is then in row order, not in that of a result computed in `code`.
cdef bint in_rows(Operator op, int code, int target) noexcept
cdef int copy_into(Tensor target, ndarray result) except -1
