"""LU and triangular systems of real matrices, by halves: nearly all of it are large products.

Toledo, Locality of Reference in LU Decomposition with Partial Pivoting (1997). A product of
matrices that lie column by column is that of their transposes, in the other order, for `gemm`.
"""
from imode._core.parallel cimport num_threads, parallel_for, range_body
from imode.kernels.products.gemm cimport gemm
from libc.stdint cimport int32_t
from libc.string cimport memset
from numpy cimport npy_intp

cdef extern from "factor.h" nogil:
    enum:
        IMODE_FEW

cdef extern from "halves.h" nogil:
    void imode_triangle(int wide, int lower, int unit, long n, long k, const void* a, long ar,
                        long ac, void* b, long ldb) noexcept
    void imode_triangle_vector(int wide, int lower, int unit, long n, const void* a, long lda,
                               void* x) noexcept
    int imode_lu_panel(int wide, long m, long n, void* a, long lda, int32_t* pivots) noexcept
    void imode_exchange(int wide, long n, long k, void* b, long ldb, const int32_t* pivots,
                        int back) noexcept

cdef void exchange(bint wide, npy_intp n, npy_intp k, char* b, npy_intp ldb, const int32_t* pivots,
                   bint back) noexcept nogil:
    imode_exchange(wide, n, k, b, ldb, pivots, back)


cdef enum:
    PANEL = 16                    # columns that are eliminated one after another
    SIDES = 32                    # right-hand sides in a part: whole vectors
    GRAIN = 1 << 19               # fewest multiplications for a thread


