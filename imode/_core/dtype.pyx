"""The dtypes, under PyTorch's and NumPy's names, and the default dtype."""
import numpy as np
cimport cython
cimport numpy as cnp

from imode import errors
from imode._core import library_name

cnp.import_array()


@cython.binding(False)
@cython.final
cdef class dtype:
    """The type of a tensor's elements: `imode.float32` or one of the others.

    >>> import imode
    >>> imode.float32.itemsize, imode.int64.is_floating_point
    (4, False)
    """

    def __init__(self):
        raise TypeError("dtype is not instantiable; use imode.float32, imode.int64, ...")

    @property
    def is_floating_point(self):
        """Whether it is a real floating point dtype: float32, bfloat16, float16, ..."""
        return bool(is_float(self.code))

    @property
    def is_complex(self):
        """Whether it is complex64 or complex128."""
        return bool(is_complex(self.code))

    @property
    def is_signed(self):
        """Whether it holds negative numbers."""
        return self.code not in (BOOL, UINT8, UINT16, UINT32, UINT64)

    @property
    def itemsize(self):
        """Bytes per element."""
        return self.numpy.itemsize

    def to_real(self):
        """The real dtype of the same precision."""
        if self.code == COMPLEX64:
            return dtype_from_code(FLOAT32)
        if self.code == COMPLEX128:
            return dtype_from_code(FLOAT64)
        return self

    def to_complex(self):
        """The complex dtype of the same precision."""
        return dtype_from_code(to_complex(self.code))

    def __repr__(self):
        return f"{library_name.name}.{self.name}"

    def __reduce__(self):
        return _dtype_by_name, (self.name,)


cdef dtype _new_dtype(int code, tuple names):
    cdef dtype self = dtype.__new__(dtype)
    self.name = names[0]
    self.numpy = _registered.get(code) or np.dtype(self.name)
    self.code = code
    self.names = names[1:]
    self.typenum = self.numpy.num
    code_of[self.typenum] = code
    typenum_of[code] = self.typenum
    return self


cdef extern int imode_register_small_floats(int* typenums) except -1

cdef int _i
cdef int[3] _typenums
for _i in range(N_TYPENUMS):
    code_of[_i] = NO_DTYPE
imode_register_small_floats(_typenums)
if max(_typenums) >= N_TYPENUMS:
    raise ImportError("imode: too many dtypes are registered with NumPy already; import it earlier")
# The np.dtypes of what NumPy itself lacks.
cdef dict _registered = {
    BFLOAT16: cnp.PyArray_DescrFromType(_typenums[0]),
    FLOAT8_E4M3FN: cnp.PyArray_DescrFromType(_typenums[1]),
    FLOAT8_E5M2: cnp.PyArray_DescrFromType(_typenums[2]),
}

# All names of a dtype: NumPy's and PyTorch's, which are the same; and those in messages: the word
# for it, its C++ type as compilers print it, and as headers write it.
cdef dict _NAMES = {
    BOOL: ("bool", "Bool", "bool", "bool"),
    UINT16: ("uint16", "UInt16", "unsigned short", "uint16_t"),
    UINT32: ("uint32", "UInt32", "unsigned int", "uint32_t"),
    UINT64: ("uint64", "UInt64", "unsigned long", "uint64_t"),
    FLOAT8_E4M3FN: ("float8_e4m3fn", "Float8_e4m3fn", "c10::Float8_e4m3fn", "c10::Float8_e4m3fn"),
    FLOAT8_E5M2: ("float8_e5m2", "Float8_e5m2", "c10::Float8_e5m2", "c10::Float8_e5m2"),
    BFLOAT16: ("bfloat16", "BFloat16", "c10::BFloat16", "c10::BFloat16"),
    UINT8: ("uint8", "Byte", "unsigned char", "uint8_t"),
    INT8: ("int8", "Char", "signed char", "int8_t"),
    INT16: ("int16", "Short", "short int", "int16_t"),
    INT32: ("int32", "Int", "int", "int"),
    INT64: ("int64", "Long", "long int", "int64_t"),
    FLOAT16: ("float16", "Half", "c10::Half", "c10::Half"),
    FLOAT32: ("float32", "Float", "float", "float"),
    FLOAT64: ("float64", "Double", "double", "double"),
    COMPLEX64: ("complex64", "ComplexFloat", "c10::complex<float>", "c10::complex<float>"),
    COMPLEX128: ("complex128", "ComplexDouble", "c10::complex<double>", "c10::complex<double>"),
}
cdef list _DTYPES = [_new_dtype(_i, _NAMES[_i]) for _i in range(N_DTYPES)]
# C's long and long long each are int64 or int32, depending on the platform.
for _alias in ("long", "longlong", "intc", "ulong", "uintc"):    # PyTorch takes no ulonglong
    _alias_type = np.dtype(_alias)
    if _alias_type.kind == "i":
        code_of[_alias_type.num] = INT64 if _alias_type.itemsize == 8 else INT32
    else:
        code_of[_alias_type.num] = UINT64 if _alias_type.itemsize == 8 else UINT32

