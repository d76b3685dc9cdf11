"""dtypes, PyTorch's type promotion, Size and device."""
import numpy as np
cimport cython
cimport numpy as cnp
from cpython.number cimport PyNumber_Index
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from libc.stdint cimport INT64_MAX

from imode._core.numbers import refuse_beyond

cnp.import_array()

cdef extern from "Python.h":
    object PyLong_FromSsize_t(Py_ssize_t)


@cython.final
cdef class dtype:
    """The type of a tensor's elements; `imode.float32` and its ten siblings are the only ones.

    >>> import imode
    >>> imode.float32.itemsize, imode.int64.is_floating_point
    (4, False)
    """

    def __init__(self):
        raise TypeError("dtype is not instantiable; use imode.float32, imode.int64, ...")

    @property
    def is_floating_point(self):
        """Whether it is float16, float32 or float64."""
        return bool(is_float(self.code))

    @property
    def is_complex(self):
        """Whether it is complex64 or complex128."""
        return bool(is_complex(self.code))

    @property
    def is_signed(self):
        """Whether it holds negative numbers."""
        return self.code != BOOL and self.code != UINT8

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
        return f"imode.{self.name}"

    def __reduce__(self):
        return _dtype_by_name, (self.name,)


cdef dtype _new_dtype(int code, str name):
    cdef dtype self = dtype.__new__(dtype)
    self.name = name
    self.numpy = np.dtype(name)
    self.code = code
    self.typenum = self.numpy.num
    code_of[self.typenum] = code
    typenum_of[code] = self.typenum
    return self


cdef int _i
for _i in range(N_TYPENUMS):
    code_of[_i] = NO_DTYPE

cdef tuple _NAMES = ("bool", "uint8", "int8", "int16", "int32", "int64",
                     "float16", "float32", "float64", "complex64", "complex128")
cdef list _DTYPES = [_new_dtype(_i, name) for _i, name in enumerate(_NAMES)]
# C's long long and long are one type on this machine or another: both are int64 or int32.
for _alias in ("long", "longlong", "intc"):
    _alias_type = np.dtype(_alias)
    code_of[_alias_type.num] = INT64 if _alias_type.itemsize == 8 else INT32

cdef dict _BY_PYTHON_TYPE = {bool: BOOL, int: INT64, float: FLOAT64, complex: COMPLEX128}


def _dtype_by_name(name):
    return _DTYPES[_NAMES.index(name)]


def all_dtypes():
    """The eleven dtypes, in promotion order."""
    return tuple(_DTYPES)


cdef dtype dtype_from_code(int code):
    return <dtype>_DTYPES[code]


cdef dtype dtype_from_typenum(int typenum):
    if not 0 <= typenum < N_TYPENUMS or code_of[typenum] == NO_DTYPE:
        raise TypeError(
            f"can't convert np.ndarray of type {np.dtype(cnp.PyArray_DescrFromType(typenum))}. "
            f"The only supported types are: {', '.join(_NAMES)}.")
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
    """The dtype of an np.dtype; TypeError if there is none."""
    descr = np.dtype(descr)
    if descr.num >= N_TYPENUMS or code_of[descr.num] == NO_DTYPE or not descr.isnative:
        raise TypeError(
            f"can't convert np.ndarray of type {_type_name(descr)}. The only supported types are: "
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint8, "
            "and bool.")
    return _DTYPES[code_of[descr.num]]


cdef str _type_name(object descr):
    return f"numpy.{descr.type.__name__}"


def as_numpy(value, default=None):
    """The np.dtype of a dtype (or of a Python or NumPy type); `default` for None."""
    cdef int code = code_from_object(value)
    if code == NO_DTYPE:
        return default
    return (<dtype>_DTYPES[code]).numpy


# ---- default dtype ----

cdef int _default = FLOAT32


cdef int default_code() noexcept nogil:
    return _default


def get_default_dtype():
    """The dtype of a tensor made from Python floats.

    >>> import imode
    >>> imode.get_default_dtype()
    imode.float32
    """
    return _DTYPES[_default]


def set_default_dtype(d, /):
    """Set the dtype of tensors made from Python floats: float16, float32 or float64.

    Raises TypeError for any other dtype.

    >>> import imode
    >>> imode.set_default_dtype(imode.float32)
    """
    global _default
    if type(d) is not dtype:
        raise TypeError("invalid dtype object: only floating-point types are supported as the "
                        f"default type\nset_default_dtype got {d!r}")
    cdef int code = (<dtype>d).code
    if not is_float(code):
        raise TypeError(
            "only floating-point types are supported as the default type\n"
            f"set_default_dtype got {d!r}, pass imode.float16, imode.float32 or imode.float64")
    _default = code


