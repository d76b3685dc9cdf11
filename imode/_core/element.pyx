"""The only element of a tensor as a Python number: item(), bool(), float() and their kin."""
cimport numpy as cnp
from imode._core.dtype cimport code_of, number_at
from imode._core.tensor cimport Tensor, fields, storage, typenum
from numpy cimport npy_intp

cnp.import_array()


cdef object _only(Tensor self):
    return number_at(fields(self.array).data, code_of[typenum(self)])


cdef object only_number(Tensor self):
    cdef npy_intp n = cnp.PyArray_SIZE(storage(self))
    if n != 1:
        raise RuntimeError(f"a Tensor with {n} elements cannot be converted to Scalar")
    return _only(self)


cdef object only_element(Tensor self):
    if cnp.PyArray_SIZE(storage(self)) != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return _only(self)


cdef object only_real(Tensor self, str wanted):
    value = only_element(self)
    if type(value) is not complex:
        return value
    if value.imag != 0:
        raise RuntimeError(f"value cannot be converted to type {wanted} without overflow\n"
                           f"{value} has an imaginary part; take .real first.")
    return value.real


cdef bint only_flag(Tensor self) except -1:
    cdef npy_intp n = cnp.PyArray_SIZE(storage(self))
    if n != 1:
        raise RuntimeError(f"Boolean value of Tensor with "
                           f"{'no values' if n == 0 else 'more than one value'} is ambiguous")
    return bool(_only(self))
