"""Large products of matrices of float32, float64 and integers, shared between threads.

The loops are in _gemm.c. How a product is cut has no influence on its bits, so it may depend on how
many threads there are. Each takes some rows of `a`, so that they stay in its cache, and packs all
of `b`, which pays from some hundred rows on; where there are fewer, a span of columns of `b`, in
blocks; and where these are too few, both.
"""
from imode._core.parallel cimport num_threads, parallel_for
from libc.stdlib cimport free, malloc
from numpy cimport npy_intp

cdef extern from "gemm.h" nogil:
    npy_intp imode_gemm_columns(int kind, npy_intp ak) noexcept
    npy_intp imode_gemm_buffer(int kind, npy_intp n, npy_intp k, npy_intp m,
                               npy_intp ak) noexcept
    void imode_gemm(int kind, npy_intp n, npy_intp k, npy_intp m, const void* a, npy_intp an,
                    npy_intp ak, const void* b, npy_intp bk, npy_intp bm, void* c, npy_intp ldc,
                    bint minus, void* buffer) noexcept

cdef enum:
    LINE = 64                     # bytes of a cache line: no vector of a buffer lies in two
    VECTOR = 16                   # columns: a block has whole ones of the widest vectors
    TALL = 256                    # rows for each thread from which on only rows are shared out
    ROWS = 96                     # fewest in a block, where columns are not enough for all threads
    ALONE = 1 << 20               # multiplications that one thread has done before others come

ctypedef struct Product:
    int kind
    npy_intp item
    npy_intp n, k, m
    npy_intp an, ak, bk, bm, ldc
    bint minus
    const char* a
    const char* b
    char* c
    npy_intp columns, rows        # of a block
    npy_intp span                 # columns of as many blocks as a thread takes
    npy_intp each                 # blocks in a span
    npy_intp across               # blocks beside each other
    bint failed


cdef void _blocks(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Blocks begin to end."""
    cdef Product* p = <Product*>context
    cdef npy_intp i, j, n, m, span, beside
    cdef Py_ssize_t block
    cdef char* memory = <char*>malloc(LINE + p.item * imode_gemm_buffer(
        p.kind, min(p.rows, p.n), p.k, min(p.columns, p.m), p.ak))
    cdef char* buffer = memory + LINE - <size_t>memory % LINE
    if memory == NULL:
        p.failed = True
        return
    for block in range(begin, end):
        beside = block % p.across
        span = beside // p.each * p.span
        i, j = block // p.across * p.rows, span + beside % p.each * p.columns
        n, m = min(p.rows, p.n - i), min(p.columns, min(span + p.span, p.m) - j)
        if m <= 0:                # the last span is shorter
            continue
        imode_gemm(p.kind, n, p.k, m, p.a + i * p.an * p.item, p.an, p.ak,
                   p.b + j * p.bm * p.item, p.bk, p.bm, p.c + (i * p.ldc + j) * p.item, p.ldc,
                   p.minus, buffer)
    free(memory)


cdef bint gemm(int kind, npy_intp n, npy_intp k, npy_intp m, const char* a, npy_intp an,
               npy_intp ak, const char* b, npy_intp bk, npy_intp bm, char* c, npy_intp ldc,
               bint minus, bint share) noexcept nogil:
    cdef Product p
    cdef npy_intp threads = num_threads() if share and n * k * m >= ALONE else 1
    cdef npy_intp most = imode_gemm_columns(kind, ak)
    cdef npy_intp spans = min(threads, (m + VECTOR - 1) // VECTOR), down = 1
    if n >= threads * TALL:
        spans, down = 1, threads
    elif spans < threads:
        down = min((threads + spans - 1) // spans, (n + ROWS - 1) // ROWS)
    p.kind, p.item = kind, 4 << kind if kind < GEMM_INT8 else 1 << (kind - GEMM_INT8)
    p.n, p.k, p.m, p.an, p.ak, p.bk, p.bm = n, k, m, an, ak, bk, bm
    p.a, p.b, p.c, p.ldc, p.minus = a, b, c, ldc, minus
    p.span = cut(m, spans, VECTOR)
    p.each = (p.span + most - 1) // most
    p.columns = cut(p.span, p.each, VECTOR)
    p.rows = cut(n, down, 1)
    p.across = (m + p.span - 1) // p.span * p.each
    p.failed = False
    parallel_for(p.across * ((n + p.rows - 1) // p.rows), 1 if threads > 1 else p.across,
                 _blocks, &p)
    return not p.failed
