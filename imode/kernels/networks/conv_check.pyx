"""The geometry of convolutions and the checks of their arguments."""

cimport numpy as cnp
from libc.limits cimport LONG_MAX

from imode import errors
from imode._core.type_names import c_name, tensor_type

cnp.import_array()

cdef long MOST_PADDING = LONG_MAX // 2


# ---- geometry ------------------------------------------------------------------------------------


cdef inline int _spread(tuple values, int ndim, long missing, long* z, long* y, long* x) except -1:
    """Unpack a per-dimension tuple; dimensions that are not there have `missing`."""
    cdef int count = <int>len(values)
    z[0] = y[0] = missing
    x[0] = values[count - 1]
    if ndim > 1:
        y[0] = values[count - 2] if count > 1 else x[0]
    if ndim > 2:
        z[0] = values[0]
    return 0


cdef inline void _space(cnp.ndarray a, long* z, long* y, long* x) noexcept:
    """The sizes from the third dimension on; 1 for those that are not there."""
    cdef int ndim = cnp.PyArray_NDIM(a)
    x[0] = cnp.PyArray_DIM(a, ndim - 1)
    y[0] = cnp.PyArray_DIM(a, ndim - 2) if ndim > 3 else 1
    z[0] = cnp.PyArray_DIM(a, ndim - 3) if ndim > 4 else 1


cdef inline bint _is_countable(const conv_t* p) noexcept:
    """Whether 64 bits hold the size in bytes of all that the loops need, unfolded and padded."""
    cdef double volume = (p.d + 2.0 * p.front + p.dd * (p.kd - 1.0)) * (
        p.h + 2.0 * p.top + p.dh * (p.kh - 1.0)) * (p.w + 2.0 * p.left + p.dw * (p.kw - 1.0))
    return volume * (p.oc + 1.0 + <double>p.c * p.kd * p.kh * p.kw) < 1e17


cdef inline long _windows(long size, long padding, long dilation, long kernel,
                          long stride) noexcept:
    cdef long room = size + 2 * padding - dilation * (kernel - 1) - 1
    return room // stride + 1 if room >= 0 else 0


cdef inline double _grown(long count, long stride, long padding, long dilation, long kernel,
                          long more) noexcept:
    """The size that a transposed convolution gives a dimension."""
    return (count - 1.0) * stride - 2.0 * padding + <double>dilation * (kernel - 1) + more + 1


cdef inline long _end(long count, long stride, long dilation, long kernel, long size,
                      long begin) noexcept:
    """What is added after a dimension so that its windows end where the last one does."""
    return (count - 1) * stride + dilation * (kernel - 1) + 1 - size - begin


cdef int geometry(conv_t* p, cnp.ndarray x, cnp.ndarray w, tuple rest) except -1:
    cdef int ndim = cnp.PyArray_NDIM(x) - 2
    cdef bint transposed = rest[3] is True
    cdef long mz, my, mx
    cdef double sz, sy, sx
    p.n = cnp.PyArray_DIM(x, 0)
    p.groups = rest[5]
    p.oc = cnp.PyArray_DIM(w, 0)
    _space(w, &p.kd, &p.kh, &p.kw)
    _spread(rest[0], ndim, 1, &p.sd, &p.sh, &p.sw)
    _spread(rest[1], ndim, 0, &p.front, &p.top, &p.left)
    _spread(rest[2], ndim, 1, &p.dd, &p.dh, &p.dw)
    p.back, p.bottom, p.right = p.front, p.top, p.left
    if not transposed:
        p.c = cnp.PyArray_DIM(x, 1)
        _space(x, &p.d, &p.h, &p.w)
        p.od = p.oh = p.ow = 0
        if _is_countable(p):
            p.od = _windows(p.d, p.front, p.dd, p.kd, p.sd)
            p.oh = _windows(p.h, p.top, p.dh, p.kh, p.sh)
            p.ow = _windows(p.w, p.left, p.dw, p.kw, p.sw)
        return 0
    p.c = cnp.PyArray_DIM(w, 1) * p.groups
    _space(x, &p.od, &p.oh, &p.ow)
    _spread(rest[4], ndim, 0, &mz, &my, &mx)
    sz = _grown(p.od, p.sd, p.front, p.dd, p.kd, mz)
    sy = _grown(p.oh, p.sh, p.top, p.dh, p.kh, my)
    sx = _grown(p.ow, p.sw, p.left, p.dw, p.kw, mx)
    p.d = p.h = p.w = 0
    if -1e17 < sz < 1e17 and -1e17 < sy < 1e17 and -1e17 < sx < 1e17:
        p.d, p.h, p.w = <long>sz, <long>sy, <long>sx
    if not _is_countable(p):
        p.d = p.h = p.w = 0
    p.back = _end(p.od, p.sd, p.dd, p.kd, p.d, p.front)
    p.bottom = _end(p.oh, p.sh, p.dh, p.kh, p.h, p.top)
    p.right = _end(p.ow, p.sw, p.dw, p.kw, p.w, p.left)
    return 0


