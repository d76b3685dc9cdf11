"""matmul and linear: composed of other operators, or computed at once.

Which operators they are made of is visible in the graph and in a trace, and a kernel may have been
replaced. Where nothing of that is so, they are one product, and are computed as one here; else the
function over other operators, which the table gives, is called.
"""
cimport numpy as cnp
from imode._core.dispatch cimport (
    DEFAULT_INCLUDED, TLS, CKernel, Operator, call1, call2, call3, inference_mode_on, kernel_t,
    operator, tls)
from imode._core.dtype cimport FLOAT32, FLOAT64
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD, BIT_CPU, keyset_t
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, requires_grad, storage
from imode.kernels.matmul cimport (
    Matrix, add_into, addable, addmm_kernel, blas_takes, bmm_kernel, common_code, folded, for_blas,
    matrix, mm_kernel, product, transposed)
from imode.kernels.reduce cimport NDIM
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef class _Operators:
    # The operators that matmul and linear are composed of, looked up when first needed.
    cdef Operator mm, mv, dot, bmm, addmm, t


cdef _Operators _ops = None


cdef int _find_operators() except -1:
    global _ops
    cdef _Operators found = _Operators()
    found.mm, found.mv, found.dot = operator("mm"), operator("mv"), operator("dot")
    found.bmm, found.addmm, found.t = operator("bmm"), operator("addmm"), operator("t")
    _ops = found
    return 0


cdef inline bint _is_ours(Operator op, kernel_t kernel) noexcept:
    """Whether calls with the CPU's key alone run this module's kernel."""
    return op.kernels[0] is not None and (<CKernel>op.kernels[0]).fn == kernel


cdef bint _unwatched(Tensor a, Tensor b, Tensor c) noexcept:
    """Whether nothing sees the difference between one product and the operators it is made of."""
    cdef TLS* state = tls()
    cdef keyset_t keys = a.keys | b.keys
    cdef bint grad = requires_grad(a) or requires_grad(b)
    if c is not None:
        keys |= c.keys
        grad = grad or requires_grad(c)
    if grad and not (state.no_grad or state.excluded & BIT_AUTOGRAD):
        return False
    return (state.trace == NULL and not keys & ~(BIT_CPU | BIT_AD | BIT_AUTOGRAD)
            and not (state.included ^ DEFAULT_INCLUDED) & ~BIT_AD
            and not state.excluded & BIT_CPU
            and _is_ours(_ops.mm, mm_kernel) and _is_ours(_ops.bmm, bmm_kernel)
            and _is_ours(_ops.addmm, addmm_kernel))


cdef ndarray _stacked(ndarray x, ndarray y, int code):
    """A stack of contiguous matrices times one matrix, or times a like stack; else None."""
    cdef npy_intp[NDIM] dims
    cdef npy_intp batch = 1
    cdef npy_intp apart = 0           # bytes from matrix to matrix of y
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
            if apart == 0:
                apart = y.strides[d]
            elif y.strides[d] != apart * run:
                return None
            run *= y.shape[d]
    a, b = matrix(x), matrix(y)
    if not blas_takes(&b, cnp.PyArray_ITEMSIZE(y)):
        return None
    dims[x.ndim - 1] = y.shape[y.ndim - 1]
    return product(code, a, b, x.ndim, dims, batch,
                   a.rows * a.columns * cnp.PyArray_ITEMSIZE(x), apart)


def matmul(composed):
    """The function of matmul; `composed` is the one over other operators."""

    def matmul(Tensor self not None, Tensor other not None):
        cdef ndarray x = storage(self)
        cdef ndarray y = storage(other)
        cdef ndarray out = None
        cdef int code
        if _ops is None:
            _find_operators()
        if x.ndim == 2:
            if y.ndim == 2:
                return call2(_ops.mm, self, other)
            if y.ndim == 1:
                return call2(_ops.mv, self, other)
        elif x.ndim == 1 and y.ndim == 1:
            return call2(_ops.dot, self, other)
        code = common_code(x, y)
        if code >= 0 and x.ndim and y.ndim > 1 and _unwatched(self, other, None):
            if x.ndim == 1:
                # Outside inference mode the squeezed result has been written to: a version.
                if y.ndim == 2 and x.shape[0] == y.shape[0] and inference_mode_on(tls()):
                    y = for_blas(y)
                    out = product(code, matrix(x), matrix(y), 1, &y.shape[1])
            else:
                out = _stacked(x, y, code)
            if out is not None:
                return wrap(out)
        return composed(self, other)

    return matmul


def linear(composed):
    """The function of linear; `composed` is the one over other operators."""

    def linear(Tensor input not None, Tensor weight not None, Tensor bias=None):
        cdef ndarray x = storage(input)
        cdef ndarray w = storage(weight)
        cdef ndarray out
        if _ops is None:
            _find_operators()
        # Outside inference mode the result of other shapes is a view or has a version.
        if _unwatched(input, weight, bias) and (
                x.ndim == 2 or inference_mode_on(tls()) or (bias is None and x.ndim > 2)):
            out = _linear_arrays(x, w, None if bias is None else storage(bias))
            if out is not None:
                return wrap(out)
        if x.ndim == 2 and w.ndim == 2:
            if bias is None:
                return call2(_ops.mm, input, call1(_ops.t, weight))
            return call3(_ops.addmm, bias, input, call1(_ops.t, weight))
        return composed(input, weight, bias)

    return linear


cdef ndarray _linear_arrays(ndarray x, ndarray w, ndarray bias):
    """x @ w.T + bias of float32 or float64 arrays of fitting shapes; else None."""
    cdef int code = common_code(x, w)
    cdef npy_intp[NDIM] dims
    cdef npy_intp rows, columns
    cdef ndarray out
    cdef Matrix a
    cdef int d
    if not (code == FLOAT32 or code == FLOAT64) or x.ndim == 0 or w.ndim != 2 or (
            x.ndim > NDIM or x.shape[x.ndim - 1] != w.shape[1]):
        return None
    if x.ndim != 2 and not cnp.PyArray_IS_C_CONTIGUOUS(x):
        return None
    x, w = for_blas(x), for_blas(w)
    a = folded(x) if x.ndim > 2 else matrix(x)
    if bias is not None and not (bias.ndim == 1 and (
            addable(bias, code, a.rows, w.shape[0], &rows, &columns))):
        return None
    for d in range(x.ndim - 1):
        dims[d] = x.shape[d]
    dims[x.ndim - 1] = w.shape[0]
    out = product(code, a, transposed(matrix(w)), x.ndim, dims)
    if bias is not None:
        add_into(out, code, a.rows, w.shape[0], bias, 1, 1)
    return out
