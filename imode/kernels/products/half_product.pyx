"""Products of matrices of bfloat16 and float16: summed in float32, rounded once.

Few rows are multiplied with columns as they lie in memory, many rows of bfloat16 by instructions
for it, where the machine has loops for that (_half_product.c). All others go through `multiply` in
float32: the smaller operand is converted whole, the other one in blocks that the cache holds, as
the result is.
"""
cimport numpy as cnp
from imode._core.allocator cimport empty
from imode._core.dtype cimport BFLOAT16, FLOAT16, FLOAT32, code_of, typenum_of
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.creation.copy cimport converter, imode_converter
from imode.kernels.products.gemm cimport cut
from imode.kernels.products.multiply cimport (
    Matrix, multiply, one_thread, restore_threads, transposed)
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "half_product.h" nogil:
    enum:
        PANEL "IMODE_PANEL"
        LANES "IMODE_LANES"
    bint imode_brain_takes() noexcept
    npy_intp imode_brain_step() noexcept
    void imode_brain_pairs(npy_intp rows, npy_intp depth, const void* a, npy_intp ai, npy_intp ak,
                           void* to, npy_intp full) noexcept
    void imode_brain_pack(npy_intp depth, npy_intp full, npy_intp cols, const void* b, npy_intp bk,
                          npy_intp bj, void* panel) noexcept
    void imode_brain_panel(npy_intp rows, npy_intp full, npy_intp cols, const void* a, npy_intp ai,
                           const void* panel, const float* bias, void* out, npy_intp ldo) noexcept
    bint imode_half_dots_take() noexcept
    void imode_half_dots(bint brain, npy_intp n, npy_intp k, npy_intp m, const float* a,
                         npy_intp an, const void* b, npy_intp bm, float* out, npy_intp ldo) noexcept

cdef enum:
    GIL_FREE = 32768              # from so many multiplications on, the GIL is released
    SHARE = 262144                # fewest multiplications per thread
    LEAST = 8                     # least size of a product by instructions for bfloat16,
    WORTH = 1 << 18               # and fewest multiplications in it, and per thread
    LINE = 64                     # bytes
    MANY = 128                    # columns for which rows across lines are copied
    NEAR = 1 << 19                # bytes of rows that stay near, and of panels
    FEW = 16                      # most rows that are multiplied with columns as they lie
    BESIDE = 64                   # columns of such a block
    GRAIN = 65536                 # fewest elements of columns per thread
    BLOCK = 131072                # most elements of a converted block of columns,
    COLUMNS = 192                 # of which it has at most so many
    ROWS = 128                    # fewest rows of a block,
    AROUND = 131072               # whose elements and results are about so many

ctypedef struct Half:
    bint brain                    # of bfloat16, not float16
    npy_intp n, k, m
    Matrix a, b                   # once `widened`, of float32
    npy_intp a_step, b_step       # bytes to the next matrices
    imode_converter widen, narrow
    float* bias                   # filled up with zeros to a multiple of PANEL; NULL: none
    char* out
    bint by_rows                  # blocks of a, not of b
    npy_intp size                 # rows or columns of a block
    npy_intp full                 # k, filled up
    const float* rows             # of a, filled up to `full`
    bint failed                   # there was no memory

cdef bint _has_brain = imode_brain_takes()
cdef bint _has_dots = imode_half_dots_take()


ctypedef struct Widening:         # of a dense operand
    imode_converter widen
    float* to
    const char* source
    npy_intp size


