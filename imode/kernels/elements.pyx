# Views through memory itself: any geometry over a storage, and elements of another type.
#
# See strided.pyx for the views that keep to the tensor's own dimensions.

cimport numpy as cnp
from imode.kernels.strided cimport (
    MAX_DIMS, descr_of, make, make_of, read_ints, scalar_name, storage_of)
from libc.limits cimport LLONG_MAX
from numpy cimport dtype, ndarray, npy_intp

cnp.import_array()


cdef bint _fits(int nd, npy_intp* shape, npy_intp* strides, ndarray storage, ndarray a,
                object storage_offset, char** start) except -1:
    """Whether a geometry of moderate numbers lies within the storage; OUT: where it starts."""
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a)
    cdef npy_intp last
    cdef int i
    if storage_offset is None:
        last = (cnp.PyArray_BYTES(a) - cnp.PyArray_BYTES(storage)) // item
    else:
        last = storage_offset
    if nd > 8 or not 0 <= last < 1 << 40:
        return False
    start[0] = cnp.PyArray_BYTES(storage) + last * item
    for i in range(nd):
        if not (0 < shape[i] < 1 << 28 and strides[i] < 1 << 24):
            return False
        last += (shape[i] - 1) * strides[i]
    return (last + 1) * item <= cnp.PyArray_NBYTES(storage)


cpdef ndarray as_strided(ndarray a, tuple size, tuple stride, storage_offset=None):
    """Return any geometry (in elements) over the storage that `a` is part of, within its bounds."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int nd = read_ints(size, shape), i
    cdef ndarray storage = storage_of(a)
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a), nbytes = cnp.PyArray_NBYTES(storage)
    cdef object offset, need
    cdef char* start
    if nd != read_ints(stride, strides):
        raise RuntimeError("mismatch in length of strides and shape")
    for i in range(nd):
        if strides[i] < 0:
            raise RuntimeError(
                "as_strided: Negative strides are not supported at the moment, "
                f"got strides: {list(stride)}")
    if _fits(nd, shape, strides, storage, a, storage_offset, &start):
        for i in range(nd):
            strides[i] *= item
        return make(a, nd, shape, strides, start)
    offset = storage_offset
    if offset is None:
        offset = (cnp.PyArray_BYTES(a) - cnp.PyArray_BYTES(storage)) // item
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    # In Python ints, which do not overflow: sizes and strides come from the caller.
    need = item * (1 + offset + sum([(n - 1) * s for n, s in zip(size, stride)]))
    if 0 in size:
        need = 0
    elif min(size, default=0) < 0 or need > LLONG_MAX:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and "
            f"strides={list(stride)}")
    if need > nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {item} requiring a storage size of {need} are out of bounds for storage of "
            f"size {nbytes}")
    if need == 0 and offset * item > nbytes:
        offset = nbytes // item            # an empty view never points outside of its storage
    for i in range(nd):
        strides[i] *= item
    return make(a, nd, shape, strides, cnp.PyArray_BYTES(storage) + <npy_intp>offset * item)


cpdef ndarray view_dtype(ndarray a, dtype to):
    """Return `a`'s bytes as elements of type `to`; the last dimension grows or shrinks to fit."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef npy_intp old = cnp.PyArray_ITEMSIZE(a), new = to.itemsize, ratio, offset
    cdef int nd = a.ndim, i
    for i in range(nd):
        shape[i] = a.shape[i]
        strides[i] = a.strides[i]
    if old != new:
        how = f"to view {scalar_name(descr_of(a))} as {scalar_name(to)} (different element sizes)"
        if nd == 0:
            raise RuntimeError(f"self.dim() cannot be 0 {how}")
        ratio = new // old
        if new > old:
            offset = (cnp.PyArray_BYTES(a) - cnp.PyArray_BYTES(storage_of(a))) // old
            if shape[nd - 1] % ratio:
                raise RuntimeError(
                    f"self.size(-1) must be divisible by {ratio} {how}, but got {shape[nd - 1]}")
            if offset % ratio:
                raise RuntimeError(
                    f"self.storage_offset() must be divisible by {ratio} {how}, but got {offset}")
        if strides[nd - 1] != old:
            raise RuntimeError(
                f"self.stride(-1) must be 1 {how}, but got {strides[nd - 1] // old}")
        if new > old:
            for i in range(nd - 1):
                if strides[i] % new:
                    raise RuntimeError(
                        f"self.stride({i}) must be divisible by {ratio} {how}, "
                        f"but got {strides[i] // old}")
        shape[nd - 1] = shape[nd - 1] * old // new
        strides[nd - 1] = new
    return make_of(a, to, nd, shape, strides, cnp.PyArray_BYTES(a))


cpdef ndarray view_as_real(ndarray a):
    """Return a complex array as pairs (real, imaginary) along a new last dimension."""
    cdef npy_intp[64] shape
    cdef npy_intp[64] strides
    cdef int nd = a.ndim, i
    cdef dtype part
    if not cnp.PyArray_ISCOMPLEX(a):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if nd + 1 > MAX_DIMS:
        raise ValueError(f"tensors have at most {MAX_DIMS} dimensions, got {nd + 1}")
    part = cnp.PyArray_DescrFromType(
        cnp.NPY_FLOAT32 if cnp.PyArray_TYPE(a) == cnp.NPY_COMPLEX64 else cnp.NPY_FLOAT64)
    for i in range(nd):
        shape[i] = a.shape[i]
        strides[i] = a.strides[i]
    shape[nd] = 2
    strides[nd] = part.itemsize
    return make_of(a, part, nd + 1, shape, strides, cnp.PyArray_BYTES(a))


cpdef ndarray view_as_complex(ndarray a):
    """Return an array whose last dimension holds pairs (real, imaginary) as a complex array."""
    cdef int nd = a.ndim, i
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a)
    cdef int kind = cnp.PyArray_TYPE(a)
    if kind != cnp.NPY_FLOAT32 and kind != cnp.NPY_FLOAT64:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {scalar_name(descr_of(a))}")
    if nd == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if a.shape[nd - 1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if a.strides[nd - 1] != item and cnp.PyArray_SIZE(a):
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    for i in range(nd - 1):
        if a.shape[i] != 1 and a.strides[i] % (2 * item) and cnp.PyArray_SIZE(a):
            raise RuntimeError(
                "Tensor must have a stride divisible by 2 for all but last dimension")
    if ((cnp.PyArray_BYTES(a) - cnp.PyArray_BYTES(storage_of(a))) // item) % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return make_of(
        a,
        cnp.PyArray_DescrFromType(
            cnp.NPY_COMPLEX64 if kind == cnp.NPY_FLOAT32 else cnp.NPY_COMPLEX128),
        nd - 1, cnp.PyArray_DIMS(a), cnp.PyArray_STRIDES(a), cnp.PyArray_BYTES(a))
