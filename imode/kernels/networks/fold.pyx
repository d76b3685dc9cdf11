"""Windows of images as columns, and columns added up to images."""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.channels cimport contiguous
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport Thread, give_up_gil, parallel_for, skipping, take_gil
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport _array, _count, _integer, _row_major, array_of
from libc.stdint cimport int64_t
from libc.string cimport memset

import numpy as np

cnp.import_array()

ctypedef fused item:
    cnp.uint8_t
    float
    double

cdef enum:
    GRAIN = 16384                 # fewest elements of columns per thread

cdef struct window_t:
    long planes                   # images times channels
    long[2] size                  # of the planes
    long[2] kernel, dilation, padding, stride
    long[2] count                 # windows


cdef inline void _element(item* image, item* column, bint back) noexcept nogil:
    if not back:
        column[0] = image[0]
    elif item is cnp.uint8_t:
        image[0] |= column[0]                # bools
    else:
        image[0] += column[0]


cdef inline void _row(item* image, item* columns, long n, long step, bint back,
                      long wide) noexcept nogil:
    """Copy or add a row of windows that lie within the image, `step` elements apart."""
    cdef long j, k
    if step == 1:
        for j in range(n * wide):
            _element(image + j, columns + j, back)
        return
    for j in range(n):
        for k in range(wide):
            _element(image + j * step * wide + k, columns + j * wide + k, back)


