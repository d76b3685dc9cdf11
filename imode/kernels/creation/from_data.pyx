"""Python data to ndarrays: nested sequences, numbers, and arrays from elsewhere.

The dtype of a nested sequence, the leaves that are accepted, and the errors for others are those of
`torch.tensor`: the first items determine the shape, all leaves together the dtype, and each leaf is
converted to it by C's rules, or an error if it does not fit.
"""
import numpy as np

from imode import errors
from imode._core.dtype import from_numpy_dtype
from imode._core.promotion import result_type
from imode._core.type_names import class_name

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_IsValid
from imode._core.tensor cimport Tensor, storage
from numpy cimport ndarray

cnp.import_array()

cdef extern from "Python.h":
    bint PySequence_Check(object o)
    object PySequence_GetItem(object o, Py_ssize_t i)
    Py_ssize_t PySequence_Size(object o) except -1
    object PySequence_Fast(object o, const char *m)
    Py_ssize_t PySequence_Fast_GET_SIZE(object o)
    PyObject **PySequence_Fast_ITEMS(object o)
    bint PyFloat_Check(object o)
    bint PyLong_Check(object o)
    bint PyBool_Check(object o)
    bint PyComplex_Check(object o)
    double PyFloat_AsDouble(object o) except? -1.0
    long long PyLong_AsLongLongAndOverflow(object o, int *overflow) except? -1

    ctypedef struct Py_complex:
        double real
        double imag
    Py_complex PyComplex_AsCComplex(object o) except *

cdef enum:
    MAX_DIMS = 64

_UNSIGNED = {np.dtype(number).num for number in (np.uint16, np.uint32, np.uint64)}

# ---- arrays from elsewhere -------------------------------------------------------------------


@cython.binding(False)
cdef class _Exporter:
    """A capsule wrapped in an object with __dlpack__, which NumPy requires."""
    cdef object capsule

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def array_of_capsule(capsule):
    """The ndarray over the memory of a DLPack capsule, which is consumed.

    An unversioned capsule has no read-only flag: NumPy treats it as read-only, other libraries, and
    tensors, as writable.
    """
    cdef bint unversioned = PyCapsule_IsValid(capsule, "dltensor")
    cdef _Exporter exporter
    if not unversioned and not PyCapsule_IsValid(capsule, "dltensor_versioned"):
        raise errors.arguments.dlpack_capsule(
            "Note that DLTensor capsules can be consumed only once, so you might have already "
            "constructed a tensor from it once.")
    exporter = _Exporter.__new__(_Exporter)
    exporter.capsule = capsule
    array = np.from_dlpack(exporter)
    if unversioned:
        cnp.PyArray_ENABLEFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    return array


def check_array(array):
    """Return `array` if a tensor can share its memory, else raise TypeError or ValueError."""
    cdef ndarray a
    cdef Py_ssize_t i, size
    cdef object dtype
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {class_name(array)})")
    a = array
    size = a.dtype.itemsize
    for i in range(cnp.PyArray_NDIM(a)):
        if size and cnp.PyArray_STRIDE(a, i) % size:
            raise ValueError(
                "given numpy array strides not a multiple of the element byte size. "
                "Copy the numpy array to reallocate the memory."
            )
        if cnp.PyArray_STRIDE(a, i) < 0:
            raise errors.arguments.array_order(
                "At least one stride in the given numpy array is negative, and tensors with "
                "negative strides are not currently supported")
    dtype = from_numpy_dtype(a.dtype).numpy
    if not a.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. "
            "Conversion between byte orders is currently not supported."
        )
    if a.dtype.num != dtype.num:    # C has two integer types of 64 bits
        a = a.view(dtype)
    return a if type(a) is np.ndarray else a.view(np.ndarray)


# ---- nested sequences ------------------------------------------------------------------------

def from_data(data, dtype, default_float):
    """Return a new ndarray with the numbers of `data`: a number or a nested sequence of them.

    dtype None: inferred; Python floats then have the dtype `default_float`, complex numbers the
    complex dtype of that precision.
    """
    cdef Ingest work
    cdef ndarray out
    cdef bint half
    if isinstance(data, (str, bytes)):
        raise errors.arguments.new_data(data)
    shape = _shape(data)
    work = Ingest.__new__(Ingest)
    if dtype is None:
        work.look(data, 0)
        dtype = _common(work, np.dtype(default_float))
    else:
        dtype = np.dtype(dtype)
    half = dtype.kind == "f" and dtype.itemsize < 4    # rounded to float first, as in PyTorch
    out = np.empty(shape, np.float32 if half else dtype)
    if cnp.PyArray_SIZE(out):
        work.kind = cnp.PyArray_TYPE(out)
        work.fill(out, 0, cnp.PyArray_BYTES(out), data)
    if half:
        with np.errstate(over="ignore"):
            return out.astype(np.float16 if dtype.num == cnp.NPY_FLOAT16 else dtype)
    return out


