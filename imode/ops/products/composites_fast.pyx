"""Fast cases of composite products, see `imode/ops/composites_fast.pyx`.

Which operators matmul and linear are made of is visible in the graph and in a trace, and a kernel
may have been replaced. Where nothing of that is so, they are computed as one product here.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.allocator cimport Fields
from imode._core.callables cimport modes_are_on
from imode._core.dispatch cimport (
    DEFAULT_INCLUDED, TLS, CKernel, Operator, call1, call2, call3, inference_mode_on, kernel_t,
    tls)
from imode._core.dtype cimport FLOAT32, FLOAT64
from imode._core.geometry cimport shape_of
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD, BIT_CPU, keyset_t
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, requires_grad, storage
from imode.kernels.fast_guards cimport _array
from imode.kernels.products.half_product cimport half_code, half_product
from imode.kernels.products.matmul cimport addmm_kernel, bmm_kernel, mm_kernel
from imode.kernels.products.multiply cimport (
    Matrix, add_into, addable, blas_takes, common_code, folded, for_blas, matrix, product,
    transposed)
from imode.kernels.reductions.reduce cimport NDIM
from imode.ops.composites_fast cimport callee, calling
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:                        # the operators that matmul and linear are composed of
    MM
    BMM
    ADDMM
    T
    MV
    DOT
    EXPAND
    RESHAPE
    UNSAFE_VIEW


cdef inline bint _is_ours(Operator op, kernel_t kernel) noexcept:
    """Whether calls with the CPU's key alone run this module's kernel."""
    return op.kernels[0] is not None and (<CKernel>op.kernels[0]).fn == kernel


cdef bint _unwatched(Operator op, Tensor a, Tensor b, Tensor c) except -1:
    """Whether nothing sees the difference between one product and the operators it is made of."""
    cdef TLS* state = tls()
    cdef keyset_t keys = a.keys | b.keys
    cdef bint grad = requires_grad(a) or requires_grad(b)
    if c is not None:
        keys |= c.keys
        grad = grad or requires_grad(c)
    if grad and not (state.no_grad or state.excluded & BIT_AUTOGRAD):
        return False
    return (state.watcher == NULL and not keys & ~(BIT_CPU | BIT_AD | BIT_AUTOGRAD)
            and not (state.included ^ DEFAULT_INCLUDED) & ~BIT_AD
            and not state.excluded & BIT_CPU
            and _is_ours(callee(op, MM), mm_kernel) and _is_ours(callee(op, BMM), bmm_kernel)
            and _is_ours(callee(op, ADDMM), addmm_kernel))


cdef ndarray _stacked(ndarray x, ndarray y, int code):
    """A stack of contiguous matrices times one matrix, or times a like stack; else None."""
    cdef npy_intp[NDIM] dims
    cdef npy_intp batch = 1
    cdef npy_intp step = 0            # bytes from matrix to matrix of y
    cdef npy_intp run = 1             # matrices in the dimensions seen so far
    cdef int d
    cdef Matrix a
    cdef Matrix b
    if x.ndim < 2 or x.ndim > NDIM or not cnp.PyArray_IS_C_CONTIGUOUS(x):
        return None
    for d in range(x.ndim - 1):
        dims[d] = x.shape[d]
    if y.ndim == 2:
        if x.shape[x.ndim - 1] != y.shape[0]:
            return None
        y = for_blas(y)
        dims[x.ndim - 1] = y.shape[1]
        return product(code, folded(x), matrix(y), x.ndim, dims)
    if y.ndim != x.ndim or x.shape[x.ndim - 1] != y.shape[y.ndim - 2]:
        return None
    for d in range(x.ndim - 2):
        if x.shape[d] != y.shape[d]:
            return None
        batch *= x.shape[d]
    # The right operand may lie in any order inside its matrices, not between them.
    for d in range(y.ndim - 3, -1, -1):
        if y.shape[d] != 1:
            if run == 1:
                step = y.strides[d]
            elif y.strides[d] != step * run:
                return None
            run *= y.shape[d]
    a, b = matrix(x), matrix(y)
    if not blas_takes(&b, cnp.PyArray_ITEMSIZE(y)):
        return None
    dims[x.ndim - 1] = y.shape[y.ndim - 1]
    return product(code, a, b, x.ndim, dims, batch,
                   a.rows * a.columns * cnp.PyArray_ITEMSIZE(x), step)


cdef object _of_stacks(Operator op, Tensor self, Tensor other):
    """matmul by its operators, of two stacks of one shape."""
    cdef ndarray x = storage(self)
    cdef ndarray y = storage(other)
    cdef int nd = x.ndim, d
    cdef npy_intp count = 1
    if nd < 3 or y.ndim != nd or (self.keys | other.keys) & ~<keyset_t>(
            BIT_CPU | BIT_AD | BIT_AUTOGRAD):
        return NotImplemented
    for d in range(nd - 2):
        if x.shape[d] != y.shape[d]:
            return NotImplemented
        count *= x.shape[d]
    shape, others = shape_of(self), shape_of(other)
    left = call2(callee(op, RESHAPE), call2(callee(op, EXPAND), self, shape),
                 (count, x.shape[nd - 2], x.shape[nd - 1]))
    right = call2(callee(op, RESHAPE), call2(callee(op, EXPAND), other, others),
                  (count, y.shape[nd - 2], y.shape[nd - 1]))
    return call2(callee(op, UNSAFE_VIEW), call2(callee(op, BMM), left, right),
                 (<tuple>shape)[:nd - 1] + (y.shape[nd - 1],))


cdef object _matmul(Operator op, keyset_t keys, PyObject** args):
    """matmul(self, other)."""
    cdef Tensor self = <Tensor>args[0]
    cdef Tensor other = <Tensor>args[1]
    cdef ndarray x = storage(self)
    cdef ndarray y = storage(other)
    cdef ndarray out = None
    cdef int code
    if x.ndim == 2:
        if y.ndim == 2:
            return call2(callee(op, MM), self, other)
        if y.ndim == 1:
            return call2(callee(op, MV), self, other)
    elif x.ndim == 1 and y.ndim == 1:
        return call2(callee(op, DOT), self, other)
    code = common_code(x, y)
    if code < 0 or not x.ndim or y.ndim <= 1 or not _unwatched(op, self, other, None):
        return _of_stacks(op, self, other)
    if x.ndim == 1:
        # Outside inference mode the squeezed result has been written to: a version.
        if y.ndim == 2 and x.shape[0] == y.shape[0] and inference_mode_on(tls()):
            y = for_blas(y)
            out = product(code, matrix(x), matrix(y), 1, &y.shape[1])
    else:
        out = _stacked(x, y, code)
    return NotImplemented if out is None else wrap(out)


cdef object _linear(Operator op, keyset_t keys, PyObject** args):
    """linear(input, weight, bias)."""
    cdef Tensor input = <Tensor>args[0]
    cdef Tensor weight = <Tensor>args[1]
    cdef Tensor bias = None if args[2] == <PyObject*>None else <Tensor>args[2]
    cdef ndarray x = storage(input)
    cdef ndarray w = storage(weight)
    cdef ndarray out
    # Outside inference mode the result of other shapes is a view or has a version.
    if _unwatched(op, input, weight, bias) and (
            x.ndim == 2 or inference_mode_on(tls()) or (bias is None and x.ndim > 2)):
        out = _linear_arrays(x, w, None if bias is None else storage(bias))
        if out is not None:
            return wrap(out)
    if x.ndim != 2 or w.ndim != 2:
        return NotImplemented
    if bias is None:
        return call2(callee(op, MM), input, call1(callee(op, T), weight))
    return call3(callee(op, ADDMM), bias, input, call1(callee(op, T), weight))


cdef ndarray _linear_arrays(ndarray x, ndarray w, ndarray bias):
    """x @ w.T + bias of arrays of one float dtype and fitting shapes; else None."""
    cdef int code = common_code(x, w)
    cdef int half = half_code(x, w) if code < 0 else -1
    cdef npy_intp[NDIM] dims
    cdef npy_intp rows, columns
    cdef ndarray out
    cdef Matrix a
    cdef int d
    if not (code == FLOAT32 or code == FLOAT64 or half >= 0) or x.ndim == 0 or w.ndim != 2 or (
            x.ndim > NDIM or x.shape[x.ndim - 1] != w.shape[1]):
        return None
    if x.ndim != 2 and not cnp.PyArray_IS_C_CONTIGUOUS(x):
        return None
    x, w = for_blas(x), for_blas(w)
    a = folded(x) if x.ndim > 2 else matrix(x)
    if bias is not None and not (bias.ndim == 1 and (
            addable(bias, code if half < 0 else half, a.rows, w.shape[0], &rows, &columns))):
        return None
    for d in range(x.ndim - 1):
        dims[d] = x.shape[d]
    dims[x.ndim - 1] = w.shape[0]
    if half >= 0:
        if bias is not None and bias.shape[0] != w.shape[0]:
            return None
        return half_product(half, a, transposed(matrix(w)), bias, x.ndim, dims)
    out = product(code, a, transposed(matrix(w)), x.ndim, dims)
    if bias is not None:
        add_into(out, code, a.rows, w.shape[0], bias, 1, 1)
    return out


cdef object _outer(Operator op, keyset_t keys, PyObject** args):
    """outer(self, vec2)."""
    cdef Fields* a = _array(args[0])
    if a.nd != 1 or _array(args[1]).nd != 1 or not a.flags & cnp.NPY_ARRAY_C_CONTIGUOUS:
        return NotImplemented
    column = call2(callee(op, 1), <object>args[0], (a.dimensions[0], 1))
    return call2(callee(op, 0), column, <object>args[1])


cdef object _einsum(Operator op, keyset_t keys, PyObject** args):
    """einsum(equation, operands): the product of two matrices as they stand, in inference mode.

    Elsewhere the result is a view, of operators that the graph shows.
    """
    cdef tuple operands = <tuple>args[1]
    cdef str equation = <str>args[0]
    cdef Fields* a
    cdef Fields* b
    if PyTuple_GET_SIZE(operands) != 2 or len(equation) != 9 or modes_are_on() or (
            not inference_mode_on(tls())):
        return NotImplemented
    # The letters of "ij,jk->ik".
    i, j, k = equation[0], equation[1], equation[4]
    if not (i.isalpha() and j.isalpha() and k.isalpha() and equation.isascii()) or (
            i == j or j == k or i == k) or equation != f"{i}{j},{j}{k}->{i}{k}":
        return NotImplemented
    a, b = _array(PyTuple_GET_ITEM(operands, 0)), _array(PyTuple_GET_ITEM(operands, 1))
    if a.nd != 2 or b.nd != 2 or a.dimensions[1] != b.dimensions[0] or (
            a.descr.type_num != b.descr.type_num):
        return NotImplemented
    return call2(callee(op, 0), operands[0], operands[1])


matmul = calling(
    _matmul, ["mm", "bmm", "addmm", "t", "mv", "dot", "expand", "reshape", "_unsafe_view"])
linear = calling(_linear, ["mm", "bmm", "addmm", "t"])
outer = calling(_outer, ["mul", "view"])
einsum = calling(_einsum, ["mm"])