# ---- promotion ----

cdef int promote(int a, int b) noexcept nogil:
    """The smallest dtype that PyTorch lets both become; NO_DTYPE is neutral."""
    cdef int low = a if a < b else b
    cdef int high = b if a < b else a
    if low < 0 or low == high or low == BOOL:
        return high
    if low == UINT8 and high == INT8:
        return INT16
    if high == COMPLEX64 and low == FLOAT64:
        return COMPLEX128
    return high


cdef int to_complex(int code) noexcept nogil:
    return COMPLEX128 if code == FLOAT64 or code == COMPLEX128 else COMPLEX64


cdef int _combine(int higher, int lower) noexcept nogil:
    """Two promotion ranks: the lower one counts only where its category is the greater."""
    if is_complex(higher):
        return higher
    if is_float(higher):
        return to_complex(higher) if is_complex(lower) else higher
    if higher == BOOL or lower >= FLOAT16:
        return promote(higher, lower)
    return higher if higher != NO_DTYPE else lower


cdef void add_tensor(ResultType* state, int code, int nd) noexcept:
    if nd:
        state.dim = promote(state.dim, code)
    else:
        state.zero = promote(state.zero, code)


cdef int _number_code(object number) except -2:
    """The Code of a Python or NumPy number."""
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, int):
        refuse_beyond(number)
        return INT64
    if isinstance(number, float):
        return _default
    if isinstance(number, complex):
        return to_complex(_default)
    raise TypeError(f"expected a number, got {type(number).__name__}")


cdef int add_number(ResultType* state, object number) except -1:
    cdef int code = _number_code(number)
    state.wrapped = promote(state.wrapped, code)
    if code == INT64 and number > INT64_MAX:
        state.unsigned = True
    return 0


cdef int result(ResultType* state) except -2:
    if state.unsigned and _combine(state.dim, state.zero) == BOOL:
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            "Bool and UInt64. A number beyond int64 stands beside bool tensors: convert them first")
    return _combine(state.dim, _combine(state.zero, state.wrapped))


def result_type(*operands):
    """The np.dtype that ndarrays and Python numbers promote to by PyTorch's rules.

    Arrays with dimensions count most, then 0-dim arrays, then numbers; a weaker rank counts only
    where its category (bool, integer, floating, complex) is the greater.
    """
    cdef ResultType state = no_operands()
    for operand in operands:
        if isinstance(operand, np.ndarray):
            add_tensor(&state, code_of[cnp.PyArray_TYPE(operand)], cnp.PyArray_NDIM(operand))
        else:
            add_number(&state, operand)
    return (<dtype>_DTYPES[result(&state)]).numpy


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
    return _DTYPES[promote(a, b)]


def can_cast(from_, to):
    """Whether PyTorch's rules let values of dtype `from_` be written into dtype `to`.

    >>> import imode
    >>> imode.can_cast(imode.float64, imode.int32)
    False
    """
    return bool(_can_cast(code_from_object(from_), code_from_object(to)))


cdef bint _can_cast(int source, int target) noexcept:
    if is_complex(source) and not is_complex(target):
        return False
    if is_float(source) and is_integral(target):
        return False
    return source == BOOL or target != BOOL


# ---- Size ----

class Size(tuple):
    """The shape of a tensor: a tuple of ints.

    >>> import imode
    >>> imode.zeros(2, 3).size().numel()
    6
    """

    __slots__ = ()

    def __new__(cls, items=()):
        items = tuple(items)
        for position, item in enumerate(items):
            if not isinstance(item, int):
                try:
                    items = items[:position] + (PyNumber_Index(item),) + items[position + 1:]
                except TypeError:
                    raise TypeError(
                        f"imode.Size() takes an iterable of 'int' (item {position} is "
                        f"'{type(item).__name__}')") from None
        return tuple.__new__(cls, items)

    def numel(self):
        """The number of elements of a tensor of this shape."""
        n = 1
        for item in self:
            n *= item
        return n

    def __add__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(other, self))

    def __mul__(self, other):
        value = tuple.__mul__(self, other)
        return value if value is NotImplemented else Size(value)

    __rmul__ = __mul__

    def __getitem__(self, index):
        value = tuple.__getitem__(self, index)
        return Size(value) if isinstance(index, slice) else value

    def __repr__(self):
        return f"imode.Size([{', '.join(map(repr, self))}])"

    def __reduce__(self):
        return Size, (tuple(self),)


cdef object new_size(int nd, npy_intp* dims):
    cdef object size = imode_new_tuple(Size, nd)
    cdef int i
    for i in range(nd):
        item = PyLong_FromSsize_t(dims[i])
        Py_INCREF(item)
        PyTuple_SET_ITEM(size, i, item)
    return size


