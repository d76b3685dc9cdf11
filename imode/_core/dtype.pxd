# dtype; see dtype.pyx. Immutable, except the default dtype, which is changed with the GIL held.

cdef enum Code:               # dtypes, by their names, in the order of promotion
    BOOL = 0
    UINT8 = 1
    INT8 = 2
    INT16 = 3
    INT32 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    COMPLEX64 = 9
    COMPLEX128 = 10
    NO_DTYPE = -1             # negative, so that C makes the type signed

cdef enum:
    N_DTYPES = COMPLEX128 + 1
    N_TYPENUMS = 24           # NumPy's own types have smaller type numbers


cdef class dtype:
    cdef readonly str name    # "float32"
    cdef readonly object numpy    # the np.dtype
    cdef int code             # Code
    cdef tuple names          # in messages, see _NAMES
    cdef int typenum          # NumPy's type number


cdef int[N_TYPENUMS] code_of  # NumPy type number -> Code; NO_DTYPE: not supported
cdef int[N_DTYPES] typenum_of  # Code -> NumPy type number
cdef dtype dtype_from_code(int code)
cdef dtype dtype_from_typenum(int typenum)
cdef int code_from_object(object value) except -2  # dtype, np.dtype, Python type, or None: NO_DTYPE
cdef int default_code() noexcept nogil
cdef int to_complex(int code) noexcept nogil


cdef inline bint is_float(int code) noexcept nogil:
    return FLOAT16 <= code <= FLOAT64


cdef inline bint is_complex(int code) noexcept nogil:
    return code >= COMPLEX64


cdef inline bint is_integral(int code) noexcept nogil:
    """Integers and bool."""
    return 0 <= code <= INT64
