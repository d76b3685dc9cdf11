# Between Python numbers and elements; see element.pyx.
from cpython.object cimport PyObject
from imode._core.dtype cimport FLOAT32, FLOAT64, INT64
from imode._core.tensor cimport Tensor
from libc.math cimport isinf
from libc.stdint cimport int64_t

cdef extern from "Python.h":
    double PyFloat_AsDouble(PyObject*) except? -1
    double PyFloat_AS_DOUBLE(PyObject*) noexcept
    int PyFloat_CheckExact(PyObject*) noexcept
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*) except? -1
    int PyLong_CheckExact(PyObject*) noexcept

# The only element of a tensor, as a number. Each raises if there is none, or more than one.
cdef object only_number(Tensor self)              # item(): RuntimeError
cdef object only_element(Tensor self)             # for Python's conversions: ValueError
cdef object only_real(Tensor self, str wanted)    # the same; raises for complex numbers
cdef bint only_flag(Tensor self) except -1        # bool(): RuntimeError
# Store a number as an element of a dtype, by its Code; integers wrap round.
cdef int store_number(object number, int code, char* where) except -1
# The same of 16 bits, by NumPy's type number; False: it is beyond them, or that is not the dtype.
cdef bint store_narrow(int kind, double number, char* where) noexcept


cdef inline bint store_small(PyObject* number, int code, char* where) except -1:
    """Store a Python float or int that cannot change the common dtype; False if it might."""
    cdef double value
    cdef int beyond = 0
    if PyFloat_CheckExact(number):
        value = PyFloat_AS_DOUBLE(number)
    elif PyLong_CheckExact(number):
        if code == INT64:
            (<int64_t*>where)[0] = PyLong_AsLongLongAndOverflow(number, &beyond)
            return not beyond
        value = PyFloat_AsDouble(number)
    else:
        return False
    if code == FLOAT32:
        (<float*>where)[0] = <float>value
        return not isinf((<float*>where)[0]) or isinf(value)
    if code == FLOAT64:
        (<double*>where)[0] = value
        return True
    return False
