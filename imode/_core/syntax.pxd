# What Python's syntax on a tensor calls: the operators behind signs and brackets.
# See syntax.pyx for implementation details.
from imode._core.dispatch cimport Operator, call2
from imode._core.tensor cimport Tensor


cdef class Syntax:
    # Filled once the table is complete; never changes after that.
    cdef Operator add, sub, rsub, mul, div, floor_divide, remainder, pow, matmul
    cdef Operator pow_scalar, remainder_scalar, pow_tensor, remainder_tensor
    cdef Operator neg, abs, bitwise_not, bitwise_and, bitwise_or, bitwise_xor
    cdef Operator lshift, rshift, eq, ne, lt, le, gt, ge, reciprocal
    cdef Operator select, slice, permute, transpose, copy_, fill_scalar
    # Python functions: indices that are not basic ones, and what else is no operator
    cdef object getitem, setitem, repr, constructor, iterate, contains
    cdef object transposed, matrix_transposed


cdef Syntax syntax

cdef object to_operand(object value)               # a number beside a sign; None: it is none
cdef object equals_array(Tensor self, object other)  # `==` beside an ndarray
cdef object get_item(Tensor self, object index)
cdef int set_item(Tensor self, object index, object value) except -1


cdef inline bint is_number(object value):
    return type(value) is float or type(value) is int or type(value) is bool or (
        type(value) is complex)


cdef inline object binary(Operator op, object self, object other):
    if type(other) is Tensor or is_number(other):
        return call2(op, self, other)
    other = to_operand(other)
    return NotImplemented if other is None else call2(op, self, other)


cdef inline object reflected(Operator op, object self, object other):
    """other <op> self, where `other` is a number."""
    other = to_operand(other)
    return NotImplemented if other is None else call2(op, other, self)
