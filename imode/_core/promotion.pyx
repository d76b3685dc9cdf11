"""PyTorch's type promotion: the common dtype of operands, and which dtype out= may have."""
import numpy as np
cimport numpy as cnp
from imode._core.dtype cimport (
    BFLOAT16, BOOL, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, FLOAT8_E4M3FN, FLOAT8_E5M2,
    INT8, INT16, INT64, NO_DTYPE, UINT8, UINT16, UINT64, code_from_object, code_of, default_code,
    dtype_from_code, is_complex, is_float, is_integral, to_complex)
from imode._core.numbers cimport python_number, refuse_beyond
from libc.stdint cimport INT64_MAX

from imode import errors
from imode._core.type_names import class_name

cnp.import_array()


cdef int promote(int a, int b) noexcept nogil:
    """The smallest dtype that PyTorch lets both become; NO_DTYPE is neutral.

    Below NO_DTYPE: there is none, see `refuse_promotion`.
    """
    cdef int low = a if a < b else b
    cdef int high = b if a < b else a
    if high == low:
        return high
    if low < NO_DTYPE:            # undefined already
        return low
    if UINT16 <= low <= FLOAT8_E5M2 or UINT16 <= high <= FLOAT8_E5M2:
        return _of_few(low, high, -2 - (32 * a + b))
    if low < 0 or low == BOOL:
        return high
    if low == BFLOAT16 and high == FLOAT16:
        return FLOAT32
    if low == UINT8 and high == INT8:
        return INT16
    if high == COMPLEX64 and low == FLOAT64:
        return COMPLEX128
    return high


cdef int _of_few(int low, int high, int undefined) noexcept nogil:
    """`promote` of an unsigned integer or a float of eight bits."""
    if low == NO_DTYPE:
        return high
    if low <= UINT64 and BFLOAT16 <= high <= FLOAT64:
        return high
    return undefined


cdef int _combine(int higher, int lower) noexcept nogil:
    """Combine two promotion ranks: the lower counts only if its category is the greater."""
    if is_complex(higher) or higher < NO_DTYPE:
        return higher
    if FLOAT8_E4M3FN <= higher <= FLOAT8_E5M2 and lower >= BFLOAT16:
        return higher if is_float(lower) else promote(higher, lower)
    if is_float(higher):
        return to_complex(higher) if is_complex(lower) else higher
    if UINT16 <= higher <= UINT64 and is_complex(lower):
        return lower
    if higher == BOOL or lower >= FLOAT8_E4M3FN:
        return promote(higher, lower)
    return higher if higher != NO_DTYPE else lower


cdef void add_tensor(ResultType* state, int code, int nd) noexcept:
    if nd:
        state.dim = promote(state.dim, code)
    else:
        state.zero = promote(state.zero, code)


cdef int _number_code(object number) except -2:
    """The Code of a Python or NumPy number."""
    cdef object given = number
    if isinstance(number, np.generic):
        number = python_number(number)
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, int):
        refuse_beyond(number)
        return INT64
    if isinstance(number, float):
        return default_code()
    if isinstance(number, complex):
        return to_complex(default_code())
    raise TypeError(f"expected a number, got {class_name(given)}")


cdef int add_number(ResultType* state, object number) except -1:
    cdef int code = _number_code(number)
    state.wrapped = promote(state.wrapped, code)
    if code == INT64 and number > INT64_MAX:
        state.unsigned = True
    return 0


cdef int result_code(ResultType* state, bint floating) except -2:
    cdef int code
    if state.unsigned and _combine(state.dim, state.zero) == BOOL:
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            "Bool and UInt64. A number beyond int64 stands beside bool tensors: convert them first")
    code = _combine(state.dim, _combine(state.zero, state.wrapped))
    if code < NO_DTYPE:
        refuse_promotion(code)
    return default_code() if floating and is_integral(code) else code


cdef int refuse_promotion(int undefined) except -1:
    """Raise for what `promote` gave of two dtypes that have no common one."""
    cdef int both = -2 - undefined
    raise errors.dtypes.no_promotion(
        dtype_from_code(both // 32), dtype_from_code(both % 32),
        FLOAT8_E4M3FN <= both // 32 <= FLOAT8_E5M2 or FLOAT8_E4M3FN <= both % 32 <= FLOAT8_E5M2)


def result_type(*operands, bint floating=False):
    """The np.dtype that ndarrays and Python numbers promote to by PyTorch's rules.

    Arrays with dimensions count most, then 0-dim arrays, then numbers; a weaker rank counts only
    where its category (bool, integer, floating, complex) is the greater. An np.dtype counts as an
    array with dimensions. `floating`: integers compute in the default float dtype.
    """
    cdef ResultType state = no_operands()
    for operand in operands:
        if isinstance(operand, np.ndarray):
            add_tensor(&state, code_of[cnp.PyArray_TYPE(operand)], cnp.PyArray_NDIM(operand))
        elif isinstance(operand, np.dtype):
            add_tensor(&state, code_from_object(operand), 1)
        else:
            add_number(&state, operand)
    return dtype_from_code(result_code(&state, floating)).numpy


def promote_types(type1, type2):
    """The smallest dtype to which both can be converted.

    >>> import imode
    >>> imode.promote_types(imode.int32, imode.float16)
    imode.float16
    """
    cdef int a = code_from_object(type1)
    cdef int b = code_from_object(type2)
    if a == NO_DTYPE or b == NO_DTYPE:
        raise TypeError("promote_types(): expected two dtypes, got None")
    cdef int code = promote(a, b)
    if code < NO_DTYPE:
        refuse_promotion(code)
    return dtype_from_code(code)


def can_cast(from_, to):
    """Whether PyTorch's rules let values of dtype `from_` be written into dtype `to`.

    >>> import imode
    >>> imode.can_cast(imode.float64, imode.int32)
    False
    """
    return bool(casts(code_from_object(from_), code_from_object(to)))


cdef bint casts(int source, int target) noexcept:
    if is_complex(source) and not is_complex(target):
        return False
    if is_float(source) and is_integral(target):
        return False
    return source == BOOL or target != BOOL