cdef dict _BY_PYTHON_TYPE = {bool: BOOL, int: INT64, float: FLOAT64, complex: COMPLEX128}


bfloat16 = _registered[BFLOAT16]      # for what needs the np.dtype by name
float8_e4m3fn, float8_e5m2 = _registered[FLOAT8_E4M3FN], _registered[FLOAT8_E5M2]
cdef dict _BY_NAME = {d.name: d for d in _DTYPES}


def _dtype_by_name(name):
    return _BY_NAME[name]


def names_of(d):
    """A dtype's names in messages, imode's or NumPy's: (word, C++ type, C++ type in headers)."""
    if isinstance(d, np.dtype):
        if d.num >= N_TYPENUMS or code_of[d.num] == NO_DTYPE:
            return (str(d),) * 3
        d = _DTYPES[code_of[d.num]]
    return (<dtype?>d).names


def all_dtypes():
    """All dtypes, in promotion order."""
    return tuple(_DTYPES)


cdef dtype dtype_from_code(int code):
    return <dtype>_DTYPES[code]


cdef dtype dtype_from_typenum(int typenum):
    if not 0 <= typenum < N_TYPENUMS or code_of[typenum] == NO_DTYPE:
        raise errors.dtypes.unsupported_array(cnp.PyArray_DescrFromType(typenum))
    return <dtype>_DTYPES[code_of[typenum]]


cdef int code_from_object(object value) except -2:
    cdef object descr
    if value is None:
        return NO_DTYPE
    if type(value) is dtype:
        return (<dtype>value).code
    if type(value) is type and value in _BY_PYTHON_TYPE:    # an np.dtype would compare equal too
        return _BY_PYTHON_TYPE[value]
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        descr = np.dtype(value)
        if descr.num < N_TYPENUMS and code_of[descr.num] != NO_DTYPE and descr.isnative:
            return code_of[descr.num]
    raise TypeError(f"expected an imode.dtype, got {value!r}")


def from_numpy_dtype(descr):
    """The dtype of an np.dtype in either byte order; TypeError if there is none."""
    descr = np.dtype(descr)
    if descr.num >= N_TYPENUMS or code_of[descr.num] == NO_DTYPE:
        raise errors.dtypes.unsupported_array(descr)
    return _DTYPES[code_of[descr.num]]


def as_numpy(value, default=None):
    """The np.dtype of a dtype (or of a Python or NumPy type); `default` for None."""
    cdef int code = code_from_object(value)
    if code == NO_DTYPE:
        return default
    return (<dtype>_DTYPES[code]).numpy


cdef int to_complex(int code) noexcept nogil:
    return COMPLEX128 if code == FLOAT64 or code == COMPLEX128 else COMPLEX64


# ---- default dtype ----

cdef int _default = FLOAT32


cdef int default_code() noexcept nogil:
    return _default


cdef void set_default_code(int code) noexcept:
    global _default
    _default = code


def get_default_dtype():
    """The dtype of a tensor made from Python floats.

    >>> import imode
    >>> imode.get_default_dtype()
    imode.float32
    """
    return _DTYPES[_default]


def set_default_dtype(d, /):
    """Set the dtype of tensors made from Python floats: float32, float64, float16 or bfloat16.

    Raises TypeError for any other dtype.

    >>> import imode
    >>> imode.set_default_dtype(imode.float32)
    """
    global _default
    if type(d) is not dtype:
        raise TypeError("invalid dtype object: only floating-point types are supported as the "
                        f"default type\nset_default_dtype got {d!r}")
    cdef int code = (<dtype>d).code
    if not is_float(code) or code < BFLOAT16:
        raise TypeError(
            "only floating-point types are supported as the default type\n"
            f"set_default_dtype got {d!r}, pass imode.float32, float64, float16 or bfloat16")
    _default = code


# ---- the class's name is the public one ----

cdef extern from "rename.h":
    void _rename "imode_rename"(object cls, const char* name)


_rename(dtype, "imode.dtype")
