"""Kernels over ndarrays, and where results go.

A kernel written as a Python function over ndarrays knows nothing of tensors. `numpy_kernel` hands
it the arrays, and turns what it returns into new tensors, views, the written-to tensor of an
in-place call, or the out= tensors.
"""
import warnings

import numpy as np
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport empty, root
from imode._core.dispatch cimport (
    INPLACE, MAX_ARGS, OUT, TENSOR_LIST, VIEW, CKernel, Operator)
from imode._core.dtype cimport code_of, _can_cast, dtype_from_code, dtype_from_typenum
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.making cimport hold, replace_array, wrap, wrap_view
from imode._core.overlap cimport refuse_self_overlap
from imode._core.tensor cimport Tensor, is_tensor, storage
from numpy cimport ndarray, npy_intp

from imode._core.broadcast import broadcast_shape
from imode._core.words import c_name, scalar_name
from imode.errors import out_of_wrong_dtype

cnp.import_array()

cdef extern from "Python.h":
    object PyObject_Vectorcall(PyObject* f, PyObject** args, size_t n, PyObject* names)


cdef str type_str(int code):
    return scalar_name(dtype_from_code(code))


cdef str c_type_str(int code):
    return c_name(dtype_from_code(code))


cdef str _shape_str(int nd, npy_intp* dims):
    """As messages show it: "[2, 3]"."""
    return f"[{', '.join([str(dims[i]) for i in range(nd)])}]"


cdef object numpy_kernel(Operator op, keyset_t keys, PyObject** args):
    return run_numpy(op, (<CKernel>op.kernels[highest_key(keys)]).config, args)


def numpy_ckernel(function, where):
    """The CKernel of a Python function over ndarrays."""
    return CKernel.new(numpy_kernel, function, where, True)


cdef CKernel compiled_kernel(kernel_t fn, object function, object config=None):
    where = f"imode.ops.{function.__module__.rpartition('.')[2]}"
    return CKernel.new(fn, function if config is None else config, where, True)


cdef object run_numpy(Operator op, object function, PyObject** args):
    cdef PyObject* values[MAX_ARGS]
    cdef list keep = hold(args, op.nargs + 1)     # and the lists of arrays
    cdef int i
    for i in range(op.nargs):
        values[i] = args[i]
    for i in range(op.n_tensors):
        if is_tensor(args[op.tensors[i]]):
            values[op.tensors[i]] = (<Tensor>args[op.tensors[i]]).array
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            arrays = [storage(<Tensor>t) if t is not None else None
                      for t in <tuple>args[op.tensors[i]]]
            keep.append(arrays)
            values[op.tensors[i]] = <PyObject*>arrays
    try:
        result = PyObject_Vectorcall(<PyObject*>function, values, op.nargs, NULL)
    except ValueError as error:
        if "could not be broadcast" in str(error):    # NumPy's words for it
            if args[op.nargs] != NULL and op.role == INPLACE:
                refuse_self_overlap(<Tensor>args[0])
            _refuse_shapes(op, args)
        raise
    if op.role == VIEW:
        return _deliver_views(op, result, <Tensor>args[op.tensors[0]])
    if args[op.nargs] != NULL:
        return deliver_into(op, result, <object>args[op.nargs])
    if op.role == INPLACE:
        # The kernel wrote the storage itself, or gives the new geometry of a metadata operator.
        if result is not None:
            replace_array(<Tensor>args[0], result)
        return <object>args[0]
    return _deliver_new(op, result, args)


cdef int _refuse_shapes(Operator op, PyObject** args) except -1:
    """PyTorch's words for tensor arguments that do not broadcast, if any do not."""
    cdef int i
    broadcast_shape(*[
        (<object>(<Tensor>args[op.tensors[i]]).array).shape for i in range(op.n_tensors)
        if is_tensor(args[op.tensors[i]])])
    return 0


cdef object _deliver_new(Operator op, object result, PyObject** args):
    cdef tuple items
    if op.n_results == 1 and not isinstance(result, (tuple, list)):
        return wrap(_own(op, result, args))
    if op.n_results == 0:
        return result                 # a Python value: bool, number, ...
    items = tuple([None if item is None else wrap(_own(op, item, args)) for item in result])
    return items if op.result_type is None else op.result_type(items)


cdef bint _flat(ndarray array) noexcept:
    """Whether all strides are 0, as NumPy has them in a new array without elements."""
    cdef int i
    for i in range(array.ndim):
        if array.strides[i] != 0:
            return False
    return True


cdef ndarray _own(Operator op, object result, PyObject** args):
    """The result as an exact ndarray of a supported dtype that shares nothing with an input."""
    cdef ndarray array
    cdef PyObject* owner
    cdef PyObject* arg
    cdef int i
    if type(result) is not ndarray:
        result = np.asarray(result)
    array = <ndarray>result
    dtype_from_typenum(cnp.PyArray_TYPE(array))
    if cnp.PyArray_SIZE(array) == 0 and _flat(array):
        return empty(cnp.PyArray_TYPE(array), array.ndim, array.shape)
    owner = root(<PyObject*>array)
    for i in range(op.n_tensors):
        arg = args[op.tensors[i]]
        if is_tensor(arg) and root((<Tensor>arg).array) == owner:
            return array.copy()
    return array


cdef object _deliver_views(Operator op, object result, Tensor base):
    if type(result) is ndarray:
        return wrap_view(<ndarray>result, base)
    return tuple([wrap_view(<ndarray?>item, base) for item in result])


# ---- in-place and out= ----