cdef int result_dims(const conv_t* p, int ndim, bint transposed, cnp.npy_intp* dims) noexcept:
    dims[0] = p.n
    dims[1] = p.c if transposed else 0 if p.c == 0 else p.oc       # none of none, as in PyTorch
    if ndim > 2:
        dims[2] = p.d if transposed else p.od
    if ndim > 1:
        dims[ndim] = p.h if transposed else p.oh
    dims[ndim + 1] = p.w if transposed else p.ow
    return 0


# ---- checks of numbers ---------------------------------------------------------------------------


cdef int _check_list(str name, tuple values, int ndim) except -1:
    if len(values) != ndim and len(values) != 1:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {ndim} values to match the "
            f"convolution dimensions, but got {name}={list(values)}")
    return 0


cdef bint by_other_library(cnp.ndarray x, cnp.ndarray w, long groups) noexcept:
    cdef int n = cnp.PyArray_NDIM(w)
    return cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT and (
        cnp.PyArray_DIM(x, 0) > 1 or groups > 1 or cnp.PyArray_SIZE(x) > 20480
        or (n > 3 and cnp.PyArray_DIM(w, n - 1) > 3 and cnp.PyArray_DIM(w, n - 2) > 3))


cdef list _named(str name, tuple values, int ndim, missing):
    """["name_height: 1", ...] for one to three dimensions; lines are images of height 1."""
    given = values * ndim if len(values) == 1 else values
    given = (missing, *given) if ndim == 1 else given
    words = ("depth", "height", "width")[3 - len(given):]
    return [f"{name}_{word}: {value}" for word, value in zip(words, given)]


cdef int _raise_dilation(cnp.ndarray x, cnp.ndarray w, tuple rest, int ndim, long value) except -1:
    dilation = rest[2]
    if rest[3] is True:
        raise RuntimeError(
            "dilation should be greater than zero, but got "
            + ", ".join(_named("dilation", dilation, ndim, 1)))
    if ndim < 3 and by_other_library(x, w, rest[5]):
        raise RuntimeError("non-positive dilation is not supported")
    raise RuntimeError(
        f"dilation should be greater than zero{', but got' if value == 0 else '. Got'} "
        f"{list(dilation * ndim if len(dilation) == 1 else dilation)}")


cdef int _check_output_padding(tuple rest, int ndim) except -1:
    stride, _, dilation, _, more, _ = rest
    wide = [t * ndim if len(t) == 1 else t for t in (more, stride, dilation)]
    for value, step, reach in zip(*wide):
        if value >= step and value >= reach:
            parts = [*_named("output_padding", more, ndim, 0), *_named("stride", stride, ndim, 1),
                     *_named("dilation", dilation, ndim, 1)]
            raise RuntimeError(
                "output padding must be smaller than either stride or dilation, but got "
                + " ".join(parts))
    return 0


cdef bint _between(tuple values, int ndim, long least, long most) except -1:
    """Whether there is one value, or one for each dimension, and all are within bounds."""
    cdef Py_ssize_t k, n = len(values)
    cdef long value
    if n != 1 and n != ndim:
        return False
    for k in range(n):
        value = values[k]
        if not least <= value <= most:
            return False
    return True


