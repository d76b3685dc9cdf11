# cython: cdivision=True, boundscheck=False, wraparound=False
"""ROIAlign and its gradient, for float32 and float64.

Source: He, Gkioxari, Dollár, Girshick, "Mask R-CNN" (2017), section 3. Each bin of a box is the
mean of samples on a regular grid in it, each of them interpolated between the four pixels around
it. The gradient adds to the same four pixels, with the same weights.
"""
from cpython.object cimport PyObject
from imode.library.kernel cimport array_of, deliver, empty, keyset_t, new_kernel
from libc.math cimport ceil
from numpy cimport (
    NPY_DOUBLE, NPY_FLOAT, PyArray_DATA, PyArray_DIM, PyArray_NDIM, PyArray_TYPE,
    PyArray_FROM_OF, NPY_ARRAY_CARRAY_RO, PyArray_FILLWBYTE, import_array, ndarray)

import_array()

ctypedef fused real:
    float
    double

cdef struct Plan:              # what both kernels are called with
    Py_ssize_t images, channels, height, width, boxes
    int bins_y, bins_x, samples
    double scale, shift


cdef struct Corner:            # one of the four pixels around a sample
    Py_ssize_t at
    double weight


cdef inline int _corners(double y, double x, Plan* plan, Corner* corners) noexcept nogil:
    """The pixels around a sample and their weights; 0 outside of the image."""
    cdef Py_ssize_t top, left, bottom, right
    cdef double down, over
    if not (y >= -1 and y <= plan.height and x >= -1 and x <= plan.width):
        return 0               # NaN, too
    y, x = max(y, 0), max(x, 0)
    top, left = min(<Py_ssize_t>y, plan.height - 1), min(<Py_ssize_t>x, plan.width - 1)
    bottom, right = min(top + 1, plan.height - 1), min(left + 1, plan.width - 1)
    down = y - top if bottom > top else 0
    over = x - left if right > left else 0
    corners[0] = Corner(top * plan.width + left, (1 - down) * (1 - over))
    corners[1] = Corner(top * plan.width + right, (1 - down) * over)
    corners[2] = Corner(bottom * plan.width + left, down * (1 - over))
    corners[3] = Corner(bottom * plan.width + right, down * over)
    return 4


cdef void _run(real* image, const real* boxes, real* bins, Plan* plan,
               bint backward) noexcept nogil:
    """Sample `image` into `bins`; or, backward, spread `bins` over `image`."""
    cdef Corner[4] corners
    cdef Py_ssize_t box, channel, sample, plane = plan.height * plan.width
    cdef int by, bx, sy, sx, k, n, n_y, n_x
    cdef double top, left, bin_y, bin_x, y, x, share, total
    cdef real* pixels
    cdef real* value
    for box in range(plan.boxes):
        pixels = image + <Py_ssize_t>boxes[5 * box] * plan.channels * plane
        left, top = boxes[5 * box + 1] * plan.scale - plan.shift, (
            boxes[5 * box + 2] * plan.scale - plan.shift)
        bin_x = boxes[5 * box + 3] * plan.scale - plan.shift - left
        bin_y = boxes[5 * box + 4] * plan.scale - plan.shift - top
        if plan.shift == 0:    # boxes that are not aligned have at least one pixel
            bin_x, bin_y = max(bin_x, 1), max(bin_y, 1)
        bin_x, bin_y = bin_x / plan.bins_x, bin_y / plan.bins_y
        n_y = plan.samples if plan.samples > 0 else <int>ceil(bin_y)
        n_x = plan.samples if plan.samples > 0 else <int>ceil(bin_x)
        share = 1.0 / max(n_y * n_x, 1)
        for by in range(plan.bins_y):
            for bx in range(plan.bins_x):
                for channel in range(plan.channels):
                    value = bins + ((box * plan.channels + channel) * plan.bins_y + by
                                    ) * plan.bins_x + bx
                    total = 0
                    for sy in range(n_y):
                        y = top + (by + (sy + 0.5) / n_y) * bin_y
                        for sx in range(n_x):
                            x = left + (bx + (sx + 0.5) / n_x) * bin_x
                            n = _corners(y, x, plan, corners)
                            for k in range(n):
                                sample = channel * plane + corners[k].at
                                if backward:
                                    pixels[sample] += <real>(value[0] * share * corners[k].weight)
                                else:
                                    total += corners[k].weight * pixels[sample]
                    if not backward:
                        value[0] = <real>(total * share)


cdef int _of_arrays(ndarray image, ndarray boxes, ndarray bins, Plan* plan, bint backward,
                    real* of=NULL) except -1:    # `of` tells their dtype
    cdef real* pixels = <real*>PyArray_DATA(image)
    cdef real* rows = <real*>PyArray_DATA(boxes)
    cdef real* values = <real*>PyArray_DATA(bins)
    with nogil:
        _run(pixels, rows, values, plan, backward)
    return 0


