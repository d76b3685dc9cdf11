# The operators behind Python's signs (`+`, `==`) on tensors, and those that brackets call.
# See signs.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator, call2
from imode._core.numbers cimport python_number
from imode._core.tensor cimport Tensor


cdef enum Sign:                    # operators behind signs and brackets
    ADD, SUB, RSUB, MUL, DIV, FLOOR_DIVIDE, REMAINDER, POW, MATMUL, POW_SCALAR, POW_TENSOR
    REMAINDER_TENSOR, REMAINDER_SCALAR, NEG, ABS, BITWISE_NOT, BITWISE_AND, BITWISE_OR
    RSUB_TENSOR, BITWISE_XOR, LSHIFT, RSHIFT, EQ, NE, LT, LE, GT, GE, RECIPROCAL, SELECT, SLICE
    PERMUTE, TRANSPOSE, COPY, FILL_SCALAR, INDEX, INDEX_PUT, UNSQUEEZE, ALIAS

cdef enum:
    N_SIGNS = Sign.ALIAS + 1


cdef class Syntax:
    # One per process. Thread rule: filled with the GIL held; each field is set once.
    cdef PyObject* operators[N_SIGNS]   # owned; NULL: not used yet
    # Python functions: for advanced indices, and for other methods that are not operators
    cdef public object getitem, setitem, check_value, repr, constructor, iterate, contains
    cdef public object transposed, matrix_transposed, contiguous_in


cdef Syntax syntax

cdef Operator find_sign(Sign which)
cdef object sign_of_other(Operator op, object self, object other)   # `other` is not a number
cdef object equals_array(Tensor self, object other)  # `==` beside an ndarray


cdef inline Operator sign(Sign which):
    cdef PyObject* op = syntax.operators[<int>which]
    return <Operator>op if op != NULL else find_sign(which)


cdef inline bint is_number(object value):
    return type(value) is float or type(value) is int or type(value) is bool or (
        type(value) is complex)


cdef inline object binary(Operator op, object self, object other):
    if type(other) is Tensor or is_number(other):
        return call2(op, self, other)
    number = python_number(other)
    return sign_of_other(op, self, other) if number is None else call2(op, self, number)


cdef inline object compared(Sign which, Sign mirrored, Tensor self, object other):
    """A comparison; a Parameter on the right comes first, as Python does for a subclass."""
    if type(other) is Tensor and (<Tensor>other).parameter and not self.parameter:
        return call2(sign(mirrored), other, self)
    return binary(sign(which), self, other)


cdef inline object reflected(Operator op, Operator of_tensors, object self, object other):
    """other <op> self; `other` is a number, or a tensor if the method is called by name."""
    if type(other) is Tensor:
        return call2(of_tensors, other, self)
    number = python_number(other)
    return sign_of_other(op, self, other) if number is None else call2(op, number, self)
