"""The exponential of small real matrices, by scaling and squaring: the formula of the general case
in `imode/ops/decompositions/matrix_functions.py`, in double precision."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.parallel cimport skipping
from imode.kernels.fast_guards cimport _array, _count, _row_major
from libc.math cimport ceil, fabs, isfinite, ldexp, log2
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    SMALL = 8                     # most rows
    ROOM = SMALL * SMALL
    FEW = 1024                    # most elements of a stack

cdef double RADIUS = 5.371920351148152    # the norm up to which the approximant serves
cdef double[14] PADE = [
    64764752532480000., 32382376266240000., 7771770303897600., 1187353796428800., 129060195264000.,
    10559470521600., 670442572800., 33522128640., 1323241920., 40840800., 960960., 16380., 182., 1.]


cdef void _multiply(double* out, const double* a, const double* b, npy_intp n) noexcept nogil:
    cdef npy_intp i, j, k
    for i in range(n):
        for j in range(n):
            out[i * n + j] = 0
        for k in range(n):
            for j in range(n):
                out[i * n + j] += a[i * n + k] * b[k * n + j]


cdef void _solve(double* a, double* b, npy_intp n) noexcept nogil:
    """The solution of A X = B in the place of B, by elimination with the largest pivots."""
    cdef npy_intp i, j, k, best
    cdef double factor
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if fabs(a[i * n + k]) > fabs(a[best * n + k]):
                best = i
        for j in range(n):
            a[k * n + j], a[best * n + j] = a[best * n + j], a[k * n + j]
            b[k * n + j], b[best * n + j] = b[best * n + j], b[k * n + j]
        for i in range(k + 1, n):
            factor = a[i * n + k] / a[k * n + k]
            for j in range(k, n):
                a[i * n + j] -= factor * a[k * n + j]
            for j in range(n):
                b[i * n + j] -= factor * b[k * n + j]
    for k in range(n - 1, -1, -1):
        for j in range(n):
            for i in range(k + 1, n):
                b[k * n + j] -= a[k * n + i] * b[i * n + j]
            b[k * n + j] /= a[k * n + k]


cdef inline void _powers(double* out, const double* a2, const double* a4, const double* a6,
                         npy_intp n, const double* b) noexcept nogil:
    """b[2] A^2 + b[4] A^4 + b[6] A^6."""
    cdef npy_intp i
    for i in range(n * n):
        out[i] = (b[6] * a6[i] + b[4] * a4[i] + b[2] * a2[i]) / PADE[0]


cdef void _half(double* out, double* room, const double* a2, const double* a4, const double* a6,
                npy_intp n, npy_intp first) noexcept nogil:
    """The terms of even powers (`first`: 0), or of odd ones (1) without a factor A."""
    cdef npy_intp i
    _powers(room, a2, a4, a6, n, &PADE[first + 6])
    _multiply(out, a6, room, n)
    _powers(room, a2, a4, a6, n, &PADE[first])
    for i in range(n * n):
        out[i] += room[i]
    for i in range(n):
        out[i * n + i] += PADE[first] / PADE[0]


cdef int _halvings(const double* a, npy_intp n) noexcept nogil:
    """How often to halve a matrix for its norm to be in the radius; -1: it is not finite."""
    cdef npy_intp i, j
    cdef double norm = 0, total
    for j in range(n):
        total = 0
        for i in range(n):
            total += fabs(a[i * n + j])
        if not isfinite(total):
            return -1
        norm = max(norm, total)
    return <int>ceil(log2(norm / RADIUS)) if norm > RADIUS else 0


cdef bint _exponential(double* a, npy_intp n) noexcept nogil:
    """In the place of a matrix its exponential; False: it is not finite."""
    cdef double[ROOM] a2, a4, a6, odd, even, room
    cdef int halvings = _halvings(a, n), _
    cdef npy_intp i
    cdef double u
    if halvings < 0:
        return False
    for i in range(n * n):
        a[i] = ldexp(a[i], -halvings)
    _multiply(a2, a, a, n)
    _multiply(a4, a2, a2, n)
    _multiply(a6, a4, a2, n)
    _half(even, room, a2, a4, a6, n, 0)
    _half(room, odd, a2, a4, a6, n, 1)
    _multiply(odd, a, room, n)
    for i in range(n * n):
        u = odd[i]
        a[i], odd[i] = even[i] + u, even[i] - u
    _solve(odd, a, n)
    for _ in range(halvings):
        _multiply(room, a, a, n)
        memcpy(a, room, n * n * sizeof(double))
    return True


cdef object _matrix_exp(Operator op, keyset_t keys, PyObject** args):
    """linalg_matrix_exp(self)."""
    cdef Fields* x = _array(args[0])
    cdef int kind = x.descr.type_num
    cdef double[ROOM] a
    cdef npy_intp n, size, i, start
    cdef ndarray out
    if args[op.nargs] != NULL or x.nd < 2 or not _row_major(x) or not (
            kind == cnp.NPY_FLOAT or kind == cnp.NPY_DOUBLE) or skipping():
        return run_general(op, keys, args)
    n, size = x.dimensions[x.nd - 1], _count(x, 0, x.nd)
    if x.dimensions[x.nd - 2] != n or n > SMALL or not 0 < size <= FEW:
        return run_general(op, keys, args)
    out = empty(kind, x.nd, x.dimensions)
    for start in range(0, size, n * n):
        for i in range(n * n):
            a[i] = (<float*>x.data)[start + i] if kind == cnp.NPY_FLOAT else (
                <double*>x.data)[start + i]
        if not _exponential(a, n):
            return run_general(op, keys, args)
        for i in range(n * n):
            if kind == cnp.NPY_FLOAT:
                (<float*>cnp.PyArray_DATA(out))[start + i] = <float>a[i]
            else:
                (<double*>cnp.PyArray_DATA(out))[start + i] = a[i]
    return wrap(out)


matrix_exp = CKernel.new(_matrix_exp)
