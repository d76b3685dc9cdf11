"""Products of matrices of one dtype.

Every product is a product of matrices: a vector is a row on the left and a column on the right; a
stack of contiguous matrices times one matrix is a taller matrix. A transposed operand is only a
pair of strides, which both the C loops and the BLAS accept. The rest (other dtypes, shapes that
raise, nothing to multiply) is left to the operator's Python function over ndarrays.
"""
import numpy as np
cimport cython
cimport numpy as cnp
from imode._core.allocator cimport empty
from imode._core.dtype cimport (
    BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, N_DTYPES, UINT8, code_of,
    typenum_of)
from imode._core.loops cimport find_loop, loop_t
from imode._core.parallel cimport num_threads, parallel_for, skipping
from imode._core.moving cimport imode_move, run_move
from imode.kernels.products.gemm cimport (
    GEMM_DOUBLE, GEMM_FLOAT, GEMM_INT8, GEMM_INT16, GEMM_INT32, GEMM_INT64, gemm)
from libc.stdlib cimport free, malloc
from numpy cimport ndarray, npy_intp

from imode.kernels.products.blas import thread_functions

cnp.import_array()

cdef enum:
    GIL_FREE = 32768              # from so many multiplications on, the GIL is released
    SHARED = 1048576              # from so many on, they are shared between threads
    TALL = 48                     # fewest rows of a large product
    BROAD = 10                    # fewest columns of one
    ROWS = 128                    # of a block of the BLAS's
    FEW_COLUMNS = 16              # fewest of a matrix for a few rows to have a loop of their own
    PANEL = 48                    # columns of one that are read together
    DEEP = 64                     # fewest elements of such a dot product
    DOTS = 512                    # fewest multiplications for one row to have a loop of its own
    GRAIN = 65536                 # fewest elements of a matrix per thread, for a few rows
    PIECE = 32768                 # fewest elements of a part of a long dot product
    PIECES = 64                   # most parts
    INTEGERS = 512                # fewest multiplications of integers for a loop of their own
    FLAT = 2097152                # from so many multiplications on, few rows are shared by columns
    COLUMNS = 192                 # about as many in a block of the BLAS's
    FAR = 1 << 21                 # bytes of a stack whose next matrices are fetched ahead,
    NEXT = 4096                   # if they are of so many bytes at most

cdef loop_t _loop[N_DTYPES]       # np.matmul's, by Code
cdef void* _loop_data[N_DTYPES]
cdef object _ufunc = np.matmul    # keeps the loops alive

cdef int _code
cdef int _ignored
for _code in range(N_DTYPES):
    if _code == BOOL or _code == FLOAT16 or not find_loop(
            _ufunc, _code, &_loop[_code], &_loop_data[_code], &_ignored):
        _loop[_code] = NULL

cdef inline int _kind(int code) noexcept nogil:
    """What gemm calls a dtype; -1: none of its own."""
    if code == FLOAT32 or code == FLOAT64:
        return GEMM_DOUBLE if code == FLOAT64 else GEMM_FLOAT
    if code == INT8 or code == UINT8:
        return GEMM_INT8
    if code == INT16:
        return GEMM_INT16
    if code == INT32 or code == INT64:
        return GEMM_INT64 if code == INT64 else GEMM_INT32
    return -1


# ---- the threads of the BLAS ----

ctypedef int (*get_threads_t)() noexcept nogil
ctypedef void (*set_threads_t)(int) noexcept nogil

cdef size_t _get_address, _set_address
_get_address, _set_address = thread_functions()
cdef get_threads_t _get_threads = <get_threads_t>_get_address
cdef set_threads_t _set_threads = <set_threads_t>_set_address


cdef int one_thread() noexcept nogil:
    """Restrict the BLAS to the calling thread; returns how many threads it used before.

    Its own threads wait for each other in busy loops: if another process uses the cores, a product
    of 20 µs takes milliseconds. Large products are shared by rows in our own pool instead.
    """
    cdef int before
    if _get_threads == NULL:
        return 0
    before = _get_threads()
    if before != 1:
        _set_threads(1)
    return before


cdef void restore_threads(int before) noexcept nogil:
    if before > 1:
        _set_threads(before)


