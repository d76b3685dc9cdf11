# Shared by kernels that write at indices or under a mask. One kernel serves both forms of such an
# operator: the in-place form writes to its first argument, the functional form to a copy of it.
from cpython.object cimport PyObject
from imode._core.allocator cimport Fields, empty, root
from imode._core.dispatch cimport INPLACE, Operator
from imode._core.iterate cimport empty_like
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.moving cimport copy_bytes
from imode._core.stored cimport run_otherwise
from imode._core.tensor cimport Tensor, storage
from imode.kernels.fast_guards cimport WRITEABLE, _array
from numpy cimport ndarray

cimport numpy as cnp

# Whether the fast case serves the arguments; notes in `plan` what the write needs. target: the
# array that is written to, NULL for a copy.
ctypedef bint (*check_t)(PyObject** args, PyObject* target, void* plan) except -1
# Write to `data`, which has the first argument's shape and dtype. True: an argument is not what the
# general kernel takes; only where the target is a copy, as it is of no use then.
ctypedef int (*write_t)(char* data, PyObject** args, void* plan) except -1


cdef inline bint may_write(Operator op, PyObject** args) noexcept:
    """Whether the target is a writeable tensor, or a new one; not an out=."""
    if op.role == INPLACE:
        return _array(args[0]).flags & WRITEABLE != 0
    return args[op.nargs] == NULL


cdef inline bint disjoint(PyObject* target, PyObject* tensor) noexcept:
    """Whether a tensor that is read shares no memory with the array that is written to."""
    return target == NULL or root((<Tensor>tensor).array) != root(target)


cdef inline ndarray _copied(PyObject* tensor, bint like):
    cdef Fields* a = _array(tensor)
    cdef ndarray out
    if like:
        out = empty_like(storage(<Tensor>tensor), a.descr.type_num)
    else:
        out = empty(a.descr.type_num, a.nd, a.dimensions)
    copy_bytes(<char*>cnp.PyArray_DATA(out), a.data, cnp.PyArray_NBYTES(out))
    return out


cdef inline object run_write(Operator op, keyset_t keys, PyObject** args, check_t check,
                             write_t write, void* plan, bint like=False):
    """The kernel of an operator, from the functions that check and write.

    like: the copy keeps the strides of dimensions of size 1, as `clone` does; else it is row-major.
    """
    cdef bint inplace = op.role == INPLACE
    cdef ndarray out
    if not may_write(op, args) or not check(
            args, (<Tensor>args[0]).array if inplace else NULL, plan):
        return run_otherwise(op, keys, args)
    if inplace:
        write(_array(args[0]).data, args, plan)
        return <object>args[0]
    out = _copied(args[0], like)
    if write(<char*>cnp.PyArray_DATA(out), args, plan):
        return run_otherwise(op, keys, args)
    return wrap(out)