cdef ndarray _rows(PyObject* tensor, str name, int nd):
    """A tensor argument as a C-contiguous array of `nd` dimensions."""
    cdef ndarray array = array_of(tensor)
    if PyArray_NDIM(array) != nd:
        raise RuntimeError(f"roi_align: {name} has {nd} dimensions, and this has {array.ndim}")
    if PyArray_TYPE(array) != NPY_FLOAT and PyArray_TYPE(array) != NPY_DOUBLE:
        raise RuntimeError(f"roi_align: {name} is of float32 or float64, not of {array.dtype}")
    return PyArray_FROM_OF(array, NPY_ARRAY_CARRAY_RO)


cdef int _check(ndarray boxes, ndarray like, Plan* plan) except -1:
    """Refuse what would be read or written outside of the images."""
    if PyArray_TYPE(boxes) != PyArray_TYPE(like):
        raise RuntimeError("roi_align: boxes and input have one dtype, not "
                           f"{boxes.dtype} and {like.dtype}")
    if PyArray_DIM(boxes, 1) != 5:
        raise RuntimeError("roi_align: a box is (image, x1, y1, x2, y2), and these have "
                           f"{boxes.shape[1]} numbers")
    if not 0 < plan.scale <= 16:
        raise RuntimeError(f"roi_align: spatial_scale is positive, at most 16, not {plan.scale}")
    if plan.bins_y < 1 or plan.bins_x < 1:
        raise RuntimeError(f"roi_align: output_size is positive, not {(plan.bins_y, plan.bins_x)}")
    numbers = (<object>boxes)[:, 0]
    if not ((numbers >= 0) & (numbers < plan.images)).all():
        raise IndexError(f"roi_align: boxes name images from 0 to {plan.images - 1}")
    if not (abs((<object>boxes)[:, 1:]) <= 1e6).all():
        raise RuntimeError("roi_align: boxes have finite sizes of at most 10^6 pixels")
    if plan.boxes and not plan.height * plan.width:
        raise RuntimeError("roi_align: the images are empty")
    return 0


cdef int _pair(PyObject* sizes, Plan* plan) except -1:
    plan.bins_y, plan.bins_x = <object>sizes
    return 0


cdef object _forward(object op, keyset_t keys, PyObject** args):
    """roi_align(input, boxes, output_size, spatial_scale, sampling_ratio, aligned)."""
    cdef ndarray image = _rows(args[0], "input", 4), boxes = _rows(args[1], "boxes", 2), bins
    cdef Plan plan
    cdef Py_ssize_t[4] shape
    plan.images, plan.channels = PyArray_DIM(image, 0), PyArray_DIM(image, 1)
    plan.height, plan.width = PyArray_DIM(image, 2), PyArray_DIM(image, 3)
    plan.boxes, plan.samples = PyArray_DIM(boxes, 0), <object>args[4]
    plan.scale, plan.shift = <object>args[3], 0.5 if <object>args[5] else 0
    _pair(args[2], &plan)
    _check(boxes, image, &plan)
    shape[0], shape[1], shape[2], shape[3] = plan.boxes, plan.channels, plan.bins_y, plan.bins_x
    bins = empty(PyArray_TYPE(image), 4, shape)
    if PyArray_TYPE(image) == NPY_FLOAT:
        _of_arrays[float](image, boxes, bins, &plan, False)
    else:
        _of_arrays[double](image, boxes, bins, &plan, False)
    return deliver(op, bins, args)


cdef object _backward(object op, keyset_t keys, PyObject** args):
    """_roi_align_backward(grad, boxes, input_shape, spatial_scale, sampling_ratio, aligned)."""
    cdef ndarray bins = _rows(args[0], "grad", 4), boxes = _rows(args[1], "boxes", 2), image
    cdef Plan plan
    cdef Py_ssize_t[4] shape
    plan.images, plan.channels, plan.height, plan.width = <object>args[2]
    plan.boxes, plan.samples = PyArray_DIM(boxes, 0), <object>args[4]
    plan.bins_y, plan.bins_x = <int>PyArray_DIM(bins, 2), <int>PyArray_DIM(bins, 3)
    plan.scale, plan.shift = <object>args[3], 0.5 if <object>args[5] else 0
    _check(boxes, bins, &plan)
    if PyArray_DIM(bins, 0) != plan.boxes or PyArray_DIM(bins, 1) != plan.channels:
        raise RuntimeError(f"roi_align: {plan.boxes} boxes of {plan.channels} channels have no "
                           f"gradient of shape {(<object>bins).shape}")
    shape[0], shape[1], shape[2], shape[3] = plan.images, plan.channels, plan.height, plan.width
    image = empty(PyArray_TYPE(bins), 4, shape)
    PyArray_FILLWBYTE(image, 0)
    if PyArray_TYPE(bins) == NPY_FLOAT:
        _of_arrays[float](image, boxes, bins, &plan, True)
    else:
        _of_arrays[double](image, boxes, bins, &plan, True)
    return deliver(op, image, args)


forward = new_kernel(_forward, b"roi_align.kernels")
backward = new_kernel(_backward, b"roi_align.kernels")