cdef inline npy_intp _half(npy_intp n, npy_intp unit) noexcept nogil:
    return (n // 2 + unit - 1) // unit * unit


cdef bint _solve(bint wide, bint lower, bint unit, npy_intp n, npy_intp k, const char* a,
                 npy_intp ar, npy_intp ac, char* b, npy_intp ldb, bint share) noexcept nogil:
    cdef npy_intp item = 8 if wide else 4
    cdef npy_intp half = _half(n, IMODE_FEW), rest = n - half
    cdef const char* corner = a + half * (ar + ac) * item
    cdef char* below = b + half * item
    cdef npy_intp i
    if k < COLUMNS and ar == 1:
        for i in range(k):
            imode_triangle_vector(wide, lower, unit, n, a, ac, b + i * ldb * item)
        return True
    if n <= IMODE_FEW:
        imode_triangle(wide, lower, unit, n, k, a, ar, ac, b, ldb)
        return True
    if lower:
        return (
            _solve(wide, lower, unit, half, k, a, ar, ac, b, ldb, share)
            and gemm(wide, k, half, rest, b, ldb, 1, a + half * ar * item, ac, ar, below, ldb, True,
                     share)
            and _solve(wide, lower, unit, rest, k, corner, ar, ac, below, ldb, share))
    return (
        _solve(wide, lower, unit, rest, k, corner, ar, ac, below, ldb, share)
        and gemm(wide, k, rest, half, below, ldb, 1, a + half * ac * item, ac, ar, b, ldb, True,
                 share)
        and _solve(wide, lower, unit, half, k, a, ar, ac, b, ldb, share))


# ---- on several threads: columns, which have nothing to do with each other ----

cdef void _in_parts(npy_intp k, npy_intp each, range_body body, void* context) noexcept nogil:
    """Share out k columns, each of so many multiplications."""
    cdef npy_intp parts = max(k // SIDES, 1)
    parallel_for(parts, max(GRAIN // (each * SIDES + 1), (parts - 1) // num_threads()) + 1, body,
                 context)


ctypedef struct System:
    bint wide, lower, unit
    npy_intp n, k, ar, ac, ldb
    const char* a
    char* b
    bint failed


cdef void _solve_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Parts begin to end of the right-hand sides; the last has all that are left."""
    cdef System* s = <System*>context
    cdef npy_intp first = begin * SIDES, last = end * SIDES
    if s.k - last < SIDES:
        last = s.k
    if not _solve(s.wide, s.lower, s.unit, s.n, last - first, s.a, s.ar, s.ac,
                  s.b + first * s.ldb * (8 if s.wide else 4), s.ldb, False):
        s.failed = True


cdef bint solve_triangle(bint wide, bint lower, bint unit, npy_intp n, npy_intp k, const char* a,
                         npy_intp ar, npy_intp ac, char* b, npy_intp ldb,
                         bint share) noexcept nogil:
    cdef System s = System(wide, lower, unit, n, k, ar, ac, ldb, a, b, False)
    if not share or k < 2 * SIDES:
        return _solve(wide, lower, unit, n, k, a, ar, ac, b, ldb, share)
    _in_parts(k, n * n // 2, _solve_some, &s)
    return not s.failed


# ---- LU and inverses ----

ctypedef struct Right:             # the columns beside those of which LU is made
    bint wide
    npy_intp m, n, k, lda
    char* a
    const int32_t* pivots
    bint failed


cdef bint _update(Right* r, npy_intp first, npy_intp k) noexcept nogil:
    """What LU of the left n columns does to k of the columns beside them."""
    cdef npy_intp item = 8 if r.wide else 4
    cdef char* right = r.a + (r.n + first) * r.lda * item
    imode_exchange(r.wide, r.n, k, right, r.lda, r.pivots, False)
    return _solve(r.wide, True, True, r.n, k, r.a, 1, r.lda, right, r.lda, False) and (
        r.m == r.n or gemm(r.wide, k, r.n, r.m - r.n, right, r.lda, 1, r.a + r.n * item, r.lda, 1,
                           right + r.n * item, r.lda, True, False))


cdef void _update_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Parts begin to end of the columns; the last has all that are left."""
    cdef Right* r = <Right*>context
    cdef npy_intp first = begin * SIDES, last = end * SIDES
    if r.k - last < SIDES:
        last = r.k
    if not _update(r, first, last - first):
        r.failed = True


cdef npy_intp factor(bint wide, npy_intp m, npy_intp n, char* a, npy_intp lda, int32_t* pivots,
                     bint share) noexcept nogil:
    cdef npy_intp item = 8 if wide else 4
    cdef npy_intp half = m if n > m else _half(n, PANEL), i
    cdef npy_intp first, then
    cdef char* right = a + half * lda * item
    cdef Right r = Right(wide, m, half, n - half, lda, a, pivots, False)
    if n <= PANEL and n <= m:
        return imode_lu_panel(wide, m, n, a, lda, pivots)
    first = factor(wide, m, half, a, lda, pivots, share)
    if first < 0:
        return -1
    if share:
        _in_parts(r.k, half * m, _update_some, &r)
    else:
        r.failed = not _update(&r, 0, r.k)
    if r.failed:
        return -1
    if m == half:
        return first
    then = factor(wide, m - half, n - half, right + half * item, lda, pivots + half, share)
    if then < 0:
        return -1
    imode_exchange(wide, min(m, n) - half, half, a + half * item, lda, pivots + half, False)
    for i in range(half, min(m, n)):
        pivots[i] += <int32_t>half
    return first or then and then + half


cdef bint _invert_lower(bint wide, npy_intp n, const char* a, npy_intp lda, char* b,
                        npy_intp ldb, bint share) noexcept nogil:
    """The inverse of a triangle with ones in its diagonal, in the place of the unit matrix."""
    cdef npy_intp item = 8 if wide else 4
    cdef npy_intp half = _half(n, IMODE_FEW), rest = n - half
    cdef const char* corner = a + half * (1 + lda) * item
    cdef char* below = b + half * item
    if n <= IMODE_FEW:
        imode_triangle(wide, True, True, n, n, a, 1, lda, b, ldb)
        return True
    return (
        _invert_lower(wide, half, a, lda, b, ldb, share)
        and gemm(wide, half, half, rest, b, ldb, 1, a + half * item, lda, 1, below, ldb, True,
                 share)
        and solve_triangle(wide, True, True, rest, half, corner, 1, lda, below, ldb, share)
        and _invert_lower(wide, rest, corner, lda, below + half * ldb * item, ldb, share))


cdef bint invert(bint wide, npy_intp n, const char* a, npy_intp lda, const int32_t* pivots, char* b,
                 bint share) noexcept nogil:
    cdef npy_intp item = 8 if wide else 4, i
    memset(b, 0, n * n * item)
    for i in range(n):
        if wide:
            (<double*>b)[i * (n + 1)] = 1
        else:
            (<float*>b)[i * (n + 1)] = 1
    return (
        _invert_lower(wide, n, a, lda, b, n, share)
        and solve_triangle(wide, False, False, n, n, a, 1, lda, b, n, share)
        and _swap_columns(wide, n, b, pivots))


cdef bint _swap_columns(bint wide, npy_intp n, char* b, const int32_t* pivots) noexcept nogil:
    """The exchanges of rows before a matrix are those of columns of its inverse, the last first."""
    cdef npy_intp i, other, _row, item = 8 if wide else 4
    cdef char* x
    cdef char* y
    for i in reversed(range(n)):
        other = pivots[i] - 1
        if other == i:
            continue
        x, y = b + i * n * item, b + other * n * item
        if wide:
            for _row in range(n):
                (<double*>x)[_row], (<double*>y)[_row] = (<double*>y)[_row], (<double*>x)[_row]
        else:
            for _row in range(n):
                (<float*>x)[_row], (<float*>y)[_row] = (<float*>y)[_row], (<float*>x)[_row]
    return True
