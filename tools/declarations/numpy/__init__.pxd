"""What imode uses of NumPy's C API: NumPy's own declarations cost each module a third of a second.

The build finds this file before NumPy's, whose names, types and failures it has. A name that is
missing here is an error of the build: add its line.
"""

from cpython.object cimport PyObject

cdef extern from "numpy/arrayobject.h":
    # Only how C's operators mix them counts: their sizes are the compiler's to know.
    ctypedef signed long npy_intp
    ctypedef signed char int8_t "npy_int8"
    ctypedef signed short int16_t "npy_int16"
    ctypedef signed int int32_t "npy_int32"
    ctypedef signed long long int64_t "npy_int64"
    ctypedef unsigned char uint8_t "npy_uint8"
    ctypedef unsigned short uint16_t "npy_uint16"
    ctypedef unsigned int uint32_t "npy_uint32"
    ctypedef unsigned long long uint64_t "npy_uint64"

    cdef enum:
        NPY_BOOL, NPY_INT8, NPY_INT16, NPY_INT32, NPY_INT64, NPY_LONG, NPY_OBJECT
        NPY_UINT8, NPY_UINT16, NPY_UINT32, NPY_UINT64
        NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE
        NPY_FLOAT16, NPY_FLOAT32, NPY_FLOAT64, NPY_COMPLEX64, NPY_COMPLEX128
        NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, NPY_ARRAY_C_CONTIGUOUS
        NPY_ARRAY_IN_ARRAY, NPY_ARRAY_CARRAY_RO

    ctypedef enum NPY_ORDER:
        NPY_CORDER

    ctypedef enum NPY_SORTKIND:
        NPY_QUICKSORT

    ctypedef struct PyArray_Descr:
        pass

    ctypedef struct PyArray_Dims:
        npy_intp *ptr
        int len

    ctypedef class numpy.dtype [object PyArray_Descr, check_size ignore]:
        cdef char kind
        cdef char byteorder
        cdef int type_num

        @property
        cdef inline npy_intp itemsize(self) noexcept nogil:
            return PyDataType_ELSIZE(self)

    ctypedef class numpy.flatiter [object PyArrayIterObject, check_size ignore]:
        pass

    ctypedef class numpy.ndarray [object PyArrayObject, check_size ignore]:
        @property
        cdef inline int ndim(self) noexcept nogil:
            return PyArray_NDIM(self)

        @property
        cdef inline npy_intp *shape(self) noexcept nogil:
            return PyArray_DIMS(self)

        @property
        cdef inline npy_intp *strides(self) noexcept nogil:
            return PyArray_STRIDES(self)

        @property
        cdef inline npy_intp size(self) noexcept nogil:
            return PyArray_SIZE(self)

    int import_array "_import_array"() except -1

    int PyArray_NDIM(ndarray) nogil
    npy_intp *PyArray_DIMS(ndarray) nogil
    npy_intp *PyArray_STRIDES(ndarray) nogil
    npy_intp PyArray_DIM(ndarray, size_t) nogil
    npy_intp PyArray_STRIDE(ndarray, size_t) nogil
    npy_intp PyArray_SIZE(ndarray) nogil
    npy_intp PyArray_NBYTES(ndarray) nogil
    npy_intp PyArray_ITEMSIZE(ndarray) nogil
    int PyArray_TYPE(ndarray) nogil
    void *PyArray_DATA(ndarray) nogil
    char *PyArray_BYTES(ndarray) nogil
    PyObject *PyArray_BASE(ndarray) nogil            # borrowed
    PyArray_Descr *PyArray_DESCR(ndarray) nogil      # borrowed
    npy_intp PyDataType_ELSIZE(dtype) nogil
    void PyArray_CLEARFLAGS(ndarray, int flags) nogil
    void PyArray_ENABLEFLAGS(ndarray, int flags) nogil

    bint PyArray_CHKFLAGS(ndarray, int flags) nogil
    bint PyArray_IS_C_CONTIGUOUS(ndarray) nogil
    bint PyArray_IS_F_CONTIGUOUS(ndarray) nogil
    bint PyArray_ISWRITEABLE(ndarray) nogil
    bint PyArray_ISBEHAVED_RO(ndarray) nogil
    bint PyArray_ISNOTSWAPPED(ndarray) nogil
    bint PyArray_ISINTEGER(ndarray) nogil
    bint PyArray_ISFLOAT(ndarray) nogil
    bint PyArray_ISCOMPLEX(ndarray) nogil
    bint PyArray_SAMESHAPE(ndarray, ndarray) nogil
    bint PyTypeNum_ISINTEGER(int) nogil
    bint PyTypeNum_ISFLOAT(int) nogil
    bint PyTypeNum_ISCOMPLEX(int) nogil
    int PyArray_CompareLists(npy_intp *, npy_intp *, int)

    dtype PyArray_DescrFromType(int)
    object PyArray_New(type, int, npy_intp *, int, npy_intp *, void *, int, int, object)
    object PyArray_ZEROS(int nd, npy_intp *dims, int type, int fortran)
    object PyArray_EMPTY(int nd, npy_intp *dims, int type, int fortran)
    object PyArray_FROM_OF(object, int flags)
    object PyArray_FROM_OTF(object, int type, int flags)
    object PyArray_NewCopy(ndarray, NPY_ORDER)
    object PyArray_Cast(ndarray, int type)
    object PyArray_SwapAxes(ndarray, int, int)
    object PyArray_Transpose(ndarray, PyArray_Dims *)
    ndarray PyArray_GETCONTIGUOUS(ndarray)
    void PyArray_FILLWBYTE(ndarray, int)
    int PyArray_FillWithScalar(ndarray, object) except -1
    int PyArray_CopyInto(ndarray, ndarray) except -1
    bint PyArray_CanCastSafely(int, int)
    int PyArray_Sort(ndarray, int, NPY_SORTKIND) except -1
    int PyArray_SetBaseObject(ndarray, PyObject *stolen) except -1

    object PyArray_IterNew(object)
    bint PyArray_ITER_NOTDONE(flatiter) nogil
    void PyArray_ITER_NEXT(flatiter) nogil
    void *PyArray_ITER_DATA(flatiter) nogil

cdef extern from "numpy/ufuncobject.h":
    ctypedef void (*PyUFuncGenericFunction)(char **, npy_intp *, npy_intp *, void *)

    ctypedef class numpy.ufunc [object PyUFuncObject, check_size ignore]:
        cdef int nin, nout, nargs
        cdef PyUFuncGenericFunction *functions
        cdef void **data
        cdef int ntypes
        cdef char *types

    cdef enum:
        PyUFunc_None

    int import_ufunc "_import_umath"() except -1

    object PyUFunc_FromFuncAndData(PyUFuncGenericFunction *, void **, char *, int, int, int, int,
                                   char *, char *, int)
    object PyUFunc_FromFuncAndDataAndSignature(PyUFuncGenericFunction *, void **, char *, int, int,
                                               int, int, char *, char *, int, char *)
