"""The only element of a tensor as a Python number, and Python numbers as elements."""
from numpy import array as _np_array
from numpy import errstate as _errstate

cimport numpy as cnp
from imode._core.dtype cimport (
    BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, code_of, dtype_from_code,
    is_integral, typenum_of)
from imode._core.elsewhere cimport on_cpu
from imode._core.keyset cimport BIT_CPU
from imode._core.tensor cimport Tensor, fields, storage, typenum
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp
from imode import errors

cdef extern from "Python.h":
    unsigned long long PyLong_AsUnsignedLongLongMask(object) except? <unsigned long long>-1

cnp.import_array()

cdef extern from *:
    """
    #include "small_floats.h"
    #define IMODE_HALF(bits) PyFloat_FromDouble(v_from_half(bits))
    #define IMODE_BRAIN(bits) PyFloat_FromDouble(v_from_brain(bits))
    #define IMODE_E4M3FN(bits) PyFloat_FromDouble(v_from_e4m3fn(bits))
    #define IMODE_E5M2(bits) PyFloat_FromDouble(v_from_e5m2(bits))
    #define IMODE_READ(number, type, make) \\
        case number: { type x[2]; memcpy(x, data, sizeof *x); return make(*x); }
    #define IMODE_PAIR(number, type) \\
        case number: { type x[2]; memcpy(x, data, sizeof x); \\
                       return PyComplex_FromDoubles(x[0], x[1]); }
    /* By Code. */
    static PyObject* imode_number_at(const char* data, int code) {
        switch (code) {
            IMODE_READ(0, uint8_t, PyBool_FromLong)
            IMODE_READ(1, uint8_t, PyLong_FromLong)
            IMODE_READ(2, int8_t, PyLong_FromLong)
            IMODE_READ(3, int16_t, PyLong_FromLong)
            IMODE_READ(4, int32_t, PyLong_FromLong)
            IMODE_READ(5, int64_t, PyLong_FromLongLong)
            IMODE_READ(6, uint16_t, PyLong_FromLong)
            IMODE_READ(7, uint32_t, PyLong_FromLongLong)
            IMODE_READ(8, uint64_t, PyLong_FromUnsignedLongLong)
            IMODE_READ(9, uint8_t, IMODE_E4M3FN)
            IMODE_READ(10, uint8_t, IMODE_E5M2)
            IMODE_READ(11, uint16_t, IMODE_BRAIN)
            IMODE_READ(12, uint16_t, IMODE_HALF)
            IMODE_READ(13, float, PyFloat_FromDouble)
            IMODE_READ(14, double, PyFloat_FromDouble)
            IMODE_PAIR(15, float)
            IMODE_PAIR(16, double)
        }
        PyErr_SetString(PyExc_SystemError, "not a Code");
        return NULL;
    }
    #undef IMODE_BRAIN
    #undef IMODE_E4M3FN
    #undef IMODE_E5M2
    #undef IMODE_HALF
    #undef IMODE_READ
    #undef IMODE_PAIR
    """
    object imode_number_at(const char* data, int code)
    uint16_t v_to_half(float x) nogil
    uint16_t v_to_brain(float x) nogil


cdef object _only(Tensor self):
    if not self.keys & BIT_CPU:
        self = on_cpu(self, True)
    return imode_number_at(fields(self.array).data, code_of[typenum(self)])


cdef object only_number(Tensor self):
    cdef npy_intp n = cnp.PyArray_SIZE(storage(self))
    if n != 1:
        raise RuntimeError(f"a Tensor with {n} elements cannot be converted to Scalar")
    return _only(self)


cdef object only_element(Tensor self):
    if cnp.PyArray_SIZE(storage(self)) != 1:
        raise errors.numbers.several_elements()
    return _only(self)


cdef object only_real(Tensor self, str wanted):
    value = only_element(self)
    if type(value) is not complex:
        return value
    if value.imag != 0:
        raise errors.numbers.does_not_fit(
            wanted, f"\n{value} has an imaginary part; take .real first.")
    return value.real


cdef bint only_flag(Tensor self) except -1:
    cdef npy_intp n = cnp.PyArray_SIZE(storage(self))
    if n != 1:
        raise RuntimeError(f"Boolean value of Tensor with "
                           f"{'no values' if n == 0 else 'more than one value'} is ambiguous")
    return bool(_only(self))


# ---- numbers as elements ----

cdef bint store_narrow(int kind, double number, char* where) noexcept:
    cdef bint unbounded = number - number != 0    # infinite, or NaN
    if kind == typenum_of[<int>FLOAT16] and (unbounded or -65504 <= number <= 65504):
        (<uint16_t*>where)[0] = v_to_half(<float>number)
        return True
    if kind == typenum_of[<int>BFLOAT16] and (unbounded or -1e38 < number < 1e38):
        (<uint16_t*>where)[0] = v_to_brain(<float>number)
        return True
    return False


cdef int store_number(object number, int code, char* where) except -1:
    cdef unsigned long long whole
    if code == FLOAT32:
        (<float*>where)[0] = <float>float(number)
    elif code == FLOAT64:
        (<double*>where)[0] = float(number)
    elif is_integral(code) and code != BOOL and code <= INT64:
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
