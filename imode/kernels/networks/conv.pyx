"""Convolution over ndarrays: forward and both gradients."""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty
from imode._core.channels cimport as_channels_last, contiguous, lines_are_last
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.layout cimport cast
from imode._core.parallel cimport num_threads, parallel_for
from imode.kernels.fast_guards cimport PyLong_AsLong, array_of, array_or_none
from libc.limits cimport LONG_MAX
from libc.stdlib cimport free, malloc

import numpy as np
from imode import errors
from imode._core.type_names import c_name, tensor_type

cnp.import_array()

cdef long MOST_PADDING = LONG_MAX // 2


# ---- geometry ------------------------------------------------------------------------------------


cdef inline int _pair(tuple values, int ndim, long* first, long* second) except -1:
    """Unpack a per-dimension tuple; a single dimension is the width, beside a height of 1."""
    first[0] = values[0]
    second[0] = values[1] if ndim > 1 and len(values) > 1 else values[0]
    return 0


cdef inline bint _is_countable(const conv_t* p) noexcept:
    """Whether 64 bits hold the size in bytes of all that the loops need, unfolded and padded."""
    cdef double plane = (p.h + 2.0 * p.top + p.dh * (p.kh - 1.0)) * (
        p.w + 2.0 * p.left + p.dw * (p.kw - 1.0))
    return plane * (p.oc + 1.0 + <double>p.c * p.kh * p.kw) < 1e17


cdef int _geometry(conv_t* p, const cnp.npy_intp* x, const cnp.npy_intp* w, int ndim, tuple stride,
                   tuple padding, tuple dilation, long groups) except -1:
    """Fill in p from the shapes of a batched input and a matching weight.

    If the kernel is larger than the input, or memory cannot hold it, the result has no elements.
    """
    cdef bint flat = ndim == 1
    p.n = x[0]
    p.c = x[1]
    p.h = 1 if flat else x[2]
    p.w = x[2] if flat else x[3]
    p.oc = w[0]
    p.kh = 1 if flat else w[2]
    p.kw = w[2] if flat else w[3]
    p.groups = groups
    _pair(stride, ndim, &p.sh, &p.sw)
    _pair(dilation, ndim, &p.dh, &p.dw)
    if flat:
        p.sh = p.dh = 1
    _pair(padding, ndim, &p.top, &p.left)
    if flat:
        p.top = 0
    p.bottom = p.top
    p.right = p.left
    p.oh = p.ow = 0
    if not _is_countable(p):
        return 0
    cdef long rows = p.h + p.top + p.bottom - p.dh * (p.kh - 1) - 1
    cdef long columns = p.w + p.left + p.right - p.dw * (p.kw - 1) - 1
    p.oh = rows // p.sh + 1 if rows >= 0 else 0
    p.ow = columns // p.sw + 1 if columns >= 0 else 0
    return 0


# ---- checks --------------------------------------------------------------------------------------


def _raise_mismatch(name, values, ndim):
    raise RuntimeError(
        f"expected {name} to be a single integer value or a list of {ndim} values to match the "
        f"convolution dimensions, but got {name}={list(values)}")


cdef int _check_list(str name, tuple values, int ndim) except -1:
    if len(values) != ndim and len(values) != 1:
        _raise_mismatch(name, values, ndim)
    return 0


def bias_dtype_error(x, bias):
    """The error for an input and a bias of different dtypes."""
    return RuntimeError(
        f"Input type ({c_name(x)}) and bias type ({c_name(bias)}) should be the same")


cdef bint _worded_otherwise(cnp.ndarray x, cnp.ndarray w, long groups):
    """Whether PyTorch uses its other library, which has other messages for the same mistakes."""
    cdef int n = cnp.PyArray_NDIM(w)
    return cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT and (
        cnp.PyArray_DIM(x, 0) > 1 or groups > 1 or cnp.PyArray_SIZE(x) > 20480
        or (n > 3 and cnp.PyArray_DIM(w, n - 1) > 3 and cnp.PyArray_DIM(w, n - 2) > 3))


