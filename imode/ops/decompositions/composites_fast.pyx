"""Fast cases of composite operators that give the first results of another one, if all went well.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from imode._core.dispatch cimport MAX_ARGS, Operator, call
from imode._core.keyset cimport BIT_CPU, keyset_t
from imode._core.tensor cimport Tensor, storage
from imode.ops.composites_fast cimport callee, calling
from libc.stdint cimport int32_t
from numpy cimport ndarray, npy_intp

cnp.import_array()


cdef bint _all_zero(ndarray info) noexcept:
    cdef npy_intp i
    for i in range(cnp.PyArray_SIZE(info)):
        if (<int32_t*>cnp.PyArray_DATA(info))[i]:
            return False
    return True


cdef object _leading(Operator op, keyset_t keys, PyObject** args):
    cdef Operator other = callee(op, 0)
    cdef int count = <int>(<list>op.fast.config)[1]
    cdef int info = <int>(<list>op.fast.config)[2]
    cdef PyObject* values[MAX_ARGS + 1]
    cdef tuple found
    cdef int i
    for i in range(other.nargs):
        values[i] = args[i] if i < op.nargs else PyTuple_GET_ITEM(other.defaults, i)
    values[other.nargs] = NULL
    found = <tuple>call(other, values)
    if info >= 0 and not (
            (<Tensor>found[info]).keys & BIT_CPU and _all_zero(storage(<Tensor>found[info]))):
        return NotImplemented
    if count == 1:
        return found[0]
    return op.result_type(found[:count])


def leading(str name not None, int count=1, int info=-1):
    """The fast case that is the first `count` results of another operator, with the same arguments
    and its defaults for further ones. `info`: the place of LAPACK's numbers among the results:
    where one is not 0 the function runs, and raises."""
    return calling(_leading, [name, count, info])