cdef void _walk(const window_t* p, item* image, item* columns, bint back, long wide, long begin,
                long end) noexcept nogil:
    """Copy windows to columns, or add columns to the image; an element is `wide` items."""
    cdef long height = p.size[0], width = p.size[1], step = p.stride[1], count = p.count[1]
    cdef long _, ky, kx, i, y, x, first, last
    image += begin * height * width * wide
    columns += begin * p.kernel[0] * p.kernel[1] * p.count[0] * count * wide
    for _ in range(begin, end):
        for ky in range(p.kernel[0]):
            for kx in range(p.kernel[1]):
                # The windows in which this place of the kernel lies within the image.
                x = kx * p.dilation[1] - p.padding[1]
                first = min(0 if x >= 0 else (step - 1 - x) // step, count)
                last = max(0 if x >= width else min((width - x - 1) // step + 1, count), first)
                for i in range(p.count[0]):
                    y = i * p.stride[0] - p.padding[0] + ky * p.dilation[0]
                    if not back and not 0 <= y < height:
                        memset(columns, 0, count * wide * sizeof(item))
                    elif 0 <= y < height:
                        if not back:
                            memset(columns, 0, first * wide * sizeof(item))
                            memset(columns + last * wide, 0, (count - last) * wide * sizeof(item))
                        _row(image + (y * width + x + first * step) * wide, columns + first * wide,
                             last - first, step, back, wide)
                    columns += count * wide
        image += height * width * wide


cdef struct job_t:
    const window_t* p
    void* image
    void* columns
    int kind
    bint back


cdef void _walk_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const job_t* job = <const job_t*>context
    cdef long wide = 2 if job.kind == cnp.NPY_CFLOAT or job.kind == cnp.NPY_CDOUBLE else 1
    if job.kind == cnp.NPY_BOOL:
        _walk(job.p, <cnp.uint8_t*>job.image, <cnp.uint8_t*>job.columns, job.back, 1, begin, end)
    elif job.kind == cnp.NPY_FLOAT or job.kind == cnp.NPY_CFLOAT:
        _walk(job.p, <float*>job.image, <float*>job.columns, job.back, wide, begin, end)
    else:
        _walk(job.p, <double*>job.image, <double*>job.columns, job.back, wide, begin, end)


cdef int _run(const window_t* p, cnp.ndarray image, cnp.ndarray columns, bint back) except -1:
    cdef job_t job = [p, cnp.PyArray_DATA(image), cnp.PyArray_DATA(columns),
                      cnp.PyArray_TYPE(image), back]
    cdef cnp.npy_intp total = cnp.PyArray_SIZE(columns)
    cdef Thread* thread
    if skipping() or total == 0:
        return 0
    thread = give_up_gil(total)
    parallel_for(p.planes, GRAIN * p.planes // total + 1, _walk_some, &job)
    take_gil(thread)
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


# ---- the kernels, called from C: with few elements, a Python call would take most of the time ----

cdef bint _two(PyObject* given, long* to, long least) except -1:
    """Whether an argument is two ints from `least` on, and which."""
    cdef int64_t value
    cdef int k
    if PyTuple_GET_SIZE(<object>given) != 2:
        return False
    for k in range(2):
        if not _integer(PyTuple_GET_ITEM(<object>given, k), &value, 1 << 20) or value < least:
            return False
        to[k] = value
    return True


cdef bint _fit(window_t* p, PyObject** sizes) except -1:
    """Note kernel_size, dilation, padding and stride, and how many windows a plane then has."""
    cdef long span
    cdef int k
    if not _two(sizes[0], p.kernel, 1) or not _two(sizes[1], p.dilation, 1) or (
            not _two(sizes[2], p.padding, 0) or not _two(sizes[3], p.stride, 1)):
        return False
    for k in range(2):
        span = p.size[k] + 2 * p.padding[k] - p.dilation[k] * (p.kernel[k] - 1) - 1
        if span < 0:
            return False
        p.count[k] = span // p.stride[k] + 1
    return True


cdef bint _plain(Fields* x, int nd) noexcept:
    """Whether the loops take a tensor of `nd` dimensions, or without the batch, as it is."""
    cdef int kind = x.descr.type_num
    return nd - 1 <= x.nd <= nd and _row_major(x) and _count(x, 0, x.nd) > 0 and (
        not skipping()) and (kind == cnp.NPY_FLOAT or kind == cnp.NPY_DOUBLE)


cdef object _im2col(Operator op, keyset_t keys, PyObject** args):
    """(self, kernel_size, dilation, padding, stride)"""
    cdef Fields* x = _array(args[0])
    cdef window_t p
    cdef cnp.npy_intp[3] dims
    cdef cnp.ndarray out
    if not _plain(x, 4):
        return run_general(op, keys, args)
    p.size[0], p.size[1] = x.dimensions[x.nd - 2], x.dimensions[x.nd - 1]
    if not _fit(&p, args + 1):
        return run_general(op, keys, args)
    p.planes = _count(x, 0, x.nd - 2)
    dims[0] = x.dimensions[0]
    dims[x.nd - 3] = x.dimensions[x.nd - 3] * p.kernel[0] * p.kernel[1]
    dims[x.nd - 2] = p.count[0] * p.count[1]
    out = empty(x.descr.type_num, x.nd - 1, dims)
    _run(&p, array_of(args[0]), out, False)
    return deliver(op, out, args)


cdef object _col2im(Operator op, keyset_t keys, PyObject** args):
    """(self, output_size, kernel_size, dilation, padding, stride)"""
    cdef Fields* x = _array(args[0])
    cdef window_t p
    cdef cnp.npy_intp[4] dims
    cdef cnp.ndarray out
    cdef long each
    if not _plain(x, 3) or not _two(args[1], p.size, 1) or not _fit(&p, args + 2):
        return run_general(op, keys, args)
    each = p.kernel[0] * p.kernel[1]
    if x.dimensions[x.nd - 2] % each or x.dimensions[x.nd - 1] != p.count[0] * p.count[1]:
        return run_general(op, keys, args)
    dims[0] = x.dimensions[0]
    dims[x.nd - 2] = x.dimensions[x.nd - 2] // each
    dims[x.nd - 1], dims[x.nd] = p.size[0], p.size[1]
    out = empty(x.descr.type_num, x.nd + 1, dims)
    memset(cnp.PyArray_DATA(out), 0, cnp.PyArray_NBYTES(out))
    p.planes = 1
    for d in range(x.nd - 1):
        p.planes *= dims[d]
    _run(&p, out, array_of(args[0]), True)
    return deliver(op, out, args)


im2col = CKernel.new(_im2col)
col2im = CKernel.new(_col2im)
