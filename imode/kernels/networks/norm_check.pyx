"""Checks of the arguments of batch, layer and group normalisation, in PyTorch's order."""

cimport numpy as cnp
from imode._core.dtype cimport BFLOAT16, typenum_of

from imode import errors

cnp.import_array()


cdef bint _is_narrow(int kind) noexcept:
    return kind == cnp.NPY_FLOAT16 or kind == typenum_of[<int>BFLOAT16]


cdef int _check_mixture(cnp.ndarray x, tuple others) except -1:
    """Parameters share the input's dtype; float32 ones may go with one of 16 bits."""
    cdef int kind = cnp.PyArray_TYPE(x), given = kind
    for other in others:
        if other is not None:
            given = cnp.PyArray_TYPE(<cnp.ndarray>other)
            break
    if given == kind:
        return 0
    for other in others:
        if other is not None and cnp.PyArray_TYPE(<cnp.ndarray>other) != cnp.NPY_FLOAT:
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if not _is_narrow(kind):
        raise errors.dtypes.mixed()
    return 0


cdef int _check_kind(str kernel, cnp.ndarray x) except -1:
    cdef int kind = cnp.PyArray_TYPE(x)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE and not _is_narrow(kind):
        raise errors.dtypes.not_implemented(kernel, x.dtype)
    return 0


cdef int _check_dtypes(str kernel, cnp.ndarray x, tuple others) except -1:
    cdef int kind = cnp.PyArray_TYPE(x)
    _check_kind(kernel, x)
    for other in others:
        if (other is not None and not _is_narrow(kind)
                and cnp.PyArray_TYPE(<cnp.ndarray>other) != kind):
            raise errors.dtypes.mixed()
    return 0


cdef int _check_parameters(str kernel, cnp.ndarray x, weight, bias) except -1:
    """After `_check_mixture`: the bias must have the weight's dtype."""
    _check_kind(kernel, x)
    if weight is not None and bias is not None and weight.dtype != bias.dtype:
        raise errors.dtypes.expected_scalar(weight.dtype, bias.dtype)
    return 0


cdef int _check_length(str name, a, long n) except -1:
    if a is not None and cnp.PyArray_SIZE(<cnp.ndarray>a) != n:
        raise RuntimeError(f"{name} should contain {n} elements not {a.size}")
    return 0


cdef int _check_running(str name, running, long n, bint training) except -1:
    if running is None and not training:
        raise RuntimeError(f"{name} must be defined in evaluation mode")
    return _check_length(name, running, n)


cdef int check_batch_norm(cnp.ndarray x, weight, bias, running_mean, running_var,
                          bint training) except -1:
    cdef long n = cnp.PyArray_DIM(x, 1) if cnp.PyArray_NDIM(x) > 1 else 0
    _check_running("running_mean", running_mean, n, training)
    _check_running("running_var", running_var, n, training)
    _check_length("weight", weight, n)
    _check_length("bias", bias, n)
    if cnp.PyArray_NDIM(x) < 2:
        raise (errors.shapes.dim_out_of_range(1, 1) if cnp.PyArray_NDIM(x)
               else errors.shapes.needs_channels(0))
    _check_dtypes("batch_norm", x, (weight, bias, running_mean, running_var))
    return 0


cdef int _check_shape(str name, a, tuple shape) except -1:
    if a is not None and a.shape != shape:
        raise RuntimeError(
            f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
            f"{list(a.shape)} and normalized_shape = {list(shape)}")
    return 0


cdef int check_layer_norm(cnp.ndarray x, tuple shape, weight, bias) except -1:
    cdef int i, lead = cnp.PyArray_NDIM(x) - <int>len(shape)
    cdef bint fits = lead >= 0
    _check_mixture(x, (weight, bias))
    if len(shape) == 0:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
            "one element, but got normalized_shape = []")
    _check_shape("weight", weight, shape)
    _check_shape("bias", bias, shape)
    if fits:
        for i in range(len(shape)):
            if cnp.PyArray_DIM(x, lead + i) != <long>shape[i]:
                fits = False
    if not fits:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"[*, {', '.join([str(n) for n in shape])}], but got input of size"
            f"{list((<object>x).shape)}")
    _check_parameters("LayerNormKernelImpl", x, weight, bias)
    return 0


cdef int check_group_norm(cnp.ndarray x, weight, bias, long groups) except -1:
    cdef long n
    if cnp.PyArray_NDIM(x) < 2:
        raise (errors.shapes.dim_out_of_range(1, 1) if cnp.PyArray_NDIM(x)
               else errors.shapes.no_dimensions(0))
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    n = cnp.PyArray_DIM(x, 1)
    if n % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input "
            f"of shape {list((<object>x).shape)} and num_groups={groups}")
    if weight is not None or bias is not None:
        for name, a in (("weight", weight), ("bias", bias)):
            if a is not None and (a.ndim != 1 or a.size != n):
                # For either, PyTorch shows the weight's shape.
                shown = [0] if weight is None else weight.shape
                raise RuntimeError(
                    f"Expected {name} to be a vector of size equal to the number of channels in "
                    f"input, but got {name} of shape {list(shown)} and input of shape "
                    f"{list((<object>x).shape)}")
        _check_mixture(x, (weight, bias))
    _check_parameters("GroupNormKernelImpl", x, weight, bias)
    return 0
