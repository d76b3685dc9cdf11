# dtype; see dtype.pyx. Immutable, except the default dtype, which is changed with the GIL held.

cdef enum Code:               # dtypes, by their names, in the order of promotion
    BOOL = 0
    UINT8 = 1
    INT8 = 2
    INT16 = 3
    INT32 = 4
    INT64 = 5
    UINT16 = 6                # from here to BFLOAT16: `is_stored`
    UINT32 = 7
    UINT64 = 8
    FLOAT8_E4M3FN = 9
    FLOAT8_E5M2 = 10
    BFLOAT16 = 11
    FLOAT16 = 12
    FLOAT32 = 13
    FLOAT64 = 14
    COMPLEX64 = 15
    COMPLEX128 = 16
    NO_DTYPE = -1             # negative, so that C makes the type signed

cdef enum:
    N_DTYPES = COMPLEX128 + 1
    N_TYPENUMS = 320          # NumPy's own types, and the first ones registered with it from 256 on


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
cdef void set_default_code(int code) noexcept
cdef int to_complex(int code) noexcept nogil


cdef inline bint is_float(int code) noexcept nogil:
    return FLOAT8_E4M3FN <= code <= FLOAT64


cdef inline bint is_stored(int code) noexcept nogil:
    """Whether loops compute in another dtype: see Note [Stored dtypes] in stored.pyx."""
    return UINT16 <= code <= BFLOAT16


cdef inline bint is_complex(int code) noexcept nogil:
    return code >= COMPLEX64


cdef inline bint is_integral(int code) noexcept nogil:
    """Integers and bool."""
    return 0 <= code <= UINT64
