"""The only element of a tensor as a Python number, and Python numbers as elements."""
from numpy import array as _np_array
from numpy import errstate as _errstate

cimport numpy as cnp
from imode._core.dtype cimport (
    BOOL, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, code_of, dtype_from_code, is_integral,
    number_at)
from imode._core.tensor cimport Tensor, fields, storage, typenum
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

cdef extern from "Python.h":
    unsigned long long PyLong_AsUnsignedLongLongMask(object) except? <unsigned long long>-1

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


# ---- numbers as elements ----

cdef int store_number(object number, int code, char* where) except -1:
    cdef unsigned long long whole
    if code == FLOAT32:
        (<float*>where)[0] = <float>float(number)
    elif code == FLOAT64:
        (<double*>where)[0] = float(number)
    elif is_integral(code) and code != BOOL:
        whole = PyLong_AsUnsignedLongLongMask(int(number))
        if code == INT64:
            (<int64_t*>where)[0] = <int64_t>whole
        elif code == INT32:
            (<int32_t*>where)[0] = <int32_t>whole
        elif code == INT16:
            (<int16_t*>where)[0] = <int16_t>whole
        elif code == INT8:
            (<int8_t*>where)[0] = <int8_t>whole
        else:
            where[0] = <char>whole    # UINT8
    else:
        with _errstate(over="ignore"):
            element = _np_array(number, dtype_from_code(code).numpy)
        memcpy(where, cnp.PyArray_DATA(<ndarray>element), cnp.PyArray_ITEMSIZE(<ndarray>element))
    return 0