cdef void _pieces(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Pieces of GRAIN elements, begin to end."""
    cdef Widening* w = <Widening*>context
    cdef npy_intp first = begin * GRAIN
    w.widen(<char*>(w.to + first), w.source + 2 * first, min(w.size, end * GRAIN) - first)


cdef Matrix _widened(Half* p, Matrix m, float* to) noexcept nogil:
    """A part of an operand in float32, dense, in rows or in columns as it lies."""
    cdef npy_intp i, j
    cdef Widening w
    cdef Matrix made = m
    if m.row_stride == 2 and m.column_stride != 2:
        return transposed(_widened(p, transposed(m), to))
    made.data = <char*>to
    made.row_stride, made.column_stride = 4 * m.columns, 4
    if m.column_stride != 2 and m.columns > 1:
        for i in range(m.rows):
            for j in range(m.columns):
                p.widen(<char*>(to + i * m.columns + j),
                        m.data + i * m.row_stride + j * m.column_stride, 1)
    elif m.row_stride == 2 * m.columns:
        w.widen, w.to, w.source, w.size = p.widen, to, m.data, m.rows * m.columns
        parallel_for((w.size + GRAIN - 1) // GRAIN, 2, _pieces, &w)
    else:
        for i in range(m.rows):
            p.widen(<char*>(to + i * m.columns), m.data + i * m.row_stride, m.columns)
    return made


cdef inline void _finish(Half* p, float* result, npy_intp first, npy_intp columns, npy_intp rows,
                         char* out) noexcept nogil:
    """Rows of `columns` results from the first on: with the bias, rounded, into those of `out`."""
    cdef npy_intp i, j
    if p.bias != NULL:
        for i in range(rows):
            for j in range(columns):
                result[i * columns + j] += p.bias[first + j]
    if columns == p.m:
        p.narrow(out, <char*>result, rows * columns)
        return
    for i in range(rows):
        p.narrow(out + 2 * (i * p.m + first), <char*>(result + i * columns), columns)


# ---- in blocks of float32 ----

cdef void _blocks(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Blocks begin to end."""
    cdef Half* p = <Half*>context
    cdef npy_intp first, size
    cdef npy_intp across = p.m if p.by_rows else p.n
    cdef Matrix part
    cdef Py_ssize_t block
    cdef float* result = <float*>malloc(4 * p.size * (p.k + across))
    cdef float* wide = result + p.size * across
    if result == NULL:
        p.failed = True
        return
    for block in range(begin, end):
        first = block * p.size
        if p.by_rows:
            part = p.a
            part.rows = size = min(p.size, p.n - first)
            part.data += first * part.row_stride
            part = _widened(p, part, wide)
            multiply(FLOAT32, 4, 1, &part, 0, &p.b, 0, <char*>result)
            _finish(p, result, 0, p.m, size, p.out + 2 * first * p.m)
        else:
            part = p.b
            part.columns = size = min(p.size, p.m - first)
            part.data += first * part.column_stride
            part = _widened(p, part, wide)
            multiply(FLOAT32, 4, 1, &p.a, 0, &part, 0, <char*>result)
            _finish(p, result, first, size, p.n, p.out)
    free(result)


cdef void _in_blocks(Half* p) noexcept nogil:
    cdef Matrix* whole = &p.a
    cdef float* wide
    cdef npy_intp along = p.m, parts
    p.by_rows = p.n > p.m
    if p.by_rows:
        whole = &p.b
        along = p.n
        p.size = max(<npy_intp>ROWS, AROUND // (p.k + p.m))
    else:
        p.size = max(<npy_intp>PANEL, min(<npy_intp>COLUMNS, BLOCK // p.k))
    parts = (along + p.size - 1) // p.size
    if parts == 1:
        p.size = along
    else:
        p.size = cut(along, parts + parts % 2, PANEL)    # as many for each of two threads
        parts = (along + p.size - 1) // p.size
    wide = <float*>malloc(4 * whole.rows * whole.columns)
    if wide == NULL:
        p.failed = True
        return
    whole[0] = _widened(p, whole[0], wide)
    parallel_for(parts, SHARE // (p.n * p.k * p.m // parts + 1) + 1, _blocks, p)
    free(wide)


# ---- few rows ----

cdef void _beside(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Blocks of columns, begin to end."""
    cdef Half* p = <Half*>context
    cdef float[FEW * BESIDE] result
    cdef npy_intp first, columns
    cdef Py_ssize_t block
    for block in range(begin, end):
        first = block * BESIDE
        columns = min(<npy_intp>BESIDE, p.m - first)
        imode_half_dots(p.brain, p.n, p.k, columns, p.rows, p.full,
                        p.b.data + first * p.b.column_stride, p.b.column_stride // 2, result,
                        columns)
        _finish(p, result, first, columns, p.n, p.out)


cdef void _by_columns(Half* p) noexcept nogil:
    cdef float* rows
    cdef npy_intp i
    cdef Matrix row = p.a
    p.full = (p.k + LANES - 1) // LANES * LANES
    rows = <float*>malloc(4 * p.n * p.full)
    if rows == NULL:
        p.failed = True
        return
    row.rows = 1
    for i in range(p.n):
        _widened(p, row, rows + i * p.full)
        memset(rows + i * p.full + p.k, 0, 4 * (p.full - p.k))
        row.data += row.row_stride
    p.rows = rows
    parallel_for((p.m + BESIDE - 1) // BESIDE, GRAIN // (p.k * BESIDE) + 1, _beside, p)
    free(rows)


# ---- by instructions for bfloat16 ----

cdef inline char* _at_line(char* address) noexcept nogil:
    """Where the next cache line begins: what lies across two takes twice as long to read."""
    return address + (LINE - <size_t>address % LINE) % LINE


cdef void _panels(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Panels begin to end: as many as the cache holds are packed, then rows pass by all of them."""
    cdef Half* p = <Half*>context
    cdef npy_intp of_panel = 2 * PANEL * p.full, i, j, k, n, beside
    cdef npy_intp rows = max(<npy_intp>PANEL, NEAR // (2 * p.full) // PANEL * PANEL)
    cdef npy_intp most = min(end - begin, max(<npy_intp>1, NEAR // of_panel))
    cdef Py_ssize_t panel
    cdef char* held = <char*>malloc(most * of_panel + LINE)
    cdef char* buffer = _at_line(held)
    if held == NULL:
        p.failed = True
        return
    panel = begin
    while panel < end:
        beside = min(most, end - panel)
        for k in range(beside):
            j = (panel + k) * PANEL
            imode_brain_pack(
                p.k, p.full, min(<npy_intp>PANEL, p.m - j), p.b.data + j * p.b.column_stride,
                p.b.row_stride // 2, p.b.column_stride // 2, buffer + k * of_panel)
        i = 0
        while i < p.n:
            n = min(rows, p.n - i)
            for k in range(beside):
                j = (panel + k) * PANEL
                imode_brain_panel(
                    n, p.full, min(<npy_intp>PANEL, p.m - j), p.a.data + i * p.a.row_stride,
                    p.a.row_stride // 2, buffer + k * of_panel,
                    NULL if p.bias == NULL else p.bias + j, p.out + 2 * (i * p.m + j), p.m)
            i += n
        panel += beside
    free(held)


cdef void _by_panels(Half* p) noexcept nogil:
    cdef void* pairs = NULL
    cdef char* rows
    cdef npy_intp step = imode_brain_step()
    p.full = (p.k + step - 1) // step * step
    cdef bint across = (<size_t>p.a.data | <size_t>p.a.row_stride) % LINE and p.m >= MANY
    if p.a.column_stride != 2 or p.k < p.full or across:
        pairs = malloc(2 * p.n * p.full + LINE)
        if pairs == NULL:
            p.failed = True
            return
        rows = _at_line(<char*>pairs)
        imode_brain_pairs(p.n, p.k, p.a.data, p.a.row_stride // 2, p.a.column_stride // 2, rows,
                          p.full)
        p.a.data, p.a.row_stride = rows, 2 * p.full
    parallel_for((p.m + PANEL - 1) // PANEL, WORTH // (p.n * p.k * PANEL) + 1, _panels, p)
    free(pairs)


cdef void _one(Half* p) noexcept nogil:
    """The product of one pair of matrices."""
    cdef bint by_panels = p.brain and _has_brain and p.n >= LEAST and p.m >= LEAST and (
        p.k >= LEAST and p.n * p.k * p.m >= WORTH)
    if by_panels:
        _by_panels(p)
    elif p.n <= FEW and p.b.row_stride == 2 and _has_dots:
        _by_columns(p)
    else:
        _in_blocks(p)


cdef void _pairs(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The products of pairs begin to end."""
    cdef Half* p = <Half*>context
    cdef Half one
    cdef Py_ssize_t pair
    for pair in range(begin, end):
        one = p[0]
        one.a.data += pair * p.a_step
        one.b.data += pair * p.b_step
        one.out += 2 * pair * p.n * p.m
        _one(&one)
        if one.failed:
            p.failed = True
            return


cdef void _run(Half* p, npy_intp batch, const char* bias) noexcept nogil:
    cdef npy_intp work = p.n * p.k * p.m
    cdef npy_intp full = (p.m + PANEL - 1) // PANEL * PANEL
    cdef float* wide = NULL
    cdef int blas_threads
    if bias != NULL:
        wide = <float*>malloc(4 * full)
        if wide == NULL:
            p.failed = True
            return
        p.widen(<char*>wide, bias, p.m)
        memset(wide + p.m, 0, 4 * (full - p.m))
        p.bias = wide
    blas_threads = one_thread()
    if batch == 1:
        _one(p)
    else:
        parallel_for(batch, SHARE // work + 1, _pairs, p)
    restore_threads(blas_threads)
    free(wide)


cdef int half_code(ndarray x, ndarray y) noexcept:
    cdef int code = code_of[cnp.PyArray_TYPE(x)]
    if (code != BFLOAT16 and code != FLOAT16) or cnp.PyArray_TYPE(x) != cnp.PyArray_TYPE(y) or (
            cnp.PyArray_SIZE(x) == 0 or cnp.PyArray_SIZE(y) == 0):
        return -1
    return code


cdef ndarray half_product(int code, Matrix a, Matrix b, ndarray bias, int nd, npy_intp* dims,
                          npy_intp batch=1, npy_intp a_step=0, npy_intp b_step=0):
    cdef Half p
    cdef const char* added = NULL
    cdef ndarray out
    if bias is not None:
        if not cnp.PyArray_IS_C_CONTIGUOUS(bias):
            bias = bias.copy()
        added = <const char*>cnp.PyArray_DATA(bias)
    out = empty(typenum_of[code], nd, dims)
    p.brain = code == BFLOAT16
    p.n, p.k, p.m = a.rows, a.columns, b.columns
    p.a, p.b, p.a_step, p.b_step = a, b, a_step, b_step
    p.widen, p.narrow = converter(code, FLOAT32), converter(FLOAT32, code)
    p.bias = NULL
    p.out = <char*>cnp.PyArray_DATA(out)
    p.failed = False
    if skipping():
        return out
    if batch * p.n * p.k * p.m < GIL_FREE:
        _run(&p, batch, added)
    else:
        with nogil:
            _run(&p, batch, added)
    return None if p.failed else out
