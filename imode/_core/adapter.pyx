"""Kernels over ndarrays, and where results go.

A kernel written as a Python function over ndarrays knows nothing of tensors. `run_numpy` hands
it the arrays, and turns what it returns into new tensors, views, the written-to tensor of an
in-place call, or the out= tensors (`_core/out`).
"""
import numpy as np
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport empty, root
from imode._core.dispatch cimport (
    INPLACE, MAX_ARGS, TENSOR_LIST, VIEW, CKernel, Operator)
from imode._core.dtype cimport N_TYPENUMS, NO_DTYPE, code_of, dtype_from_code, dtype_from_typenum
from imode._core.elsewhere cimport set_general_case
from imode._core.keyset cimport BIT_CPU, highest_key, keyset_t
from imode._core.making cimport hold, replace_array, wrap, wrap_view
from imode._core.out cimport deliver_into
from imode._core.overlap cimport refuse_self_overlap
from imode._core.parallel cimport skipping
from imode._core.tensor cimport Tensor, is_tensor, storage
from numpy cimport ndarray

from imode._core.broadcast import broadcast_shape
from imode._core.hollow import hollow
from imode._core.layout import solid
from imode._core.type_names import c_name, scalar_name

cnp.import_array()

cdef extern from "Python.h":
    object PyObject_Vectorcall(PyObject* f, PyObject** args, size_t n, PyObject* names)

cdef str type_str(int code):
    return scalar_name(dtype_from_code(code))


cdef str c_type_str(int code):
    return c_name(dtype_from_code(code))


cdef object run_general(Operator op, keyset_t keys, PyObject** args):
    return run_numpy(op, (<CKernel>op.kernels[highest_key(keys)]).general, args)


general_case = CKernel.new(run_general)     # of functions that stand beside no fast case
set_general_case(run_numpy)


cdef object deliver(Operator op, object result, PyObject** args):
    cdef tuple tensors
    if args[op.nargs] != NULL:
        return deliver_into(op, result, <object>args[op.nargs], args)
    if type(result) is not tuple:
        return wrap(result)
    if len(<tuple>result) == 2:       # mostly: without a list
        tensors = wrap(<ndarray>(<tuple>result)[0]), wrap(<ndarray>(<tuple>result)[1])
    else:
        tensors = tuple([wrap(<ndarray>array) for array in <tuple>result])
    return tensors if op.result_type is None else op.result_type(tensors)


cdef unsigned long _runs = 0          # of kernels over ndarrays


def count_runs():
    """How often a kernel over ndarrays has run in this process: where no fast case served."""
    return _runs


cdef object run_numpy(Operator op, object function, PyObject** args):
    global _runs
    _runs += 1
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
    if skipping():
        keep.append(_make_hollow(op, args, values))
    try:
        result = PyObject_Vectorcall(<PyObject*>function, values, op.nargs, NULL)
    except ValueError as error:
        if "could not be broadcast" in str(error):    # NumPy's words for it
            if args[op.nargs] != NULL and op.role == INPLACE:
                refuse_self_overlap(storage(<Tensor>args[0]))
            _refuse_shapes(op, args)
        raise
    return deliver_any(op, solid(result) if skipping() else result, args)


cdef list _make_hollow(Operator op, PyObject** args, PyObject** values):
    """Put Hollow arrays in the place of those without elements; returns what holds them."""
    cdef list made = []
    cdef int i
    for i in range(op.n_tensors):
        if is_tensor(args[op.tensors[i]]):
            value = _without_elements(<Tensor>args[op.tensors[i]])
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            value = [_without_elements(t) if t is not None else None
                     for t in <tuple>args[op.tensors[i]]]
        else:
            continue
        made.append(value)
        values[op.tensors[i]] = <PyObject*>value
    return made


cdef ndarray _without_elements(Tensor t):
    return storage(t) if t.keys & BIT_CPU else hollow(storage(t))


cdef object deliver_any(Operator op, object result, PyObject** args):
    if op.role == VIEW:
        return _deliver_views(op, result, <Tensor>args[op.tensors[0]])
    if args[op.nargs] != NULL:
        return deliver_into(op, result, <object>args[op.nargs], args)
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
    cdef int i, typenum
    if type(result) is not ndarray:
        result = np.asarray(result)
    array = <ndarray>result
    typenum = cnp.PyArray_TYPE(array)
    if not 0 <= typenum < N_TYPENUMS or code_of[typenum] == NO_DTYPE:
        dtype_from_typenum(typenum)           # which says that there is none
    if _flat(array) and cnp.PyArray_SIZE(array) == 0:
        return empty(cnp.PyArray_TYPE(array), array.ndim, array.shape)
    owner = root(<PyObject*>array)
    for i in range(op.n_tensors):
        arg = args[op.tensors[i]]
        if is_tensor(arg) and root((<Tensor>arg).array) == owner:
            if cnp.PyArray_SIZE(array) == 0:      # NumPy's copy would have strides of 0
                return empty(cnp.PyArray_TYPE(array), array.ndim, array.shape)
            return array.copy() if not skipping() else np.empty_like(array, order="C")
    return array


cdef object _deliver_views(Operator op, object result, Tensor base):
    if type(result) is ndarray:
        return wrap_view(<ndarray>result, base)
    return tuple([wrap_view(<ndarray?>item, base) for item in result])
