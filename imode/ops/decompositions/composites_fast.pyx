"""Fast cases of composite operators on matrices, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from imode._core.allocator cimport Fields
from imode._core.dispatch cimport MAX_ARGS, Operator, call, call2
from imode._core.keyset cimport BIT_CPU, keyset_t
from imode._core.tensor cimport Tensor, storage
from imode.kernels.fast_guards cimport _array, _integer
from imode.ops.composites_fast cimport callee, calling
from libc.stdint cimport int32_t, int64_t
from numpy cimport ndarray, npy_intp

cnp.import_array()


# ---- the first results of another operator, if all went well ----

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


# ---- powers, dot products, pseudoinverses ----

cdef object _matrix_power(Operator op, keyset_t keys, PyObject** args):
    """matrix_power(self, n): squares, as the function multiplies them."""
    cdef Fields* a = _array(args[0])
    cdef Operator matmul = callee(op, 0)
    cdef object square = <object>args[0]
    cdef object result = None
    cdef int64_t n
    if not _integer(args[1], &n) or n < 2 or a.nd < 2 or (
            a.dimensions[a.nd - 1] != a.dimensions[a.nd - 2]):
        return NotImplemented
    if n == 3:
        return call2(matmul, call2(matmul, square, square), square)
    while True:
        if n % 2:
            result = square if result is None else call2(matmul, result, square)
        n //= 2
        if n == 0:
            return result
        square = call2(matmul, square, square)


cdef inline bint _is_real(int kind) noexcept:
    return kind == cnp.NPY_FLOAT or kind == cnp.NPY_DOUBLE


cdef object _vecdot(Operator op, keyset_t keys, PyObject** args):
    """linalg_vecdot(x, y, dim) of real numbers."""
    cdef Fields* x = _array(args[0])
    cdef Fields* y = _array(args[1])
    if not _is_real(x.descr.type_num) or y.descr.type_num != x.descr.type_num:
        return NotImplemented
    if x.nd == 1 and y.nd == 1:
        return call2(callee(op, 0), <object>args[0], <object>args[1])
    product = call2(callee(op, 1), <object>args[0], <object>args[1])
    return call2(callee(op, 2), product, (<object>args[2],))


cdef object _pinv(Operator op, keyset_t keys, PyObject** args):
    """linalg_pinv(self, atol, rtol, hermitian) without tolerances."""
    cdef Fields* a = _array(args[0])
    cdef PyObject* values[MAX_ARGS + 1]
    cdef object atol = 0.0
    cdef object rtol
    if a.nd < 2 or not _is_real(a.descr.type_num) or args[1] != <PyObject*>None or (
            args[2] != <PyObject*>None):
        return NotImplemented
    rtol = (1.1920928955078125e-07 if a.descr.type_num == cnp.NPY_FLOAT else 2.0 ** -52) * max(
        a.dimensions[a.nd - 1], a.dimensions[a.nd - 2])
    values[0], values[1], values[2], values[3] = (
        args[0], <PyObject*>atol, <PyObject*>rtol, args[3])
    values[4] = NULL
    return call(callee(op, 0), values)


matrix_power = calling(_matrix_power, ["matmul"])
vecdot = calling(_vecdot, ["vdot", "mul", "sum.dim"])
pinv = calling(_pinv, ["_linalg_pinv"])
