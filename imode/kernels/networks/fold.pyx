"""Windows of images as columns, and columns added up to images."""

cimport numpy as cnp
from imode._core.allocator cimport empty
from imode._core.channels cimport contiguous
from imode._core.layout cimport cast
from imode._core.parallel cimport skipping

import numpy as np

cnp.import_array()

ctypedef fused item:
    cnp.uint8_t
    float
    double

cdef struct window_t:
    long planes                   # images times channels
    long[2] size                  # of the planes
    long[2] kernel, dilation, padding, stride
    long[2] count                 # windows


cdef void _walk(const window_t* p, item* image, item* columns, bint back, long wide) noexcept nogil:
    """Copy windows to columns, or add columns to the image; an element is `wide` items."""
    cdef long _, ky, kx, i, j, y, x, k
    cdef item* at
    for _ in range(p.planes):
        for ky in range(p.kernel[0]):
            for kx in range(p.kernel[1]):
                for i in range(p.count[0]):
                    y = i * p.stride[0] - p.padding[0] + ky * p.dilation[0]
                    for j in range(p.count[1]):
                        x = j * p.stride[1] - p.padding[1] + kx * p.dilation[1]
                        at = image + (y * p.size[1] + x) * wide
                        if 0 <= y < p.size[0] and 0 <= x < p.size[1]:
                            for k in range(wide):
                                if not back:
                                    columns[k] = at[k]
                                elif item is cnp.uint8_t:
                                    at[k] |= columns[k]              # bools
                                else:
                                    at[k] += columns[k]
                        elif not back:
                            for k in range(wide):
                                columns[k] = 0
                        columns += wide
        image += p.size[0] * p.size[1] * wide


cdef int _run(const window_t* p, cnp.ndarray image, cnp.ndarray columns, bint back) except -1:
    cdef int kind = cnp.PyArray_TYPE(image)
    cdef long wide = 2 if cnp.PyTypeNum_ISCOMPLEX(kind) else 1
    cdef void* a = cnp.PyArray_DATA(image)
    cdef void* b = cnp.PyArray_DATA(columns)
    if skipping():
        return 0
    with nogil:
        if kind == cnp.NPY_BOOL:
            _walk(p, <cnp.uint8_t*>a, <cnp.uint8_t*>b, back, 1)
        elif kind == cnp.NPY_FLOAT or kind == cnp.NPY_CFLOAT:
            _walk(p, <float*>a, <float*>b, back, wide)
        else:
            _walk(p, <double*>a, <double*>b, back, wide)
    return 0


cdef int _set(window_t* p, tuple size, tuple kernel, tuple dilation, tuple padding, tuple stride,
              tuple count) except -1:
    cdef int k
    for k in range(2):
        p.size[k], p.kernel[k], p.dilation[k] = size[k], kernel[k], dilation[k]
        p.padding[k], p.stride[k], p.count[k] = padding[k], stride[k], count[k]
    return 0


def unfold(x, tuple kernel, tuple dilation, tuple padding, tuple stride, tuple count):
    """(n, channels, height, width), checked, as (n, channels * kernel, windows)."""
    cdef window_t p
    cdef cnp.ndarray image, out
    cdef tuple shape = (<object>x).shape
    cdef cnp.npy_intp[3] dims
    if cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_FLOAT16:
        wide = unfold(cast(x, np.float32), kernel, dilation, padding, stride, count)
        return cast(wide, np.float16)
    image = contiguous(x)
    _set(&p, shape[2:], kernel, dilation, padding, stride, count)
    p.planes = shape[0] * shape[1]
    dims[0] = shape[0]
    dims[1] = shape[1] * p.kernel[0] * p.kernel[1]
    dims[2] = p.count[0] * p.count[1]
    out = empty(cnp.PyArray_TYPE(image), 3, dims)
    _run(&p, image, out, False)
    return out


def fold(x, tuple size, tuple kernel, tuple dilation, tuple padding, tuple stride, tuple count):
    """(n, channels * kernel, windows), checked, added up to (n, channels, *size)."""
    cdef window_t p
    cdef cnp.ndarray columns, out
    cdef tuple shape = (<object>x).shape
    cdef cnp.npy_intp[4] dims
    if cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_FLOAT16:
        wide = fold(cast(x, np.float32), size, kernel, dilation, padding, stride, count)
        return cast(wide, np.float16)
    columns = contiguous(x)
    _set(&p, size, kernel, dilation, padding, stride, count)
    dims[0] = shape[0]
    dims[1] = shape[1] // (p.kernel[0] * p.kernel[1])
    dims[2], dims[3] = size
    p.planes = dims[0] * dims[1]
    out = cnp.PyArray_ZEROS(4, dims, cnp.PyArray_TYPE(columns), 0)
    _run(&p, out, columns, True)
    return out
