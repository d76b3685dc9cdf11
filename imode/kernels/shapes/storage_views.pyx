# Views of the storage: any geometry, and elements of another type. See views.pyx for views by the
# tensor's own dimensions.

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport root
from imode._core.dtype cimport dtype as imode_dtype
from imode.kernels.shapes.views cimport (
    Geometry, check_numel, check_rank, copy_geometry, descr_of, kernel, read_ints)
from libc.limits cimport LLONG_MAX
from numpy cimport dtype, ndarray, npy_intp

from imode import errors
from imode._core.type_names import scalar_name

cnp.import_array()

cdef enum:
    FAR = 1 << 30                 # how many bytes beyond the storage an empty view may begin

cdef extern from "Python.h":
    long long PyLong_AsLongLong(PyObject* value) except? -1


cdef bint _fits(int nd, npy_intp* shape, npy_intp* strides, ndarray storage, ndarray a,
                PyObject* storage_offset, char** start) except -1:
    """Whether a geometry of moderate numbers lies inside the storage; OUT: where it starts."""
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a)
    cdef npy_intp last
    cdef int i
    if storage_offset == <PyObject*>None:
        last = (cnp.PyArray_BYTES(a) - cnp.PyArray_BYTES(storage)) // item
    else:
        last = PyLong_AsLongLong(storage_offset)
    if nd > 8 or not 0 <= last < 1 << 40:
        return False
    start[0] = cnp.PyArray_BYTES(storage) + last * item
    for i in range(nd):
        if not (0 < shape[i] < 1 << 28 and strides[i] < 1 << 24):
            return False
        last += (shape[i] - 1) * strides[i]
    return (last + 1) * item <= cnp.PyArray_NBYTES(storage)


cdef int _as_strided(ndarray a, PyObject** args, Geometry* g) except -1:
    """as_strided(size, stride, storage_offset): within the bounds of the storage."""
    cdef tuple size = <tuple>args[1]
    cdef tuple stride = <tuple>args[2]
    cdef ndarray storage = <ndarray>root(<PyObject*>a)
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a), nbytes = cnp.PyArray_NBYTES(storage)
    cdef object offset, need
    cdef int i
    g.nd = read_ints(size, g.shape)
    if g.nd != read_ints(stride, g.strides):
        raise RuntimeError("mismatch in length of strides and shape")
    for i in range(g.nd):
        if g.strides[i] < 0:
            raise RuntimeError(
                "as_strided: Negative strides are not supported at the moment, "
                f"got strides: {list(stride)}")
    if not _fits(g.nd, g.shape, g.strides, storage, a, args[3], &g.data):
        offset = <object>args[3]
        if offset is None:
            offset = (cnp.PyArray_BYTES(a) - cnp.PyArray_BYTES(storage)) // item
        if offset < 0:
            raise RuntimeError(f"Tensor: invalid storage offset {offset}")
        # In Python ints, which do not overflow, whatever sizes and strides the user gave.
        need = item * (1 + offset + sum([(n - 1) * s for n, s in zip(size, stride)]))
        if 0 in size:
            need = 0
        elif min(size, default=0) < 0 or need > LLONG_MAX:
            raise errors.shapes.storage_overflow(size, stride)
        if need > nbytes:
            raise RuntimeError(
                f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, "
                f"and itemsize {item} requiring a storage size of {need} are out of bounds for "
                f"storage of size {nbytes}")
        if need == 0 and offset * item - nbytes > FAR:
            offset = nbytes // item        # an empty view may begin at any valid address
        g.data = cnp.PyArray_BYTES(storage) + <npy_intp>offset * item
    for i in range(g.nd):
        g.strides[i] *= item
    return check_numel(g)


cdef npy_intp _offset(ndarray a) noexcept:
    """Bytes between the start of the storage and the first element."""
    return cnp.PyArray_BYTES(a) - cnp.PyArray_BYTES(<ndarray>root(<PyObject*>a))


cdef int _view_dtype(ndarray a, PyObject** args, Geometry* g) except -1:
    """view.dtype(dtype): the last dimension grows or shrinks accordingly."""
    cdef dtype to = (<imode_dtype>args[1]).numpy
    cdef npy_intp old = cnp.PyArray_ITEMSIZE(a), new = to.itemsize, ratio, offset
    cdef int nd = a.ndim, i
    copy_geometry(a, g)
    g.typenum = to.num
    if old != new:
        how = f"to view {scalar_name(descr_of(a))} as {scalar_name(to)} (different element sizes)"
        if nd == 0:
            raise RuntimeError(f"self.dim() cannot be 0 {how}")
        ratio = new // old
        if new > old:
            offset = _offset(a) // old
            if g.shape[nd - 1] % ratio:
                raise RuntimeError(
                    f"self.size(-1) must be divisible by {ratio} {how}, but got {g.shape[nd - 1]}")
            if offset % ratio:
                raise RuntimeError(
                    f"self.storage_offset() must be divisible by {ratio} {how}, but got {offset}")
        if g.strides[nd - 1] != old:
            raise RuntimeError(
                f"self.stride(-1) must be 1 {how}, but got {g.strides[nd - 1] // old}")
        if new > old:
            for i in range(nd - 1):
                if g.strides[i] % new:
                    raise RuntimeError(
                        f"self.stride({i}) must be divisible by {ratio} {how}, "
                        f"but got {g.strides[i] // old}")
        g.shape[nd - 1] = g.shape[nd - 1] * old // new
        g.strides[nd - 1] = new
    return check_numel(g)


cdef int _view_as_real(ndarray a, PyObject** args, Geometry* g) except -1:
    """view_as_real(): pairs (real, imaginary) along a new last dimension."""
    if not cnp.PyArray_ISCOMPLEX(a):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    check_rank(a.ndim + 1)
    copy_geometry(a, g)
    g.typenum = (cnp.NPY_FLOAT32 if cnp.PyArray_TYPE(a) == cnp.NPY_COMPLEX64
                 else cnp.NPY_FLOAT64)
    g.shape[g.nd] = 2
    g.strides[g.nd] = cnp.PyArray_ITEMSIZE(a) // 2
    g.nd += 1
    return check_numel(g)


cdef int _refuse_complex(ndarray a) except -1:
    raise RuntimeError(
        "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
        f"scalar type: {scalar_name(descr_of(a))}")


cdef int _view_as_complex(ndarray a, PyObject** args, Geometry* g) except -1:
    """view_as_complex(): the last dimension holds pairs (real, imaginary)."""
    cdef int nd = a.ndim, i
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a)
    cdef int kind = cnp.PyArray_TYPE(a)
    if kind not in (cnp.NPY_FLOAT16, cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        _refuse_complex(a)
    if nd == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if a.shape[nd - 1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if a.strides[nd - 1] != item:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    for i in range(nd - 1):
        if a.shape[i] != 1 and a.strides[i] % (2 * item):
            raise RuntimeError(
                "Tensor must have a stride divisible by 2 for all but last dimension")
    if _offset(a) // item % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    if kind == cnp.NPY_FLOAT16:
        _refuse_complex(a)        # float16: there is no complex32
    copy_geometry(a, g)
    g.nd = nd - 1
    g.typenum = cnp.NPY_COMPLEX64 if kind == cnp.NPY_FLOAT32 else cnp.NPY_COMPLEX128
    return 0


as_strided = kernel(_as_strided)
view_dtype = kernel(_view_dtype)
view_as_real = kernel(_view_as_real)
view_as_complex = kernel(_view_as_complex)
