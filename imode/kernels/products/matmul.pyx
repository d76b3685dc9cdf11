"""Operators that are one product of matrices, as compiled kernels.

The products are in multiply.pyx, those of bfloat16 and float16 in half_product.pyx.
"""
import numpy as np
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.dispatch cimport INPLACE, CKernel, Operator
from imode._core.dtype cimport FLOAT32, FLOAT64, code_of
from imode._core.keyset cimport keyset_t
from imode._core.stored cimport run_otherwise
from imode._core.tensor cimport Tensor, storage
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport _real
from imode.kernels.products.half_product cimport half_code, half_product
from imode.kernels.products.multiply cimport (
    Matrix, add_scaled, addable, blas_takes, common_code, for_blas, matrix, product, transposed)
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    SMALL = 32768                 # multiplications: smaller matrices in a stack are converted whole

# ---- mm, mv, dot, bmm ----

cdef ndarray _mm_arrays(ndarray x, ndarray y, ndarray bias=None):
    """The product of two 2-D arrays, for 16-bit floats with a vector added to each row; None: for
    the Python function."""
    cdef int code = common_code(x, y)
    cdef int half = half_code(x, y) if code < 0 else -1
    cdef npy_intp[2] dims
    if (code < 0 and half < 0) or x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0]:
        return None
    dims = [x.shape[0], y.shape[1]]
    x, y = for_blas(x), for_blas(y)
    if half >= 0:
        return half_product(half, matrix(x), matrix(y), bias, 2, dims)
    return product(code, matrix(x), matrix(y), 2, dims)


cdef ndarray _mv_arrays(ndarray x, ndarray v):
    cdef int code = common_code(x, v)
    cdef int half = half_code(x, v) if code < 0 else -1
    if (code < 0 and half < 0) or x.ndim != 2 or v.ndim != 1 or x.shape[1] != v.shape[0]:
        return None
    x = for_blas(x)
    # Computed as the transposed product, which has the same elements: v as a row times x.T.
    if half >= 0:
        return half_product(half, matrix(v), transposed(matrix(x)), None, 1, x.shape)
    return product(code, matrix(v), transposed(matrix(x)), 1, x.shape)


cdef ndarray _dot_arrays(ndarray x, ndarray y):
    cdef int code = common_code(x, y)
    cdef int half = half_code(x, y) if code < 0 else -1
    if (code < 0 and half < 0) or x.ndim != 1 or y.ndim != 1 or x.shape[0] != y.shape[0]:
        return None
    if half >= 0:
        return half_product(half, matrix(x), transposed(matrix(y)), None, 0, x.shape)
    return product(code, matrix(x), transposed(matrix(y)), 0, x.shape)


cdef ndarray _dense(ndarray x):
    """A stack of matrices, copied if the BLAS does not accept their strides."""
    cdef Matrix m = matrix(x)
    return x if blas_takes(&m, cnp.PyArray_ITEMSIZE(x)) else x.copy("C")


cdef ndarray _bmm_arrays(ndarray x, ndarray y):
    cdef int code = common_code(x, y)
    cdef int half = half_code(x, y) if code < 0 else -1
    cdef npy_intp[3] dims
    if (code < 0 and half < 0) or x.ndim != 3 or y.ndim != 3 or (
            x.shape[0] != y.shape[0] or x.shape[2] != y.shape[1]):
        return None
    dims = [x.shape[0], x.shape[1], y.shape[2]]
    if half >= 0 and dims[1] * x.shape[2] * dims[2] < SMALL:
        return cast(_bmm_arrays(cast(x, np.float32), cast(y, np.float32)), x.dtype)
    x, y = _dense(x), _dense(y)
    if half >= 0:
        return half_product(half, matrix(x), matrix(y), None, 3, dims, dims[0], x.strides[0],
                            y.strides[0])
    return product(code, matrix(x), matrix(y), 3, dims, dims[0], x.strides[0], y.strides[0])


ctypedef ndarray (*arrays_t)(ndarray, ndarray)


def product_of(ndarray x, ndarray y):
    """np.matmul of two vectors, two matrices or a matrix and a vector, or of two stacks of one
    length; None: there is no loop of ours, or nothing to multiply."""
    if type(x) is not ndarray or type(y) is not ndarray:
        return None
    if y.ndim == 1:
        return _dot_arrays(x, y) if x.ndim == 1 else _mv_arrays(x, y)
    return _mm_arrays(x, y) if y.ndim == 2 else _bmm_arrays(x, y)


cdef inline object _product(Operator op, keyset_t keys, arrays_t arrays, PyObject** args):
    """The product that one of the functions above computes."""
    return _deliver(op, keys, arrays(storage(<Tensor>args[0]), storage(<Tensor>args[1])), args)


cdef inline object _deliver(Operator op, keyset_t keys, ndarray out, PyObject** args):
    """The result as a new tensor, or in the target of an in-place or out= call. out None: run the
    general case."""
    if out is None or op.role == INPLACE and not cnp.PyArray_SAMESHAPE(
            out, storage(<Tensor>args[0])):
        return run_otherwise(op, keys, args)
    return deliver(op, out, args)


cdef object mm_kernel(Operator op, keyset_t keys, PyObject** args):
    return _deliver(
        op, keys, _mm_arrays(storage(<Tensor>args[0]), storage(<Tensor>args[1])), args)


cdef object _mv_kernel(Operator op, keyset_t keys, PyObject** args):
    return _product(op, keys, _mv_arrays, args)


