"""The operators behind Python's signs on tensors. Brackets are in subscript_fast.pyx."""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.dispatch cimport Operator, call1, call2, operator
from imode._core.tensor cimport Tensor
from numpy cimport import_array, ndarray


import_array()


@cython.final
cdef class Syntax:
    """The operators behind signs and brackets; not visible from Python."""


cdef Syntax syntax = Syntax()


cdef dict _QUALIFIED = {
    ADD: "add", SUB: "sub", RSUB: "rsub", MUL: "mul", DIV: "div", FLOOR_DIVIDE: "floor_divide",
    REMAINDER: "remainder", POW: "pow", MATMUL: "matmul", POW_SCALAR: "pow.Scalar",
    POW_TENSOR: "pow.Tensor_Tensor", REMAINDER_TENSOR: "remainder.Tensor",
    REMAINDER_SCALAR: "remainder.Scalar_Tensor", NEG: "neg", ABS: "abs",
    BITWISE_NOT: "bitwise_not", BITWISE_AND: "bitwise_and", BITWISE_OR: "bitwise_or",
    RSUB_TENSOR: "rsub.Tensor", BITWISE_XOR: "bitwise_xor", LSHIFT: "bitwise_left_shift",
    RSHIFT: "bitwise_right_shift", EQ: "eq", NE: "ne", LT: "lt", LE: "le", GT: "gt", GE: "ge",
    RECIPROCAL: "reciprocal", SELECT: "select", SLICE: "slice", PERMUTE: "permute",
    TRANSPOSE: "transpose", COPY: "copy_", FILL_SCALAR: "fill_.Scalar", INDEX: "_index",
    INDEX_PUT: "index_put_", UNSQUEEZE: "unsqueeze", ALIAS: "alias",
}


cdef Operator find_sign(Sign which):
    cdef Operator found = operator(_QUALIFIED[<int>which])
    if syntax.operators[<int>which] == NULL:
        Py_INCREF(found)
        syntax.operators[<int>which] = <PyObject*>found
    return found


def fill_slots(**functions):
    """Set the Python functions behind Tensor's special methods, by the names in Syntax.

    They belong to modules above this one and are imported when first used.
    """
    for name, function in functions.items():
        setattr(syntax, name, function)


cdef object sign_of_other(Operator op, object self, object other):
    """A sign beside an object that is neither tensor nor number: its class may take it over."""
    if not hasattr(type(other), "__torch_function__"):
        return NotImplemented
    from imode._core.overriding import call_sign

    return call_sign(op, self, other)


cdef object equals_array(Tensor self, object other):
    """self == other for an ndarray that a tensor can hold; NotImplemented for anything else.

    Raises TypeError for unsigned integers that no dtype holds.
    """
    if not isinstance(other, ndarray):
        return NotImplemented
    try:
        other = call1(operator("from_numpy"), other)
    except TypeError:
        if other.dtype.kind == "u":
            raise
        return NotImplemented
    return call2(sign(Sign.EQ), self, other)