@cython.binding(False)
@cython.final
cdef class OneThread:
    """A `with` block in which NumPy's own products keep to the calling thread; see `one_thread`."""

    cdef int before

    def __enter__(self):
        self.before = one_thread()

    def __exit__(self, *exc_info):
        restore_threads(self.before)


cdef enum Way:                    # who computes a product
    SMALL                         # the loops of _multiply.c, by the layout,
    FEW                           # for a few rows by a matrix with contiguous rows,
    BY_DOTS                       # and by one with contiguous columns
    LARGE                         # those of _gemm.c
    BY_BLAS                       # NumPy's, which call the BLAS where it has the dtype

ctypedef struct Product:          # of one pair of matrices, or of a stack of them
    int code
    Way way
    npy_intp item
    npy_intp dims[4]              # batch, rows, inner, columns
    npy_intp steps[9]             # bytes to the next matrices, then to their rows and columns
    npy_intp columns              # of a block of one product
    char* args[3]


cdef bint _large(Product* p, char** args, bint share) noexcept nogil:
    """One product by _gemm.c; False: there was no memory for it."""
    cdef npy_intp item = p.item
    cdef npy_intp* step = p.steps
    return gemm(_kind(p.code), p.dims[1], p.dims[2], p.dims[3], args[0], step[3] // item,
                step[4] // item, args[1], step[5] // item, step[6] // item, args[2], p.dims[3],
                False, share)


cdef void _columns(Product* p, char** args, npy_intp first, npy_intp last) noexcept nogil:
    """Columns first to last of a few rows times a matrix."""
    cdef npy_intp item = p.item
    cdef npy_intp* step = p.steps
    if p.way == FEW:
        imode_few_rows(p.code == FLOAT64, p.dims[1], p.dims[2], last - first, args[0],
                       step[3] // item, step[4] // item, args[1] + first * item, step[5] // item,
                       args[2] + first * item, p.dims[3])
    else:
        imode_dots(p.code == FLOAT64, p.dims[1], p.dims[2], last - first, args[0],
                   step[3] // item, args[1] + first * step[6], step[6] // item,
                   args[2] + first * item, p.dims[3])


