"""Fast cases of functions of `imode.nn.functional` that are Python functions, not operators.

As those of composite operators: they serve arguments that need no rule and no message, by calling
the same operators; for anything else they give NotImplemented, and the function goes on.
"""
cimport numpy as cnp
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from imode._core.allocator cimport Fields
from imode._core.dispatch cimport MAX_ARGS, Operator, call, operator
from imode._core.tensor cimport is_tensor
from imode.kernels.fast_guards cimport (
    SAFE, PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyLong_CheckExact, _array, _count, _integer,
    _row_major)
from libc.stdint cimport int64_t

cnp.import_array()

cdef object _yes = True
cdef object _no = False


cdef inline Operator _called(list names, Py_ssize_t i):
    """The i-th of the operators, found when first needed."""
    cdef object found = names[i]
    if type(found) is not Operator:
        found = names[i] = operator(found)
    return <Operator>found


cdef inline bint _tensor(object value) noexcept:
    return is_tensor(<PyObject*>value)


cdef inline bint _tensor_or_none(object value) noexcept:
    return value is None or is_tensor(<PyObject*>value)


cdef inline bint _bool(object value) noexcept:
    return value is True or value is False


# ---- other sizes --------------------------------------------------------------------------------

# Of each mode, where its operators begin, and how many dimensions of space it needs, or 0.
cdef dict _modes = {
    "nearest": (0, 0), "nearest-exact": (3, 0), "linear": (6, 1), "bilinear": (6, 2),
    "trilinear": (6, 3), "bicubic": (8, 2)}
cdef list _resampling = [
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "upsample_linear1d",
    "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"]


cdef tuple _repeated(object value, int n):
    """A value for each dimension: a tuple of so many, or one value; else None."""
    if PyTuple_CheckExact(value):
        return <tuple>value if PyTuple_GET_SIZE(value) == n else None
    return (value,) * n


cdef tuple _whole(object size, int n):
    """A size as a tuple of small ints, or None."""
    cdef tuple sizes = _repeated(size, n)
    cdef int64_t one
    cdef int k
    for k in range(n if sizes is not None else 0):
        if not _integer(PyTuple_GET_ITEM(sizes, k), &one):
            return None
    return sizes


cdef tuple _scaled(Fields* x, tuple factors, int n):
    """The size that factors give, or None."""
    cdef int64_t[3] size
    cdef double by
    cdef int k
    for k in range(n):
        if PyFloat_CheckExact(PyTuple_GET_ITEM(factors, k)):
            by = x.dimensions[2 + k] * PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(factors, k))
            if not 0 < by < SAFE:
                return None
            size[k] = <int64_t>by
        elif _integer(PyTuple_GET_ITEM(factors, k), &size[k]):
            size[k] *= x.dimensions[2 + k]
        else:
            return None
    return tuple([size[k] for k in range(n)])


def interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias):
    """interpolate() by the nearest elements, linear or cubic, by a size or by factors."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef PyObject* how
    cdef Fields* x
    cdef tuple sizes, factors = None
    cdef int n, k, at = 2, first
    if not _tensor(input) or not PyUnicode_CheckExact(mode) or antialias is not False or (
            recompute_scale_factor is not None or (size is None) == (scale_factor is None)):
        return NotImplemented
    x = _array(<PyObject*>input)
    n = x.nd - 2
    how = PyDict_GetItem(_modes, mode)
    if how == NULL or not 1 <= n <= 3:
        return NotImplemented
    first = (<tuple>how)[0]
    k = (<tuple>how)[1]
    if k and k != n or align_corners is not None and (not k or not _bool(align_corners)):
        return NotImplemented
    if size is not None:
        sizes = _whole(size, n)
    else:
        factors = _repeated(scale_factor, n)
        sizes = None if factors is None else _scaled(x, factors, n)
    if sizes is None:
        return NotImplemented
    values[0], values[1] = <PyObject*>input, <PyObject*>sizes
    if k:
        at = 3
        values[2] = <PyObject*>_yes if align_corners is True else <PyObject*>_no
    for k in range(n):
        values[at + k] = <PyObject*>None if factors is None else PyTuple_GET_ITEM(factors, k)
    values[at + n] = NULL
    return call(_called(_resampling, first + n - 1), values)


# ---- windows as columns -------------------------------------------------------------------------

cdef list _windows = ["im2col", "col2im"]


def unfold(input, kernel_size, dilation, padding, stride):
    """unfold()"""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef tuple kernel = _whole(kernel_size, 2), between = _whole(dilation, 2)
    cdef tuple around = _whole(padding, 2), step = _whole(stride, 2)
    if not _tensor(input) or kernel is None or between is None or around is None or step is None:
        return NotImplemented
    values[0], values[1], values[2] = <PyObject*>input, <PyObject*>kernel, <PyObject*>between
    values[3], values[4], values[5] = <PyObject*>around, <PyObject*>step, NULL
    return call(_called(_windows, 0), values)


def fold(input, output_size, kernel_size, dilation, padding, stride):
    """fold()"""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef tuple size = _whole(output_size, 2), kernel = _whole(kernel_size, 2)
    cdef tuple between = _whole(dilation, 2), around = _whole(padding, 2), step = _whole(stride, 2)
    if not _tensor(input) or size is None or kernel is None or between is None or (
            around is None or step is None):
        return NotImplemented
    values[0], values[1], values[2] = <PyObject*>input, <PyObject*>size, <PyObject*>kernel
    values[3], values[4], values[5] = <PyObject*>between, <PyObject*>around, <PyObject*>step
    values[6] = NULL
    return call(_called(_windows, 1), values)


# ---- normalisation, embeddings ------------------------------------------------------------------

cdef list _others = ["instance_norm", "embedding_bag.padding_idx", "native_group_norm"]
cdef dict _bag_modes = {"sum": 0, "mean": 1, "max": 2}


def instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps):
    """instance_norm() of channels of several values"""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef Fields* x
    if not _tensor(input) or not _tensor_or_none(running_mean) or (
            not _tensor_or_none(running_var) or not _tensor_or_none(weight)
            or not _tensor_or_none(bias) or not _bool(use_input_stats)
            or not PyFloat_CheckExact(<PyObject*>momentum)
            or not PyFloat_CheckExact(<PyObject*>eps)):
        return NotImplemented
    x = _array(<PyObject*>input)
    if x.nd < 3 or _count(x, 2, x.nd) <= 1:
        return NotImplemented
    values[0], values[1], values[2] = <PyObject*>input, <PyObject*>weight, <PyObject*>bias
    values[3], values[4] = <PyObject*>running_mean, <PyObject*>running_var
    values[5], values[6] = <PyObject*>use_input_stats, <PyObject*>momentum
    values[7], values[8], values[9] = <PyObject*>eps, <PyObject*>_no, NULL
    return call(_called(_others, 0), values)


cdef inline bint _packed(object value) noexcept:
    """Whether it is None, or a tensor in the order of its dimensions."""
    return value is None or is_tensor(<PyObject*>value) and _row_major(_array(<PyObject*>value))


def group_norm(input, num_groups, weight, bias, eps):
    """group_norm() of packed samples, with several values in a group"""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef Fields* x
    cdef int64_t groups
    cdef object samples, channels, size
    if not _tensor(input) or not _packed(input) or not _packed(weight) or not _packed(bias) or (
            not _integer(<PyObject*>num_groups, &groups)
            or not PyFloat_CheckExact(<PyObject*>eps)):
        return NotImplemented
    x = _array(<PyObject*>input)
    if x.nd < 2 or groups <= 0 or _count(x, 0, x.nd) < 2 * groups:
        return NotImplemented
    samples, channels, size = x.dimensions[0], x.dimensions[1], _count(x, 2, x.nd)
    values[0], values[1], values[2] = <PyObject*>input, <PyObject*>weight, <PyObject*>bias
    values[3], values[4] = <PyObject*>samples, <PyObject*>channels
    values[5], values[6] = <PyObject*>size, <PyObject*>num_groups
    values[7], values[8] = <PyObject*>eps, NULL
    return (<tuple>call(_called(_others, 2), values))[0]


def embedding_bag(input, weight, offsets, max_norm, scale_grad_by_freq, mode, sparse,
                  per_sample_weights, include_last_offset, padding_idx):
    """embedding_bag() of a vector of indices with offsets"""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef PyObject* number
    cdef bint plain = scale_grad_by_freq is False and sparse is False
    if not _tensor(input) or not _tensor(weight) or not _tensor(offsets) or (
            max_norm is not None or not _bool(scale_grad_by_freq) or not _bool(sparse)
            or not PyUnicode_CheckExact(mode) or not _bool(include_last_offset)
            or padding_idx is not None and not PyLong_CheckExact(<PyObject*>padding_idx)):
        return NotImplemented
    number = PyDict_GetItem(_bag_modes, mode)
    if number == NULL or _array(<PyObject*>input).nd != 1 or _array(<PyObject*>weight).nd != 2 or (
            _array(<PyObject*>offsets).nd != 1 or per_sample_weights is not None
            or not cnp.PyTypeNum_ISINTEGER(_array(<PyObject*>input).descr.type_num)
            or (not plain and mode == "max")):
        return NotImplemented
    values[0], values[1], values[2] = <PyObject*>weight, <PyObject*>input, <PyObject*>offsets
    values[3], values[4], values[5] = <PyObject*>scale_grad_by_freq, number, <PyObject*>sparse
    values[6], values[7] = <PyObject*>None, <PyObject*>include_last_offset
    values[8], values[9] = <PyObject*>padding_idx, NULL
    return (<tuple>call(_called(_others, 1), values))[0]