cdef int _check_arguments(cnp.ndarray x, cnp.ndarray w, int ndim, tuple stride, tuple padding,
                          tuple dilation, long groups) except -1:
    cdef int wanted = cnp.PyArray_NDIM(w) - 2
    if wanted < 1:
        raise errors.shapes.flat_weight()
    _check_list("stride", stride, wanted)
    _check_list("padding", padding, wanted)
    _check_list("dilation", dilation, wanted)
    if wanted != ndim:
        raise RuntimeError(
            f"Expected {wanted + 2}-dimensional input for {wanted + 2}-dimensional weight "
            f"{list((<object>w).shape)}, but got {ndim + 2}-dimensional input of size "
            f"{list((<object>x).shape)} instead")
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    for i, value in enumerate(padding):
        if value > MOST_PADDING:
            raise RuntimeError(
                f"Given padding={value} at dimension {i} , expected padding to be at most "
                f"{MOST_PADDING}")
    for value in stride:
        if value <= 0:
            raise RuntimeError("non-positive stride is not supported")
    for value in dilation:
        if value <= 0:
            if _worded_otherwise(x, w, groups):
                raise RuntimeError("non-positive dilation is not supported")
            raise RuntimeError(
                f"dilation should be greater than zero{', but got' if value == 0 else '. Got'} "
                f"{list(dilation * ndim if len(dilation) == 1 else dilation)}")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    return 0


cdef int _check_shapes(conv_t* p, x, w, bias, int ndim) except -1:
    cdef long channels = cnp.PyArray_DIM(w, 1)
    cdef list shape = [str(v) for v in (<object>w).shape]
    size = "[" + ", ".join(shape) + "]"
    if p.oc < p.groups:
        raise RuntimeError(
            f"Given groups={p.groups}, expected weight to be at least {p.groups} at dimension 0, "
            f"but got weight of size {size} instead")
    if p.oc % p.groups:
        raise RuntimeError(
            f"Given groups={p.groups}, expected weight to be divisible by {p.groups} at "
            f"dimension 0, but got weight of size [{size}] instead")
    if p.c != channels * p.groups:
        raise RuntimeError(
            f"Given groups={p.groups}, weight of size {size}, expected input"
            f"{list((<object>x).shape)} to have {channels * p.groups} channels, but got {p.c} "
            "channels instead")
    if bias is not None and (<object>bias).shape != (p.oc,):
        raise RuntimeError(
            f"Given weight of size {size}, expected bias to be 1-dimensional with {p.oc} "
            f"elements, but got bias of size {list((<object>bias).shape)} instead")
    if p.kh <= 0 or p.kw <= 0:
        raise RuntimeError(
            "kernel size should be greater than zero, but got kernel_height: "
            f"{p.kh} kernel_width: {p.kw}")
    size = [<object>p.h + 2 * <object>p.top, <object>p.w + 2 * <object>p.left]
    reach = [<object>p.dh * (p.kh - 1) + 1, <object>p.dw * (p.kw - 1) + 1]
    if size[0] < reach[0] or size[1] < reach[1]:
        padded, kernel = [" x ".join(map(str, lengths[2 - ndim:])) for lengths in (size, reach)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({padded}). Kernel size: ({kernel}). "
            "Kernel size can't be greater than actual input size")
    if p.h == 0 or p.w == 0:
        raise RuntimeError(
            "Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list((<object>x).shape)}")
    if p.oh <= 0 or p.ow <= 0:
        raise MemoryError(f"conv: no memory for an input that is padded to {size[2 - ndim:]}")
    return 0


cdef int _check_dtypes(conv_t* p, cnp.ndarray x, cnp.ndarray w, bias) except -1:
    cdef int kind = cnp.PyArray_TYPE(x)
    if cnp.PyArray_TYPE(w) != kind:
        if _worded_otherwise(x, w, p.groups):
            raise RuntimeError(
                f"Input type ({tensor_type(x.dtype)}) and weight type "
                f"({tensor_type(w.dtype)}) should be the same or input "
                "should be a MKLDNN tensor and weight is a dense tensor")
        raise errors.dtypes.expected_scalar(x.dtype, w.dtype)
    if bias is not None and cnp.PyArray_TYPE(<cnp.ndarray>bias) != kind:
        raise bias_dtype_error(x.dtype, bias.dtype)
    cdef bint dilated = p.dh > 1 or p.dw > 1
    if kind == cnp.NPY_BOOL or (dilated and cnp.PyArray_ISINTEGER(x) and kind != cnp.NPY_INT64):
        raise errors.dtypes.not_implemented(
            "slow_conv_dilated<>" if dilated else "slow_conv2d_cpu", x.dtype)
    return 0


# ---- dtypes without loops ------------------------------------------------------------------------