cdef bint _fits(cnp.ndarray x, cnp.ndarray w, tuple rest) except -1:
    """Whether `_check_numbers` finds nothing."""
    cdef int ndim = cnp.PyArray_NDIM(x) - 2
    return 1 <= ndim <= 3 and cnp.PyArray_NDIM(w) == ndim + 2 and (
        _between(<tuple>rest[0], ndim, 1, LONG_MAX)
        and _between(<tuple>rest[1], ndim, 0, MOST_PADDING)
        and _between(<tuple>rest[2], ndim, 1, LONG_MAX)
        and (rest[3] is not True or _between(<tuple>rest[4], ndim, 0, LONG_MAX))
        and <long>rest[5] > 0)


cdef int _check_numbers(cnp.ndarray x, cnp.ndarray w, tuple rest) except -1:
    cdef int ndim = cnp.PyArray_NDIM(x) - 2, wanted = cnp.PyArray_NDIM(w) - 2
    stride, padding, dilation, transposed, more, groups = rest
    if wanted < 1:
        raise errors.shapes.flat_weight()
    _check_list("stride", stride, wanted)
    _check_list("padding", padding, wanted)
    _check_list("dilation", dilation, wanted)
    if transposed:
        _check_list("output_padding", more, wanted)
    if wanted > 3:
        raise RuntimeError(f"expected one to three dimensions of space, but got {wanted}")
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
    if transposed and min(more) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    for value in dilation:
        if value <= 0:
            _raise_dilation(x, w, rest, ndim, value)
    return 0


# ---- checks of shapes ----------------------------------------------------------------------------


cdef int _check_channels(conv_t* p, cnp.ndarray x, cnp.ndarray w, bias,
                         bint transposed) except -1:
    cdef long channels = p.oc if transposed else cnp.PyArray_DIM(w, 1) * p.groups
    cdef long given = cnp.PyArray_DIM(x, 1), made = p.c if transposed else p.oc
    size = str(list((<object>w).shape))
    if p.oc < p.groups:
        raise RuntimeError(
            f"Given groups={p.groups}, expected weight to be at least {p.groups} at dimension 0, "
            f"but got weight of size {size} instead")
    if p.oc % p.groups:
        raise RuntimeError(
            f"Given groups={p.groups}, expected weight to be divisible by {p.groups} at "
            f"dimension 0, but got weight of size [{size}] instead")
    how = "transposed=1" if transposed else f"groups={p.groups}"
    if given != channels:
        raise RuntimeError(
            f"Given {how}, weight of size {size}, expected input{list((<object>x).shape)} to have "
            f"{channels} channels, but got {given} channels instead")
    if bias is not None and (<object>bias).shape != (made,):
        how = "Given transposed=1, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{how} of size {size}, expected bias to be 1-dimensional with {made} "
            f"elements, but got bias of size {list((<object>bias).shape)} instead")
    if p.kd <= 0 or p.kh <= 0 or p.kw <= 0:
        named = f": {p.kd} x {p.kh} x {p.kw} (TxHxW)" if cnp.PyArray_NDIM(w) > 4 else (
            f" kernel_height: {p.kh} kernel_width: {p.kw}")
        raise RuntimeError("kernel size should be greater than zero, but got" + named)
    return 0


cdef int _check_sizes(conv_t* p, x, int ndim) except -1:
    """Of a convolution that is not transposed."""
    size = [<object>p.d + 2 * <object>p.front, <object>p.h + 2 * <object>p.top,
            <object>p.w + 2 * <object>p.left]
    reach = [<object>p.dd * (p.kd - 1) + 1, <object>p.dh * (p.kh - 1) + 1,
             <object>p.dw * (p.kw - 1) + 1]
    if size[0] < reach[0] or size[1] < reach[1] or size[2] < reach[2]:
        padded, kernel = [" x ".join(map(str, lengths[3 - ndim:])) for lengths in (size, reach)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({padded}). Kernel size: ({kernel}). "
            "Kernel size can't be greater than actual input size")
    _check_space(x)
    if p.od <= 0 or p.oh <= 0 or p.ow <= 0:
        raise MemoryError(f"conv: no memory for an input that is padded to {size[3 - ndim:]}")
    return 0


cdef int _check_space(x) except -1:
    if 0 in (<object>x).shape[2:]:
        raise RuntimeError(
            "Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list((<object>x).shape)}")
    return 0