cdef object _dot_kernel(Operator op, keyset_t keys, PyObject** args):
    return _product(op, keys, _dot_arrays, args)


cdef object _vdot_kernel(Operator op, keyset_t keys, PyObject** args):
    # The conjugate of a real vector is the vector.
    if cnp.PyArray_ISCOMPLEX(storage(<Tensor>args[0])):
        return run_general(op, keys, args)
    return _dot_kernel(op, keys, args)


cdef object bmm_kernel(Operator op, keyset_t keys, PyObject** args):
    return _product(op, keys, _bmm_arrays, args)


# ---- addmm(self, mat1, mat2, *, beta, alpha), baddbmm, addmv ----

cdef bint _factors(PyObject** args, int code, double* beta, double* alpha) except -1:
    """Whether beta (not 0) and alpha are numbers that the dtype holds, which scales."""
    return (code == FLOAT32 or code == FLOAT64) and (
        _real(args[3], beta) and _real(args[4], alpha)) and beta[0] != 0


ctypedef ndarray (*added_t)(PyObject**, ndarray, ndarray, ndarray)


cdef inline ndarray _added(PyObject** args, ndarray addend, ndarray x, ndarray y, bint vector):
    """addmm; or addmv, where the vector counts as a row. None: for the Python function."""
    cdef int code = code_of[cnp.PyArray_TYPE(x)]
    cdef ndarray out
    cdef double beta, alpha
    cdef npy_intp n, m, rows, columns
    if _factors(args, code, &beta, &alpha) and x.ndim == 2 and (
            addend.ndim == 1 if vector else y.ndim == 2):
        n = 1 if vector else x.shape[0]
        m = x.shape[0] if vector else y.shape[1]
        if addable(addend, code, n, m, &rows, &columns):
            out = _mv_arrays(x, y) if vector else _mm_arrays(x, y)
            if out is not None:
                add_scaled(out, code, n, m, addend, rows, columns, beta, alpha)
                return out
    return None


cdef ndarray _addmm_arrays(PyObject** args, ndarray addend, ndarray x, ndarray y):
    return _added(args, addend, x, y, False)


cdef ndarray _baddbmm_arrays(PyObject** args, ndarray addend, ndarray x, ndarray y):
    cdef int code = code_of[cnp.PyArray_TYPE(x)]
    cdef ndarray out
    cdef double beta, alpha
    cdef npy_intp m
    if _factors(args, code, &beta, &alpha) and x.ndim == 3 and y.ndim == 3 and (
            code_of[cnp.PyArray_TYPE(addend)] == code and addend.ndim == 3) and (
            cnp.PyArray_IS_C_CONTIGUOUS(addend) and addend.shape[0] == x.shape[0]) and (
            addend.shape[1] == x.shape[1] and addend.shape[2] == y.shape[2]):
        out = _bmm_arrays(x, y)
        if out is not None:
            m = y.shape[2]
            add_scaled(out, code, x.shape[0] * x.shape[1], m, addend, m, 1, beta, alpha)
            return out
    return None


cdef bint _is_bias(PyObject** args, ndarray addend, ndarray y) except -1:
    """Whether a vector is added to each row of the product, as layers of networks do."""
    cdef double beta, alpha
    cdef int nd = addend.ndim
    return 0 < nd <= 2 and y.ndim == 2 and cnp.PyArray_SIZE(addend) == y.shape[1] == (
        addend.shape[nd - 1]) and _factors(args, FLOAT32, &beta, &alpha) and beta == alpha == 1


cdef inline object _added_product(Operator op, keyset_t keys, added_t arrays, PyObject** args):
    """The sum that one of the two functions above computes; of 16-bit floats in float32, rounded
    once."""
    cdef ndarray addend = storage(<Tensor>args[0])
    cdef ndarray x = storage(<Tensor>args[1])
    cdef ndarray y = storage(<Tensor>args[2])
    cdef ndarray out
    if half_code(x, y) < 0 or cnp.PyArray_TYPE(addend) != cnp.PyArray_TYPE(x):
        out = arrays(args, addend, x, y)
    elif arrays == _addmm_arrays and _is_bias(args, addend, y):
        out = _mm_arrays(x, y, addend)
    else:
        out = arrays(args, cast(addend, np.float32), cast(x, np.float32), cast(y, np.float32))
        out = None if out is None else cast(out, x.dtype)
    return _deliver(op, keys, out, args)


cdef object addmm_kernel(Operator op, keyset_t keys, PyObject** args):
    return _added_product(op, keys, _addmm_arrays, args)


cdef object _addmv_kernel(Operator op, keyset_t keys, PyObject** args):
    # Of 16-bit floats the factors have to fit the dtype, which the general case sees to.
    return _deliver(op, keys, _added(args, storage(<Tensor>args[0]), storage(<Tensor>args[1]),
                                     storage(<Tensor>args[2]), True), args)


cdef object _baddbmm_kernel(Operator op, keyset_t keys, PyObject** args):
    return _added_product(op, keys, _baddbmm_arrays, args)


mm = CKernel.new(mm_kernel)
bmm = CKernel.new(bmm_kernel)
mv = CKernel.new(_mv_kernel)
dot = CKernel.new(_dot_kernel)
vdot = CKernel.new(_vdot_kernel)
addmm = CKernel.new(addmm_kernel)
addmv = CKernel.new(_addmv_kernel)
baddbmm = CKernel.new(_baddbmm_kernel)