def index_from_data(data):
    """Return a new ndarray with the indices in a nested sequence: integers, or bools as a mask."""
    cdef Ingest work = Ingest.__new__(Ingest)
    work.indices = True
    work.look(data, 0)
    dtype = _common(work, np.dtype(np.float32))
    return from_data(data, dtype if dtype in (np.bool_, np.uint8) else np.int64, None)


def is_sequence(value):
    """Whether a value has items by number; this includes mappings other than dict."""
    return bool(PySequence_Check(value))


def _shape(data):
    """The shape, which the first item of each level determines."""
    cdef list shape = []
    cdef Py_ssize_t length
    while PySequence_Check(data) and not isinstance(data, Tensor):
        length = PySequence_Size(data)
        shape.append(length)
        if len(shape) > MAX_DIMS:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if length == 0:
            break
        try:
            data = PySequence_GetItem(data, 0)
        except Exception as error:
            raise ValueError(
                f"could not determine the shape of object type '{type(data).__name__}'"
            ) from error
    return shape


cdef object _common(Ingest work, object default_float):
    """The dtype of everything met."""
    dtype = work.typed
    if work.met & BOOL:
        dtype = _promote(dtype, np.dtype(np.bool_))
    if work.met & INT:
        dtype = _promote(dtype, np.dtype(np.int64))
    if work.met & FLOAT:
        dtype = _promote(dtype, default_float)
    if work.met & COMPLEX:
        dtype = _promote(
            dtype, np.dtype(np.complex128 if default_float.itemsize == 8 else np.complex64)
        )
    return dtype


cdef object _promote(a, b):
    """The common dtype; of unsigned integers and others NumPy's, where PyTorch has none."""
    if a is None or a == b:
        return b
    if a.num not in _UNSIGNED and b.num not in _UNSIGNED:
        return result_type(a, b)
    if a.kind in "biu" and b.kind in "fc":
        return b
    if b.kind in "biu" and a.kind in "fc":
        return a
    if {a.kind, b.kind} == {"u", "i"} and max(a.itemsize, b.itemsize) == 8:
        return np.dtype(np.int64)
    return np.promote_types(a, b)


cdef list _items(object sequence):
    """The items by number. (Iterating over a pandas.Series would lose its dtype.)"""
    return [PySequence_GetItem(sequence, i) for i in range(PySequence_Size(sequence))]