cdef object deliver_into(Operator op, object result, object target):
    cdef Tensor tensor
    cdef ndarray array
    if isinstance(target, Tensor):
        if isinstance(result, tuple):
            raise TypeError(f"{op.name}(): expected a tuple of {len(result)} out tensors, got one")
        array = np.asarray(result)
        tensor = <Tensor>target
        if op.role != OUT:            # the shape before the dtype, unless it may change
            refuse_self_overlap(tensor)
            fit_target(op, tensor, array.ndim, array.shape, False)
        check_target(op, tensor, code_of[cnp.PyArray_TYPE(array)])
        _fit_alike(op, tensor, array, op.role == OUT)
        copy_into(tensor, array)
        return target
    arrays = [np.asarray(item) for item in result]
    if len(target) != len(arrays):
        raise TypeError(f"{op.name}() expected a tuple of {len(arrays)} elements but got "
                        f"{len(target)}")
    for place, (item, array) in enumerate(zip(target, arrays)):
        check_target(op, item, code_of[cnp.PyArray_TYPE(array)], False, place)
    for item, array in zip(target, arrays):
        _fit_alike(op, item, array, True)
        copy_into(item, array)
    return target if op.result_type is None else op.result_type(target)


cdef int _fit_alike(Operator op, Tensor target, ndarray result, bint resize) except -1:
    """Fit the target; one that had to be resized takes over the order of the result's strides."""
    cdef ndarray before = storage(target)
    cdef bint same = cnp.PyArray_SAMESHAPE(before, result)
    fit_target(op, target, result.ndim, result.shape, resize)
    if same or cnp.PyArray_IS_C_CONTIGUOUS(result) or cnp.PyArray_SIZE(result) == 0:
        return 0
    if resize and rows_wanted(op, result.dtype, before.dtype):
        return 0
    axes = sorted(range(result.ndim), key=lambda i: -abs(result.strides[i]))
    shape = [result.shape[i] for i in axes]
    flat = storage(target).reshape(shape)    # contiguous, as resizing left it
    replace_array(target, flat.transpose(np.argsort(axes)))
    return 0


cdef bint rows_wanted(Operator op, object computed, object found) except -1:
    """Whether an out= of the dtype `found` that is resized lies in row order: see `Entry`."""
    return op.entry.rows_out is not None and op.entry.rows_out(computed, found)


cdef int check_target(Operator op, Tensor target, int code, bint halves=False,
                      int place=0) except -1:
    """Refuse a target that a result of this dtype, the `place`th, cannot be written to."""
    cdef ndarray array = storage(target)
    cdef int target_code = code_of[cnp.PyArray_TYPE(array)]
    cdef bint strict = op.role == OUT and op.entry.out_refusal is not None
    if target_code != code and strict:
        message = op.entry.out_refusal(
            dtype_from_code(code).numpy, dtype_from_code(target_code).numpy, place)
        if message is not None:
            raise RuntimeError(message)
    refuse_self_overlap(target)
    if target_code != code and not strict and not _can_cast(code, target_code):
        name = "ComplexHalf" if halves else type_str(code)
        raise out_of_wrong_dtype(op.name, name, type_str(target_code))
    if not cnp.PyArray_ISWRITEABLE(array):
        raise RuntimeError(f"{op.name}(): the written-to tensor is over read-only memory; clone() "
                           "it before writing")
    return 0


cdef int fit_target(Operator op, Tensor target, int nd, npy_intp* dims, bint resize) except -1:
    cdef ndarray array = storage(target)
    cdef int i
    cdef bint same = array.ndim == nd
    if same:
        for i in range(nd):
            if array.shape[i] != dims[i]:
                same = False
    if same:
        return 0
    if not resize:
        raise RuntimeError(
            f"output with shape {_shape_str(array.ndim, array.shape)} doesn't match the broadcast "
            f"shape {_shape_str(nd, dims)}")
    if cnp.PyArray_SIZE(array) != 0:
        warnings.warn(
            f"An output with one or more elements was resized since it had shape "
            f"{_shape_str(array.ndim, array.shape)}, which does not match the required output "
            f"shape {_shape_str(nd, dims)}. Resize it to 0 elements first, with t.resize_(0), "
            "or give out= a tensor of the right shape.", UserWarning, stacklevel=2)
    _resize_storage(target, nd, dims)
    return 0


cdef int _resize_storage(Tensor target, int nd, npy_intp* dims) except -1:
    """A C-contiguous array of the shape, over the same storage where that is large enough."""
    cdef ndarray before = storage(target)
    cdef ndarray owner = <ndarray>root(target.array)
    cdef npy_intp need = cnp.PyArray_ITEMSIZE(before)
    cdef npy_intp have = (<char*>cnp.PyArray_DATA(owner) + cnp.PyArray_NBYTES(owner)
                          - <char*>cnp.PyArray_DATA(before))
    cdef int i
    shape = tuple([dims[i] for i in range(nd)])
    for i in range(nd):
        need *= dims[i]
    if need <= have and cnp.PyArray_IS_C_CONTIGUOUS(owner):
        after = np.ndarray(shape, before.dtype, owner.reshape(-1).view(np.uint8),
                           <char*>cnp.PyArray_DATA(before) - <char*>cnp.PyArray_DATA(owner))
    else:
        # Memory of its own, with the elements at the offset that they had.
        offset = (<char*>cnp.PyArray_DATA(before) - <char*>cnp.PyArray_DATA(owner)) // (
            cnp.PyArray_ITEMSIZE(before))
        after = np.zeros(offset + need // cnp.PyArray_ITEMSIZE(before), before.dtype)
        after = after[offset:].reshape(shape)
    replace_array(target, after)
    return 0


cdef int copy_into(Tensor target, ndarray result) except -1:
    cnp.PyArray_CopyInto(storage(target), result)
    return 0