cdef object _windows(x, conv_t* p):
    """A view of the padded input: (n, groups, cg, oh, ow, kh, kw)."""
    wide = ((0, 0), (0, 0), (p.top, p.bottom), (p.left, p.right))
    padded = np.pad(x.reshape(p.n, p.c, p.h, p.w), wide)
    n, c, h, w = padded.strides
    shape = (p.n, p.groups, p.c // p.groups, p.oh, p.ow, p.kh, p.kw)
    factors = (p.sh, p.sw, p.dh, p.dw)      # of any size if there is only one window
    walks = [0 if shape[3 + i] == 1 else factors[i] * (h, w)[i % 2] for i in range(4)]
    steps = (n, c * (p.c // p.groups), c, *walks)
    return np.lib.stride_tricks.as_strided(padded, shape, steps)


cdef object _forward_any(x, w, bias, conv_t* p):
    """Integers, and complex numbers: one einsum over windows."""
    split = w.reshape(p.groups, p.oc // p.groups, p.c // p.groups, p.kh, p.kw)
    out = np.einsum("ngcyxij,gocij->ngoyx", _windows(x, p), split, optimize=True)
    out = out.reshape(p.n, p.oc, p.oh, p.ow)
    if bias is not None:
        out = out + bias.reshape(-1, 1, 1)
    return np.ascontiguousarray(out, x.dtype)


cdef object _grad_weight_any(grad, x, shape, conv_t* p):
    split = grad.reshape(p.n, p.groups, p.oc // p.groups, p.oh, p.ow)
    out = np.einsum("ngcyxij,ngoyx->gocij", _windows(x, p).conj(), split, optimize=True)
    return np.ascontiguousarray(out.reshape(shape), x.dtype)


cdef object _grad_input_any(grad, w, shape, conv_t* p):
    split = grad.reshape(p.n, p.groups, p.oc // p.groups, p.oh, p.ow)
    turned = w.conj().reshape(p.groups, p.oc // p.groups, p.c // p.groups, p.kh, p.kw)
    high, wide = p.h + p.top + p.bottom, p.w + p.left + p.right
    padded = np.zeros((p.n, p.groups, p.c // p.groups, high, wide), grad.dtype)
    for ky in range(p.kh):
        for kx in range(p.kw):
            y, i = ky * p.dh, kx * p.dw
            window = padded[..., y:y + p.oh * p.sh:p.sh, i:i + p.ow * p.sw:p.sw]
            window += np.einsum("ngoyx,goc->ngcyx", split, turned[..., ky, kx], optimize=True)
    padded = padded[..., p.top:p.top + p.h, p.left:p.left + p.w]
    return np.ascontiguousarray(padded).reshape(shape)


# ---- images shared between threads ---------------------------------------------------------------


cdef enum Work:
    FORWARD
    GRAD_INPUT
    GRAD_WEIGHT

cdef struct share_t:
    const conv_t* p
    Work work
    int wide
    const char* left        # the input; for the input's gradient, the output's
    const char* right       # the weight; for the weight's gradient, the output's
    const char* bias
    char* out
    long left_step          # bytes per image of each of the three
    long right_step
    long out_step
    long pieces             # GRAD_WEIGHT: each piece of the batch has its own result
    int failed


cdef void _images(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef share_t* s = <share_t*>ctx
    cdef conv_t q = s.p[0]
    cdef int rc = 0
    cdef long i, first
    if s.work == GRAD_WEIGHT:
        for i in range(begin, end):
            first = i * s.p.n // s.pieces
            q.n = (i + 1) * s.p.n // s.pieces - first
            rc |= conv_grad_weight(&q, s.wide, s.right + first * s.right_step,
                                   s.left + first * s.left_step, s.out + i * s.out_step)
    else:
        q.n = end - begin
        if s.work == FORWARD:
            rc = conv_forward(&q, s.wide, s.left + begin * s.left_step, s.right, s.bias,
                              s.out + begin * s.out_step)
        else:
            rc = conv_grad_input(&q, s.wide, s.left + begin * s.left_step, s.right,
                                 s.out + begin * s.out_step)
    if rc:
        s.failed = 1


cdef long _grain(const conv_t* p) noexcept nogil:
    """Images that are worth waking a thread for: about two million multiplications."""
    cdef long each = p.oc * p.oh * p.ow * (p.c // p.groups) * p.kh * p.kw
    return 1 + 2000000 // (each + 1)


cdef void _sum_pieces(const char* pieces, long count, long size, int wide,
                      char* out) noexcept nogil:
    cdef long i, k
    for k in range(size):
        if wide:
            (<double*>out)[k] = (<double*>pieces)[k]
        else:
            (<float*>out)[k] = (<float*>pieces)[k]
    for i in range(1, count):
        for k in range(size):
            if wide:
                (<double*>out)[k] += (<double*>pieces)[i * size + k]
            else:
                (<float*>out)[k] += (<float*>pieces)[i * size + k]


cdef int _run(share_t* s) except -1:
    """Do the work on all images, on several threads if it is large."""
    cdef const conv_t* p = s.p
    cdef long item = 8 if s.wide else 4, grain = _grain(p), size
    cdef char* out = s.out
    s.failed = 0
    with nogil:
        if s.work != GRAD_WEIGHT:
            parallel_for(p.n, grain, _images, s)
        else:
            s.pieces = min(num_threads(), p.n // grain)
            if s.pieces <= 1:
                s.pieces = 1
                _images(s, 0, 1)
            else:
                size = p.oc * (p.c // p.groups) * p.kh * p.kw
                s.out_step = size * item
                s.out = <char*>malloc(s.pieces * s.out_step)
                if s.out == NULL:
                    s.failed = 1
                else:
                    parallel_for(s.pieces, 1, _images, s)
                    _sum_pieces(s.out, s.pieces, size, s.wide, out)
                    free(s.out)
    if s.failed:
        raise MemoryError("conv: no memory for the scratch buffer")
    return 0


# ---- kernels -------------------------------------------------------------------------------------


cdef bint _is_last(cnp.ndarray x, cnp.ndarray weight) noexcept:
    """Whether the input or weight has channels last; lines count as row-major."""
    lines = cnp.PyArray_NDIM(x) == 3 and not cnp.PyArray_IS_C_CONTIGUOUS(x)
    return lines_are_last(weight) or (not lines and lines_are_last(x))


cdef object _new(tuple shape, int kind):
    cdef cnp.npy_intp[4] dims
    cdef int i, n = len(shape)
    for i in range(n):
        dims[i] = shape[i]
    return empty(kind, n, dims)


def result_shape(x, weight, tuple stride, tuple padding, tuple dilation, long groups):
    """The shape of a convolution. Raises RuntimeError if the arguments do not fit together."""
    cdef conv_t p
    cdef int ndim = cnp.PyArray_NDIM(<cnp.ndarray>x) - 2
    _check_arguments(x, weight, ndim, stride, padding, dilation, groups)
    _geometry(&p, cnp.PyArray_DIMS(<cnp.ndarray>x), cnp.PyArray_DIMS(<cnp.ndarray>weight), ndim,
              stride, padding, dilation, groups)
    _check_shapes(&p, x, weight, None, ndim)
    channels = 0 if p.c == 0 else p.oc
    if ndim == 1:
        return p.n, channels, p.ow
    return p.n, channels, p.oh, p.ow


cdef void _bring(share_t* s, const conv_t* p, Work work, cnp.ndarray left, cnp.ndarray right,
                 cnp.ndarray out) noexcept:
    """Fill in `s`, except the bias."""
    cdef long item = cnp.PyArray_ITEMSIZE(out)
    cdef long image = p.c * p.h * p.w * item, output = p.oc * p.oh * p.ow * item
    s.p, s.work, s.wide, s.bias = p, work, item == 8, NULL
    s.left = <const char*>cnp.PyArray_DATA(left)
    s.right = <const char*>cnp.PyArray_DATA(right)
    s.out = <char*>cnp.PyArray_DATA(out)
    s.left_step = output if work == GRAD_INPUT else image
    s.right_step = output if work == GRAD_WEIGHT else 0
    s.out_step = output if work == FORWARD else image if work == GRAD_INPUT else 0


cdef object convolve(
        x, weight, bias, tuple stride, tuple padding, tuple dilation, long groups):
    """Convolve (n, c, w) with (oc, c / groups, kw), or likewise in two dimensions."""
    cdef conv_t p
    cdef cnp.npy_intp[4] dims
    cdef share_t share
    cdef int i, kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    cdef int ndim = cnp.PyArray_NDIM(<cnp.ndarray>x) - 2
    cdef bint last
    cdef cnp.ndarray image, w, out
    cdef void* b = NULL
    _check_arguments(x, weight, ndim, stride, padding, dilation, groups)
    _geometry(&p, cnp.PyArray_DIMS(<cnp.ndarray>x), cnp.PyArray_DIMS(<cnp.ndarray>weight), ndim,
              stride, padding, dilation, groups)
    if (p.oc < groups or p.oc % groups or p.c != cnp.PyArray_DIM(<cnp.ndarray>weight, 1) * groups
            or p.kh <= 0 or p.kw <= 0 or p.oh <= 0 or p.ow <= 0 or p.h == 0 or p.w == 0
            or (bias is not None and (cnp.PyArray_NDIM(<cnp.ndarray>bias) != 1
                                      or cnp.PyArray_DIM(<cnp.ndarray>bias, 0) != p.oc))):
        _check_shapes(&p, x, weight, bias, ndim)
    _check_dtypes(&p, x, weight, bias)
    dims[0] = p.n
    dims[1] = 0 if p.c == 0 else p.oc               # as in PyTorch
    dims[2] = p.ow if ndim == 1 else p.oh
    dims[3] = p.ow
    if p.n == 0 or p.c == 0:
        return empty(kind, ndim + 2, dims)
    if kind == cnp.NPY_FLOAT16:
        result = convolve(cast(x, np.float32), cast(weight, np.float32),
                          None if bias is None else cast(bias, np.float32),
                          stride, padding, dilation, groups)
        return cast(result, np.float16)
    last = _is_last(x, weight)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        result = _forward_any(x, weight, bias, &p)
        result = result.reshape([dims[i] for i in range(ndim + 2)])
        return as_channels_last(result) if last else result
    image = contiguous(x)
    w = contiguous(weight)
    if bias is not None:
        bias = contiguous(bias)
        b = cnp.PyArray_DATA(<cnp.ndarray>bias)
    out = empty(kind, ndim + 2, dims)
    _bring(&share, &p, FORWARD, image, w, out)
    share.bias = <const char*>b
    _run(&share)
    return as_channels_last(out) if last else out


def grad_input(
        grad, x, weight, tuple stride, tuple padding, tuple dilation, long groups):
    """Return the gradient of x, of which only shape and memory order are read."""
    cdef conv_t p
    cdef tuple shape = (<object>x).shape
    cdef share_t share
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    cdef cnp.ndarray g, w, out
    if kind == cnp.NPY_FLOAT16:
        return cast(grad_input(cast(grad, np.float32), x, cast(weight, np.float32), stride, padding,
                               dilation, groups), np.float16)
    _geometry(&p, cnp.PyArray_DIMS(<cnp.ndarray>x), cnp.PyArray_DIMS(<cnp.ndarray>weight),
              cnp.PyArray_NDIM(<cnp.ndarray>x) - 2, stride, padding, dilation, groups)
    if p.n == 0 or p.c == 0:
        return np.zeros(shape, grad.dtype)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        return _grad_input_any(grad, weight, shape, &p)
    last = _is_last(x, weight)
    g = contiguous(grad)
    w = contiguous(weight)
    out = _new(shape, kind)
    _bring(&share, &p, GRAD_INPUT, g, w, out)
    _run(&share)
    return as_channels_last(out) if last else out


def grad_weight(grad, x, weight, tuple stride, tuple padding, tuple dilation, long groups):
    """Return the gradient of weight, of which only shape and memory order are read."""
    cdef conv_t p
    cdef tuple shape = (<object>weight).shape
    cdef share_t share
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    cdef cnp.ndarray g, image, out
    if kind == cnp.NPY_FLOAT16:
        return cast(grad_weight(cast(grad, np.float32), cast(x, np.float32), weight, stride,
                                padding, dilation, groups), np.float16)
    _geometry(&p, cnp.PyArray_DIMS(<cnp.ndarray>x), cnp.PyArray_DIMS(<cnp.ndarray>weight),
              cnp.PyArray_NDIM(<cnp.ndarray>x) - 2, stride, padding, dilation, groups)
    if p.n == 0 or p.c == 0:
        return np.zeros(shape, grad.dtype)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        return _grad_weight_any(grad, x, shape, &p)
    last = _is_last(x, weight)
    g = contiguous(grad)
    image = contiguous(x)
    out = _new(shape, kind)
    _bring(&share, &p, GRAD_WEIGHT, image, g, out)
    _run(&share)
    return as_channels_last(out) if last else out


cdef object _convolution(Operator op, keyset_t keys, PyObject** args):
    """Called from C: with few elements, a Python call would take half of the time."""
    return deliver(op, convolve(
        array_of(args[0]), array_of(args[1]), array_or_none(args[2]), <tuple>args[3],
        <tuple>args[4], <tuple>args[5], PyLong_AsLong(args[6])), args)


convolution = CKernel.new(_convolution)