@cython.final
cdef class Ingest:

    cdef int add(self, object dtype) except -1:
        self.typed = _promote(self.typed, dtype)
        self.met |= TYPED
        return 0

    cdef int look(self, object item, int depth) except -1:
        """Note the dtype of a leaf, or of all leaves of a sequence."""
        cdef object items
        cdef Py_ssize_t i, n
        if PyFloat_Check(item) and type(item) is float:
            self.met |= FLOAT
        elif PyBool_Check(item):
            self.met |= BOOL
        elif PyLong_Check(item):
            self.met |= INT
        elif isinstance(item, (np.ndarray, np.generic)):
            from_numpy_dtype(item.dtype)
            self.add(item.dtype)
        elif PyFloat_Check(item):
            self.met |= FLOAT
        elif isinstance(item, Tensor):
            if not self.indices and storage(<Tensor>item).size != 1:
                raise errors.numbers.several_elements(
                    f"\nGot one of shape {list(item.shape)} in a sequence; stack() joins tensors")
            self.add(storage(<Tensor>item).dtype)
        elif PyComplex_Check(item):
            self.met |= COMPLEX
        elif isinstance(item, (str, bytes)):
            raise errors.arguments.new_data(item)
        elif PySequence_Check(item):
            if depth >= MAX_DIMS:    # a sequence may contain itself
                raise ValueError(f"too many dimensions '{type(item).__name__}'")
            items = item if type(item) in (list, tuple) else _items(item)
            n = PySequence_Fast_GET_SIZE(items)
            if n == 0:
                self.met |= FLOAT
            for i in range(n):
                if i >= PySequence_Fast_GET_SIZE(items):    # an item's methods may shrink the list
                    break
                if PySequence_Fast_ITEMS(items)[i] == <PyObject*>item:
                    raise TypeError("new(): self-referential lists are incompatible")
                self.look(<object> PySequence_Fast_ITEMS(items)[i], depth + 1)
        else:
            raise RuntimeError(f"Could not infer dtype of {class_name(item)}")
        return 0

    cdef int fill(self, ndarray out, int axis, char *data, object sequence) except -1:
        """Store `sequence` from `data` on; its items lie along `axis`."""
        cdef object items
        cdef Py_ssize_t i, n, stride
        if axis == cnp.PyArray_NDIM(out):
            return self.leaf(data, sequence)
        n = cnp.PyArray_DIM(out, axis)
        stride = cnp.PyArray_STRIDE(out, axis)
        items = PySequence_Fast(sequence, "not a sequence")
        if PySequence_Fast_GET_SIZE(items) != n:
            raise ValueError(
                f"expected sequence of length {n} at dim {axis} "
                f"(got {PySequence_Fast_GET_SIZE(items)})"
            )
        for i in range(n):
            if PySequence_Fast_GET_SIZE(items) != n:
                raise ValueError("sequence changed its length while it was read")
            self.fill(out, axis + 1, data + i * stride, <object> PySequence_Fast_ITEMS(items)[i])
        return 0

    cdef int leaf(self, char *data, object item) except -1:
        cdef Py_complex both
        if self.kind == cnp.NPY_FLOAT32:
            (<float *> data)[0] = <float> PyFloat_AsDouble(item)
        elif self.kind == cnp.NPY_FLOAT64:
            (<double *> data)[0] = PyFloat_AsDouble(item)
        elif self.kind == cnp.NPY_COMPLEX64:
            both = PyComplex_AsCComplex(item)
            (<float *> data)[0], (<float *> data)[1] = <float> both.real, <float> both.imag
        elif self.kind == cnp.NPY_COMPLEX128:
            both = PyComplex_AsCComplex(item)
            (<double *> data)[0], (<double *> data)[1] = both.real, both.imag
        else:
            self.integer(data, item)
        return 0

    cdef int integer(self, char *data, object item) except -1:
        cdef long long value = 0
        cdef double real
        cdef int overflow = 0
        cdef bint fits = True
        if PyFloat_Check(item):
            real = PyFloat_AsDouble(item)
            if self.kind == cnp.NPY_BOOL:
                (<cnp.uint8_t *> data)[0] = real != 0.0
                return 0
            if self.kind == cnp.NPY_UINT64 and 0 <= real < 18446744073709551616.0:
                (<cnp.uint64_t *> data)[0] = <cnp.uint64_t> real
                return 0
            fits = -9223372036854775808.0 <= real < 9223372036854775808.0    # False for NaN
            value = <long long> real if fits else 0
            # 127.5 is above the largest int8 and -0.5 below the smallest uint8
            if real > value and self.fits(value) and not self.fits(value + 1):
                fits = False
            if real < 0 and self.unsigned():
                fits = False
        else:
            if isinstance(item, np.bool_) or self.kind == cnp.NPY_BOOL and (
                    PyComplex_Check(item) or PyLong_Check(item)):
                item = bool(item)
            value = PyLong_AsLongLongAndOverflow(item, &overflow)
            if overflow:
                if self.kind == cnp.NPY_UINT64 and 0 <= item < 1 << 64:
                    (<cnp.uint64_t *> data)[0] = <cnp.uint64_t> item
                    return 0
                raise errors.numbers.beyond_64_bits()
        if not fits or not self.fits(value):
            name = np.dtype(cnp.PyArray_DescrFromType(self.kind)).name
            raise errors.numbers.does_not_fit(name)
        if self.kind == cnp.NPY_BOOL:
            (<cnp.uint8_t *> data)[0] = value != 0
        elif self.kind == cnp.NPY_UINT8 or self.kind == cnp.NPY_INT8:
            (<cnp.uint8_t *> data)[0] = <cnp.uint8_t> value
        elif self.kind == cnp.NPY_UINT16 or self.kind == cnp.NPY_INT16:
            (<cnp.uint16_t *> data)[0] = <cnp.uint16_t> value
        elif self.kind == cnp.NPY_UINT32 or self.kind == cnp.NPY_INT32:
            (<cnp.uint32_t *> data)[0] = <cnp.uint32_t> value
        else:
            (<cnp.uint64_t *> data)[0] = <cnp.uint64_t> value
        return 0

    cdef bint unsigned(self) noexcept:
        return self.kind in (cnp.NPY_UINT8, cnp.NPY_UINT16, cnp.NPY_UINT32, cnp.NPY_UINT64)

    cdef bint fits(self, long long value) noexcept:
        """Whether an integer fits; a negative one wraps around in an unsigned type."""
        cdef long long bound
        if self.kind in (cnp.NPY_BOOL, cnp.NPY_INT64, cnp.NPY_UINT64):
            return True
        if self.kind == cnp.NPY_INT8:
            return -128 <= value <= 127
        if self.kind == cnp.NPY_INT16:
            return -32768 <= value <= 32767
        if self.kind == cnp.NPY_INT32:
            return -2147483648LL <= value <= 2147483647LL
        bound = 255 if self.kind == cnp.NPY_UINT8 else 65535
        if self.kind == cnp.NPY_UINT32:
            bound = 4294967295LL
        return -bound <= value <= bound