cdef extern from *:
    """
    /* A tuple of a subclass that adds no fields, its items to be set. */
    static inline PyObject* imode_new_tuple(PyObject* cls, Py_ssize_t n) {
        return ((PyTypeObject*)cls)->tp_alloc((PyTypeObject*)cls, n);
    }
    """
    object imode_new_tuple(object cls, Py_ssize_t n)


# ---- elements ----

cdef extern from *:
    """
    #include <math.h>
    #include <string.h>
    static double imode_half(uint16_t bits) {
        int exponent = bits >> 10 & 31;
        double size = bits & 1023;
        if (exponent == 31) size = size ? NAN : INFINITY;
        else if (exponent == 0) size = ldexp(size, -24);
        else size = ldexp(size + 1024, exponent - 25);
        return bits >> 15 ? -size : size;
    }
    #define IMODE_HALF(bits) PyFloat_FromDouble(imode_half(bits))
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
            IMODE_READ(6, uint16_t, IMODE_HALF)
            IMODE_READ(7, float, PyFloat_FromDouble)
            IMODE_READ(8, double, PyFloat_FromDouble)
            IMODE_PAIR(9, float)
            IMODE_PAIR(10, double)
        }
        PyErr_SetString(PyExc_SystemError, "not a Code");
        return NULL;
    }
    #undef IMODE_HALF
    #undef IMODE_READ
    #undef IMODE_PAIR
    """
    object imode_number_at(const char* data, int code)


cdef object number_at(char* data, int code):
    return imode_number_at(data, code)


cdef object plain_number(object value):
    """From a Python number, one of a subclass, or a NumPy scalar: kernels run no code of theirs."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__pos__(value)         # the built-in type's: the number without its subclass
    if isinstance(value, float):
        return float.__pos__(value)
    if isinstance(value, complex):
        return complex.__pos__(value)
    if isinstance(value, np.generic):
        value = value.item()
        return value if isinstance(value, (bool, int, float, complex)) else None
    return None


# ---- device ----

cdef str _NAMES_PYTORCH_KNOWS = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone")
cdef tuple _DEVICE_TYPES = ("cpu", "cuda", "meta", "mps", "xpu")


@cython.final
cdef class device:
    """Where a tensor lives. Tensors live on `device("cpu")`; other names parse, and are refused
    where a tensor would have to be made there.

    >>> import imode
    >>> imode.device("cpu:0")
    device(type='cpu', index=0)
    """

    def __init__(self, type, index=None):
        if isinstance(type, device):
            self.type, self.index = (<device>type).type, (<device>type).index
            return
        if isinstance(type, int) and index is None:
            type = "cuda:" + str(type)
        if not isinstance(type, str):
            raise TypeError(
                f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        name, colon, number = type.partition(":")
        if name not in _DEVICE_TYPES:
            raise RuntimeError(
                f"Expected one of {_NAMES_PYTORCH_KNOWS} device type at start of device string: "
                f"{name}")
        if colon:
            if index is not None:
                raise RuntimeError(
                    "type (string) must not include an index because index was passed "
                    f"explicitly: {type}")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        elif index is not None and (not isinstance(index, int) or index < 0):
            raise RuntimeError(f"Device index must be a non-negative int, got {index!r}")
        self.type, self.index = name, index

    def __eq__(self, other):
        if not isinstance(other, device):
            return NotImplemented
        return self.type == (<device>other).type and self.index == (<device>other).index

    def __hash__(self):
        return hash((self.type, self.index))

    def __repr__(self):
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self):
        return device, (self.type, self.index)


cdef device CPU_DEVICE = device("cpu")


cdef device as_device(object value):
    """The device to make a tensor on: raises unless it is the CPU."""
    cdef device place
    if value is None:
        return CPU_DEVICE
    if type(value) is int and value < 0:
        raise RuntimeError("Device index must not be negative")
    place = value if isinstance(value, device) else device(value)
    if place.type == "cuda" and isinstance(value, int):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    if place.type == "cuda":
        raise AssertionError(
            "Torch not compiled with CUDA enabled\nimode's tensors live on device('cpu')")
    if place.type != "cpu":
        raise NotImplementedError(
            f"Could not make a tensor on device {str(place)!r}; tensors live on device('cpu')")
    return CPU_DEVICE


def usable_device(value):
    """The device that a string or device names; raises unless tensors can be made there."""
    return as_device(value)


# ---- the classes' names are the public ones ----

cdef extern from "rename.h":
    void _rename "imode_rename"(object cls, const char* name)


_rename(dtype, "imode.dtype")
_rename(device, "imode.device")
Size.__module__ = "imode"