cdef void _matrices(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The products of pairs begin to end."""
    cdef Product* p = <Product*>context
    cdef npy_intp[4] dims = [end - begin, p.dims[1], p.dims[2], p.dims[3]]
    cdef npy_intp item = p.item
    cdef npy_intp* step = p.steps
    cdef bint far = (end - begin) * max(step[0], step[1]) >= FAR
    cdef char* args[3]
    cdef int i
    cdef Py_ssize_t _number
    for i in range(3):
        args[i] = p.args[i] + begin * step[i]
    if p.way == BY_BLAS:
        _loop[p.code](args, dims, p.steps, _loop_data[p.code])
        return
    for _number in range(begin, end):
        for i in range(2):
            if far and step[i] <= NEXT:
                imode_fetch(args[i] + 2 * step[i], step[i])
        if p.way == FEW or p.way == BY_DOTS:
            _columns(p, args, 0, p.dims[3])
        elif p.way == LARGE:
            if not _large(p, args, False):
                dims[0] = end - _number
                _loop[p.code](args, dims, p.steps, _loop_data[p.code])
                return
        elif p.code == FLOAT32:
            imode_small_matmul_f(
                <float*>args[0], step[3] // item, step[4] // item, <float*>args[1],
                step[5] // item, step[6] // item, <float*>args[2], dims[1], dims[2], dims[3])
        else:
            imode_small_matmul_d(
                <double*>args[0], step[3] // item, step[4] // item, <double*>args[1],
                step[5] // item, step[6] // item, <double*>args[2], dims[1], dims[2], dims[3])
        for i in range(3):
            args[i] += step[i]


cdef void _rows(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Blocks of ROWS rows, begin to end, of one product."""
    cdef Product* whole = <Product*>context
    cdef npy_intp first = begin * ROWS
    cdef npy_intp[4] dims = [1, 0, whole.dims[2], whole.dims[3]]
    cdef char* args[3]
    cdef Py_ssize_t _block
    args[1] = whole.args[1]
    for _block in range(begin, end):
        dims[1] = min(<npy_intp>ROWS, whole.dims[1] - first)
        args[0] = whole.args[0] + first * whole.steps[3]
        args[2] = whole.args[2] + first * whole.steps[7]
        _loop[whole.code](args, dims, whole.steps, _loop_data[whole.code])
        first += ROWS


cdef void _blocks(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Blocks of columns, begin to end, of one product."""
    cdef Product* whole = <Product*>context
    cdef npy_intp first, last
    cdef npy_intp[4] dims
    cdef char* args[3]
    cdef Py_ssize_t block
    for block in range(begin, end):
        first = block * whole.columns
        last = min(first + whole.columns, whole.dims[3])
        dims = [1, whole.dims[1], whole.dims[2], last - first]
        args[0] = whole.args[0]
        args[1] = whole.args[1] + first * whole.steps[6]
        args[2] = whole.args[2] + first * whole.item
        _loop[whole.code](args, dims, whole.steps, _loop_data[whole.code])


cdef void _panels(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Panels of columns, begin to end, of a few rows times a matrix."""
    cdef Product* p = <Product*>context
    _columns(p, p.args, begin * PANEL, min(end * PANEL, p.dims[3]))


cdef struct Dot:                  # of two long vectors: the sum of those of their parts
    Product* p
    npy_intp size                 # of a part, which only the length decides on
    double[PIECES] found


cdef void _parts(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Parts begin to end."""
    cdef Dot* dot = <Dot*>context
    cdef Product* p = dot.p
    cdef npy_intp first, n
    cdef float narrow
    cdef Py_ssize_t part
    for part in range(begin, end):
        first = part * dot.size
        n = min(dot.size, p.dims[2] - first)
        first *= p.item
        if p.code == FLOAT64:
            imode_dots(True, 1, n, 1, p.args[0] + first, n, p.args[1] + first, n,
                       &dot.found[part], 1)
        else:
            imode_dots(False, 1, n, 1, p.args[0] + first, n, p.args[1] + first, n, &narrow, 1)
            dot.found[part] = narrow


cdef void _dot(Product* p) noexcept nogil:
    cdef Dot dot
    cdef npy_intp k = p.dims[2], parts, i
    cdef double sum = 0
    dot.p = p
    dot.size = max((k + PIECES - 1) // PIECES, <npy_intp>PIECE)
    parts = (k + dot.size - 1) // dot.size
    parallel_for(parts, GRAIN // dot.size + 1, _parts, &dot)
    for i in range(parts):
        sum += dot.found[i]
    if p.code == FLOAT64:
        (<double*>p.args[2])[0] = sum
    else:
        (<float*>p.args[2])[0] = <float>sum


# ---- the product of two matrices ----

cdef Matrix matrix(ndarray x):
    """A 2-D array as a matrix, a 1-D array as a row; borrows the array's memory."""
    cdef Matrix m
    cdef int last = x.ndim - 1
    m.data = <char*>cnp.PyArray_DATA(x)
    m.columns = x.shape[last]
    m.column_stride = x.strides[last]
    m.rows = x.shape[last - 1] if last else 1
    m.row_stride = x.strides[last - 1] if last else m.columns * m.column_stride
    return m


cdef Matrix folded(ndarray x):
    """A contiguous stack as one taller matrix. Strides of dimensions of size 1 are ignored."""
    cdef Matrix m
    m.data = <char*>cnp.PyArray_DATA(x)
    m.columns = x.shape[x.ndim - 1]
    m.rows = cnp.PyArray_SIZE(x) // m.columns
    m.column_stride = cnp.PyArray_ITEMSIZE(x)
    m.row_stride = m.columns * m.column_stride
    return m


cdef Matrix transposed(Matrix m) noexcept nogil:
    cdef Matrix t
    t.data = m.data
    t.rows, t.columns = m.columns, m.rows
    t.row_stride, t.column_stride = m.column_stride, m.row_stride
    return t


cdef bint blas_takes(Matrix* m, npy_intp item) noexcept nogil:
    """Whether one of the dimensions is contiguous and the other does not overlap it."""
    return (m.column_stride == item and (m.rows == 1 or m.row_stride >= m.columns * item)) or (
        m.row_stride == item and (m.columns == 1 or m.column_stride >= m.rows * item))


cdef bint _turned(int code, npy_intp item, Matrix* a, Matrix* b, char* out) noexcept nogil:
    """The product as that of `b` and `a`, turned over: `a`, which is small, is packed or read in
    columns, not `b`. False: there was no memory for it."""
    cdef Matrix left = transposed(b[0])
    cdef Matrix right = transposed(a[0])
    cdef char* made = <char*>malloc(left.rows * right.columns * item)
    cdef imode_move move
    if made == NULL:
        return False
    multiply(code, item, 1, &left, 0, &right, 0, made)
    move.to, move.from_, move.item, move.nd = out, made, item, 2
    move.dims[0], move.to_steps[0], move.from_steps[0] = right.columns, left.rows * item, item
    move.dims[1], move.to_steps[1], move.from_steps[1] = left.rows, item, right.columns * item
    run_move(&move)
    free(made)
    return True


cdef void multiply(int code, npy_intp item, npy_intp batch, Matrix* a, npy_intp a_step,
                   Matrix* b, npy_intp b_step, char* out) noexcept nogil:
    """`batch` products of matrices; steps: bytes to the next matrix; `out` is contiguous."""
    cdef npy_intp n = a.rows
    cdef npy_intp k = a.columns
    cdef npy_intp m = b.columns
    cdef npy_intp work = n * k * m        # multiplications for one pair
    cdef bint floats = code == FLOAT32 or code == FLOAT64
    cdef bint integers = _kind(code) >= GEMM_INT8 and work >= INTEGERS
    cdef int blas_threads = 0
    cdef Product whole
    cdef Matrix row, turned
    if integers and m == 1 and n > 1:      # a matrix times a column: a row times its transpose
        row, turned = transposed(b[0]), transposed(a[0])
        multiply(code, item, batch, &row, b_step, &turned, a_step, out)
        return
    whole.code, whole.item = code, item
    whole.way = BY_BLAS
    # Several threads share a large product, by the loops of `gemm`, which give the same bits.
    cdef bint alone = batch > 1 or (num_threads() == 1 and n >= TALL and m >= BROAD)
    cdef bint dots = floats and n <= imode_dot_rows() and k >= DEEP and (
        a.column_stride == item == b.row_stride)
    if dots and work >= SHARED // 4:
        whole.way = BY_DOTS
    elif floats and imode_small_product(alone, n, k, m, b.column_stride // item, b.row_stride):
        whole.way = SMALL
    elif integers or floats and n >= TALL and m >= BROAD:
        whole.way = LARGE
    elif floats and n < TALL and m >= FEW_COLUMNS and b.column_stride == item:
        whole.way = FEW
    elif dots:
        whole.way = BY_DOTS
    whole.dims = [batch, n, k, m]
    whole.steps = [a_step, b_step, n * m * item, a.row_stride, a.column_stride, b.row_stride,
                   b.column_stride, m * item, item]
    whole.args = [a.data, b.data, out]
    if batch == n == m == 1 and k >= 2 * PIECE and floats and (
            a.column_stride == item == b.row_stride):
        _dot(&whole)
        return
    if batch == n == 1 and work >= DOTS and floats and a.column_stride == item == b.row_stride:
        whole.way = BY_DOTS
    if batch == 1 and (whole.way == FEW or whole.way == BY_DOTS):
        parallel_for((m + PANEL - 1) // PANEL,
                     max(<npy_intp>GRAIN, SHARED // 4 // n) // k // PANEL + 1, _panels, &whole)
        return
    # A few rows by the transpose of a matrix, as layers of networks have them.
    if batch == 1 < n < TALL <= m and whole.way == BY_BLAS and floats and b.row_stride == item:
        if _turned(code, item, a, b, out):
            return
    if batch == 1 and whole.way == LARGE:
        if _large(&whole, whole.args, work >= SHARED):
            return
        whole.way = BY_BLAS
    if whole.way == BY_BLAS or whole.way == LARGE:
        blas_threads = one_thread()
    # The blocks of the BLAS depend on the shape alone, so that the bits do not on the threads.
    if batch == 1 and n < ROWS and m >= 2 * COLUMNS and work >= FLAT and whole.way == BY_BLAS:
        whole.columns = (m // max(m // COLUMNS, 2) + 15) // 16 * 16
        parallel_for((m + whole.columns - 1) // whole.columns, 1, _blocks, &whole)
    elif batch == 1 and n >= 2 * ROWS and work >= SHARED and whole.way == BY_BLAS:
        parallel_for((n + ROWS - 1) // ROWS, 1, _rows, &whole)
    elif batch * work < SHARED:
        _matrices(&whole, 0, batch)
    else:
        parallel_for(batch, max(1, SHARED // 4 // work), _matrices, &whole)
    restore_threads(blas_threads)


cdef ndarray product(int code, Matrix a, Matrix b, int nd, npy_intp* dims, npy_intp batch=1,
                     npy_intp a_step=0, npy_intp b_step=0):
    """A new array of shape `dims` with the products."""
    cdef ndarray out
    cdef npy_intp item
    out = empty(typenum_of[code], nd, dims)
    item = cnp.PyArray_ITEMSIZE(out)
    if batch * a.rows * a.columns * b.columns < GIL_FREE:
        multiply(code, item, batch, &a, a_step, &b, b_step, <char*>cnp.PyArray_DATA(out))
    elif not skipping():
        with nogil:
            multiply(code, item, batch, &a, a_step, &b, b_step, <char*>cnp.PyArray_DATA(out))
    return out


cdef ndarray for_blas(ndarray x):
    """The same matrix or vector, copied if the BLAS does not accept its strides."""
    cdef Matrix m = matrix(x)
    if blas_takes(&m, cnp.PyArray_ITEMSIZE(x)) or cnp.PyArray_SIZE(x) < 64 or skipping():
        return x
    return x.copy("C")


cdef int common_code(ndarray x, ndarray y) noexcept:
    """The Code of both, if there is a loop for it and something to multiply; else -1."""
    cdef int code = code_of[cnp.PyArray_TYPE(x)]
    if cnp.PyArray_TYPE(y) != cnp.PyArray_TYPE(x) or _loop[code] == NULL or (
            cnp.PyArray_SIZE(x) == 0 or cnp.PyArray_SIZE(y) == 0):
        return -1
    return code


# ---- adding to a product ----

cdef bint addable(ndarray addend, int code, npy_intp n, npy_intp m, npy_intp* rows,
                  npy_intp* columns) noexcept:
    """Whether `addend` expands to (n, m), and if so, its strides in elements."""
    cdef int nd = addend.ndim
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(addend)
    cdef npy_intp size
    rows[0] = columns[0] = 0
    if code_of[cnp.PyArray_TYPE(addend)] != code or nd > 2:
        return False
    if nd > 0:
        size = addend.shape[nd - 1]
        if size != m and size != 1:
            return False
        if size != 1 or m == 1:
            columns[0] = addend.strides[nd - 1] // item
    if nd > 1:
        size = addend.shape[0]
        if size != n and size != 1:
            return False
        if size != 1:
            rows[0] = addend.strides[0] // item
    return True


cdef bint add_scaled(ndarray out, int code, npy_intp n, npy_intp m, ndarray addend, npy_intp rows,
                     npy_intp columns, double beta, double alpha) noexcept:
    """out = beta * addend + alpha * out, for n x m numbers; False for other dtypes."""
    if skipping():
        return code == FLOAT32 or code == FLOAT64
    if code == FLOAT32:
        imode_add_scaled_f(<float*>cnp.PyArray_DATA(out), n, m,
                           <float*>cnp.PyArray_DATA(addend), rows, columns, beta, alpha)
    elif code == FLOAT64:
        imode_add_scaled_d(<double*>cnp.PyArray_DATA(out), n, m,
                           <double*>cnp.PyArray_DATA(addend), rows, columns, beta, alpha)
    else:
        return False
    return True


cdef bint add_into(ndarray out, int code, npy_intp n, npy_intp m, ndarray addend, double beta,
                   double alpha) noexcept:
    """out = beta * addend + alpha * out; False: for the general case."""
    cdef npy_intp rows, columns
    return addable(addend, code, n, m, &rows, &columns) and add_scaled(
        out, code, n, m, addend, rows, columns, beta, alpha)
