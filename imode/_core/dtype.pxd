# dtype, Size and device; PyTorch's type promotion.
# See dtype.pyx. Immutable, but for the default dtype, which is changed with the GIL held.
from numpy cimport npy_intp

cdef enum Code:               # dtypes in the order of the promotion table
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
    N_DTYPES = 11
    NO_DTYPE = -1

cdef enum:
    N_TYPENUMS = 24           # NumPy type numbers looked at: those of its own types


cdef class dtype:
    cdef readonly str name    # "float32"
    cdef readonly object numpy    # the np.dtype
    cdef int code             # index into the promotion table (Code)
    cdef int typenum          # NumPy's type number


ctypedef struct ResultType:   # operands seen so far, by how strongly they promote
    int dim                   # Code of the tensors with dimensions; NO_DTYPE: none yet
    int zero                  # Code of the 0-dim tensors
    int wrapped               # Code of the Python numbers
    bint unsigned             # one of them needs 64 bits without a sign


cdef int[N_TYPENUMS] code_of  # NumPy type number -> Code; NO_DTYPE: not supported
cdef int[N_DTYPES] typenum_of  # Code -> NumPy type number
cdef bint _can_cast(int source, int target) noexcept
cdef dtype dtype_from_code(int code)
cdef dtype dtype_from_typenum(int typenum)
cdef int code_from_object(object value) except -2  # dtype, np.dtype, Python type, or None: NO_DTYPE
cdef int promote(int a, int b) noexcept nogil
cdef void add_tensor(ResultType* state, int code, int nd) noexcept
cdef int add_number(ResultType* state, object number) except -1
cdef int result(ResultType* state) except -2
cdef int default_code() noexcept nogil
cdef int to_complex(int code) noexcept nogil


cdef inline bint is_float(int code) noexcept nogil:
    return FLOAT16 <= code <= FLOAT64


cdef inline bint is_complex(int code) noexcept nogil:
    return code >= COMPLEX64


cdef inline bint is_integral(int code) noexcept nogil:
    """Integers and bool."""
    return 0 <= code <= INT64


cdef inline ResultType no_operands() noexcept nogil:
    cdef ResultType state
    state.dim = state.zero = state.wrapped = NO_DTYPE
    state.unsigned = False
    return state


cdef class device:
    cdef readonly str type        # "cpu"
    cdef readonly object index    # int or None


cdef object new_size(int nd, npy_intp* dims)
cdef object number_at(char* data, int code)     # the number that lies there, as a Python one
cdef object plain_number(object value)          # a number of Python's own types; None: it is none
cdef device as_device(object value)           # None, str, int or device -> a usable device