cdef int _check_grown(conv_t* p, x, tuple rest, int ndim) except -1:
    """Of a transposed one."""
    cdef long mz, my, mx
    _spread(rest[4], ndim, 0, &mz, &my, &mx)
    if p.od == 0 or p.oh == 0 or p.ow == 0:
        _check_space(x)
    if p.n and not (mz < p.sd and my < p.sh and mx < p.sw):        # as in PyTorch
        _check_output_padding(rest, ndim)
    if p.d > 0 and p.h > 0 and p.w > 0:
        return 0
    made = [_grown(p.od, p.sd, p.front, p.dd, p.kd, mz), _grown(p.oh, p.sh, p.top, p.dh, p.kh, my),
            _grown(p.ow, p.sw, p.left, p.dw, p.kw, mx)]
    if min(made) >= 1:
        raise MemoryError(f"conv: no memory for a result of {[int(size) for size in made]}")
    first = 0 if ndim == 3 else 1                  # lines are images of height 1
    given = " x ".join(map(str, [p.od, p.oh, p.ow][first:]))
    found = " x ".join([str(int(size)) for size in made[first:]])
    raise errors.shapes.output_too_small(
        f" per channel: ({given})", f" per channel: ({found})")


cdef int checked_geometry(conv_t* p, cnp.ndarray x, cnp.ndarray w, bias, tuple rest) except -1:
    cdef int ndim = cnp.PyArray_NDIM(x) - 2
    cdef bint transposed = rest[3] is True
    if not _fits(x, w, rest):
        _check_numbers(x, w, rest)
    geometry(p, x, w, rest)
    if (p.oc < p.groups or p.oc % p.groups or p.kd <= 0 or p.kh <= 0 or p.kw <= 0
            or cnp.PyArray_DIM(x, 1) != (
                p.oc if transposed else cnp.PyArray_DIM(w, 1) * p.groups)
            or (bias is not None and (
                cnp.PyArray_NDIM(<cnp.ndarray>bias) != 1
                or cnp.PyArray_DIM(<cnp.ndarray>bias, 0) != (p.c if transposed else p.oc)))):
        _check_channels(p, x, w, bias, transposed)
    if transposed:
        _check_grown(p, x, rest, ndim)
    elif p.od <= 0 or p.oh <= 0 or p.ow <= 0 or p.d == 0 or p.h == 0 or p.w == 0:
        _check_sizes(p, x, ndim)
    return 0


# ---- checks of dtypes ----------------------------------------------------------------------------


def bias_dtype_error(x, bias):
    """The error for an input and a bias of different dtypes."""
    return RuntimeError(
        f"Input type ({c_name(x)}) and bias type ({c_name(bias)}) should be the same")


cdef int _raise_no_loop(int ndim, bint dilated, bint transposed, x) except -1:
    if transposed:
        name = f"slow_conv_transpose{max(ndim, 2)}d_out_cpu"
    elif dilated:
        name = "slow_conv_dilated<>"
    else:
        name = "compute_columns3d" if ndim == 3 else "slow_conv2d_cpu"
    raise errors.dtypes.not_implemented(name, x.dtype)


cdef int check_dtypes(conv_t* p, cnp.ndarray x, cnp.ndarray w, bias, bint transposed) except -1:
    cdef int kind = cnp.PyArray_TYPE(x)
    cdef bint dilated = p.dd > 1 or p.dh > 1 or p.dw > 1
    if cnp.PyArray_TYPE(w) != kind:
        if by_other_library(x, w, p.groups):
            raise RuntimeError(
                f"Input type ({tensor_type(x.dtype)}) and weight type "
                f"({tensor_type(w.dtype)}) should be the same or input "
                "should be a MKLDNN tensor and weight is a dense tensor")
        raise errors.dtypes.expected_scalar(x.dtype, w.dtype)
    if bias is not None and cnp.PyArray_TYPE(<cnp.ndarray>bias) != kind:
        raise bias_dtype_error(x.dtype, bias.dtype)
    if p.n == 0 and transposed:
        return 0
    if kind == cnp.NPY_BOOL or cnp.PyTypeNum_ISCOMPLEX(kind) or (
            (dilated or transposed) and cnp.PyArray_ISINTEGER(x) and kind != cnp.NPY_INT64):
        _raise_no_loop(cnp.PyArray_NDIM(x) - 2, dilated, transposed, x)
    return 0
