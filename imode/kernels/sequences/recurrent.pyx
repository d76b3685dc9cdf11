"""A recurrent layer in one direction, over the gates' part from the input, and its gradients.

Rows of all steps lie one after another: (rows, gates * hidden), of which step t has sizes[t], no
more than the step before it; or (steps, batch, gates * hidden), where all have the same. A step
changes the first rows of the state, so that in the end the state's rows are the last of each
sequence, in either direction.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty
from imode._core.channels cimport contiguous
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport FLOAT32, FLOAT64
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport skipping
from imode.kernels.fast_guards cimport PyLong_AsLong, array_of, array_or_none
from imode.kernels.products.matmul cimport Matrix, matrix, multiply, product, transposed
from libc.string cimport memcpy, memset

from imode import errors

cnp.import_array()

cdef enum:
    FEW = 4                       # steps for which packing the weight does not pay

cdef struct Run:                  # one layer, forward or backward
    int cell
    int wide                      # double, else float
    long item                     # bytes of an element
    long steps
    long batch                    # rows of the state
    long rows                     # of all steps
    long hidden
    long width                    # of the gates
    bint reverse
    bint packed                   # whether the weight is packed, else `weight` is used
    const long* sizes             # rows of each step
    char* right                   # the packed weight
    Matrix weight
    char* part                    # (batch, width), the state's part of the gates of a step


cdef int _gates(int cell) noexcept:
    return 4 if cell == CELL_LSTM else 3 if cell == CELL_GRU else 1


def _mismatch(what, array, wanted):
    return RuntimeError(
        f"_recurrent_layer(): expected {what} of the shape {wanted}, but got {list(array.shape)}")


def _other_dtype(what, dtype):
    return RuntimeError(
        f"_recurrent_layer(): expected {what} of the dtype of the gates, but got {dtype}")


cdef int _expect(str what, cnp.ndarray array, int kind, long first, long second=-1,
                 long third=-1) except -1:
    """Check the dtype and the shape: (first), (first, second) or all three."""
    cdef int nd = 1 + (second >= 0) + (third >= 0)
    if cnp.PyArray_NDIM(array) != nd or cnp.PyArray_DIM(array, 0) != first or (
            nd > 1 and cnp.PyArray_DIM(array, 1) != second) or (
            nd > 2 and cnp.PyArray_DIM(array, 2) != third):
        raise _mismatch(what, array, [first, second, third][:nd])
    if cnp.PyArray_TYPE(array) != kind:
        raise _other_dtype(what, array.dtype)
    return 0


cdef int _expect_rows(str what, cnp.ndarray array, int kind, Run* run, long columns,
                      bint packed) except -1:
    """Check what has a row for each row of each step."""
    if packed:
        return _expect(what, array, kind, run.rows, columns)
    return _expect(what, array, kind, run.steps, run.batch, columns)


cdef cnp.ndarray _geometry(Run* run, cnp.ndarray gates, cnp.ndarray hx, object sizes, int cell,
                           bint reverse):
    """Check and note the shapes; returns the rows of each step, which the caller keeps."""
    cdef int kind = cnp.PyArray_TYPE(gates), nd = cnp.PyArray_NDIM(gates)
    cdef cnp.ndarray counts
    cdef cnp.npy_intp n
    cdef long total = 0, before
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        raise errors.dtypes.not_implemented("_recurrent_layer", gates.dtype)
    if not 0 <= cell <= 3 or cnp.PyArray_NDIM(hx) != 2 or nd != (2 if sizes else 3):
        raise _mismatch("gates and a state", gates, "(steps, batch, gates)")
    run.cell, run.reverse = cell, reverse
    run.wide = kind == cnp.NPY_DOUBLE
    run.item = 8 if run.wide else 4
    run.batch, run.hidden = cnp.PyArray_DIM(hx, 0), cnp.PyArray_DIM(hx, 1)
    run.width = _gates(cell) * run.hidden
    run.steps = len(sizes) if sizes else cnp.PyArray_DIM(gates, 0)
    n = run.steps
    counts = empty(cnp.NPY_LONG, 1, &n)
    run.sizes = <const long*>cnp.PyArray_DATA(counts)
    before = run.batch
    for i in range(run.steps):
        size = sizes[i] if sizes else run.batch
        if not 0 <= size <= before:
            raise RuntimeError(
                "_recurrent_layer(): expected batch sizes that do not grow, within the state's")
        (<long*>cnp.PyArray_DATA(counts))[i] = before = size
        total += before
    run.rows = total
    _expect_rows("gates", gates, kind, run, run.width, nd == 2)
    return counts


cdef cnp.ndarray _new(int kind, long rows, long columns):
    cdef cnp.npy_intp[2] dims
    dims[0], dims[1] = rows, columns
    return empty(kind, 2, dims)


cdef cnp.ndarray _shaped(cnp.ndarray like, long columns):
    """A new array of the shape of the gates, with other columns."""
    cdef cnp.npy_intp[3] dims
    cdef int i, nd = cnp.PyArray_NDIM(like)
    for i in range(nd):
        dims[i] = cnp.PyArray_DIM(like, i)
    dims[nd - 1] = columns
    return empty(cnp.PyArray_TYPE(like), nd, dims)


cdef cnp.ndarray _copy(cnp.ndarray x):
    return cnp.PyArray_NewCopy(x, cnp.NPY_CORDER)


cdef cnp.ndarray _zeros(int kind, long rows, long columns):
    cdef cnp.ndarray out = _new(kind, rows, columns)
    memset(cnp.PyArray_DATA(out), 0, cnp.PyArray_NBYTES(out))
    return out


cdef cnp.ndarray _weight(Run* run, cnp.ndarray weight, bint turned):
    """Make ready the right operand: the weight, (width, hidden), or, `turned`, its transpose.

    Returns what has to be kept."""
    cdef cnp.ndarray room
    cdef long depth = run.hidden if turned else run.width
    cdef long cols = run.width if turned else run.hidden
    cdef int kind = cnp.PyArray_TYPE(weight)
    run.weight = matrix(weight)
    if turned:
        run.weight = transposed(run.weight)
    run.packed = run.steps > FEW
    if not run.packed:
        return weight
    room = _new(kind, 1, recurrent_packed(run.wide, depth, cols))
    run.right = <char*>cnp.PyArray_DATA(room)
    recurrent_pack(run.wide, depth, cols, run.weight.data, run.weight.row_stride // run.item,
                   run.weight.column_stride // run.item, run.right)
    return room


cdef void _product(Run* run, long rows, long depth, long cols, char* a, char* out) noexcept nogil:
    """out (rows, cols) = a (rows, depth) @ the weight made ready"""
    cdef Matrix left
    if rows == 0 or depth == 0 or cols == 0:
        memset(out, 0, rows * cols * run.item)
    elif run.packed:
        recurrent_product(run.wide, rows, cols, depth, a, run.right, out, 0)
    else:
        left.data, left.rows, left.columns = a, rows, depth
        left.row_stride, left.column_stride = depth * run.item, run.item
        multiply(FLOAT64 if run.wide else FLOAT32, run.item, 1, &left, 0, &run.weight, 0, out)


cdef void _forward(Run* run, char* x, char* bias, char* h, char* c, char* out, char* gates,
                   char* extra, bint saves) noexcept nogil:
    cdef long t, at, rows, i, width = run.width * run.item, line = run.hidden * run.item
    at = run.rows if run.reverse else 0
    for i in range(run.steps):
        t = run.steps - 1 - i if run.reverse else i
        rows = run.sizes[t]
        if run.reverse:
            at -= rows
        _product(run, rows, run.hidden, run.width, h, run.part)
        recurrent_step(run.wide, run.cell, rows, run.hidden, x + at * width, run.part, bias, h, c,
                       out + at * line, gates + (at * width if saves else 0),
                       extra + (at * line if saves else 0), saves)
        if not run.reverse:
            at += rows


cdef tuple _layer(cnp.ndarray gates, cnp.ndarray hx, object cx, cnp.ndarray weight, object bias,
                  object sizes, int cell, bint reverse, bint saves):
    """(output, last state, last cell, and what backward needs of each row: gates, extra)"""
    cdef Run run
    cdef int kind = cnp.PyArray_TYPE(gates)
    cdef cnp.ndarray _counts, _kept, part, h, c, add, out, saved, extra
    _counts = _geometry(&run, gates, hx, sizes, cell, reverse)
    _expect("a state", hx, kind, run.batch, run.hidden)
    if cell == CELL_LSTM:
        if cx is None:
            raise _mismatch("a cell", hx, None)
        _expect("a cell", cx, kind, run.batch, run.hidden)
    _expect("a weight", weight, kind, run.width, run.hidden)
    if bias is not None:
        _expect("a bias", bias, kind, run.width)
    h = _copy(hx)
    c = _copy(cx) if cell == CELL_LSTM else _new(kind, 0, 0)
    out = _shaped(gates, run.hidden)
    some = cell == CELL_LSTM or cell == CELL_GRU
    saved = _new(kind, (run.rows if saves else 1) if some else 0, run.width)
    extra = _new(kind, (run.rows if saves else 1) if some else 0, run.hidden)
    gates = contiguous(gates)
    add = _zeros(kind, 1, run.width) if bias is None else contiguous(bias)
    part = _new(kind, run.batch, run.width)
    run.part = <char*>cnp.PyArray_DATA(part)
    _kept = _weight(&run, contiguous(weight), True)
    if skipping():
        return out, h, c, saved, extra
    with nogil:
        _forward(&run, <char*>cnp.PyArray_DATA(gates), <char*>cnp.PyArray_DATA(add),
                 <char*>cnp.PyArray_DATA(h), <char*>cnp.PyArray_DATA(c),
                 <char*>cnp.PyArray_DATA(out), <char*>cnp.PyArray_DATA(saved),
                 <char*>cnp.PyArray_DATA(extra), saves)
    return out, h, c, saved, extra


# ---- backward ------------------------------------------------------------------------------------


cdef void _before(Run* run, const char* first, const char* rows_of, char* to) noexcept nogil:
    """For each row of each step, the row of the step before it, or of the first state."""
    cdef long t, at = 0, size, other, line = run.hidden * run.item, start = 0
    for t in range(run.steps):
        size = run.sizes[t]
        if run.reverse:
            other = run.sizes[t + 1] if t + 1 < run.steps else 0
            memcpy(to + at * line, rows_of + (at + size) * line, other * line)
            memcpy(to + (at + other) * line, first + other * line, (size - other) * line)
        elif t == 0:
            memcpy(to, first, size * line)
        else:
            memcpy(to + at * line, rows_of + start * line, size * line)
        start = at
        at += size


cdef void _backward(Run* run, char* grad, char* out, char* before, char* cells, char* gates,
                    char* extra, char* dh, char* dc, char* dx, char* ds) noexcept nogil:
    cdef long t, i, at, rows, width = run.width * run.item, line = run.hidden * run.item
    at = 0 if run.reverse else run.rows
    for i in range(run.steps):
        t = i if run.reverse else run.steps - 1 - i
        rows = run.sizes[t]
        if not run.reverse:
            at -= rows
        recurrent_step_back(
            run.wide, run.cell, rows, run.hidden, NULL if grad == NULL else grad + at * line,
            out + at * line, before + at * line, cells + at * line, gates + at * width,
            extra + at * line, dh, dc, dx + at * width, ds + at * width)
        if run.packed:
            recurrent_product(run.wide, rows, run.hidden, run.width, ds + at * width, run.right,
                              dh, 1)
        else:
            _product(run, rows, run.width, run.hidden, ds + at * width, run.part)
            _add(run.wide, rows * run.hidden, run.part, dh)
        if run.reverse:
            at += rows


cdef void _add(int wide, long n, char* values, char* to) noexcept nogil:
    cdef long i
    for i in range(n):
        if wide:
            (<double*>to)[i] += (<double*>values)[i]
        else:
            (<float*>to)[i] += (<float*>values)[i]


cdef char* _data(object array) noexcept:
    return NULL if array is None else <char*>cnp.PyArray_DATA(<cnp.ndarray>array)


cdef cnp.ndarray _start(object grad, cnp.ndarray like):
    """A copy of the gradient of a last state; zeros for None."""
    if grad is None:
        return _zeros(cnp.PyArray_TYPE(like), cnp.PyArray_DIM(like, 0), cnp.PyArray_DIM(like, 1))
    _expect("a gradient", grad, cnp.PyArray_TYPE(like), cnp.PyArray_DIM(like, 0),
            cnp.PyArray_DIM(like, 1))
    return _copy(grad)


def layer_backward(grad, grad_h, grad_c, cnp.ndarray out, cnp.ndarray hx, cx, cnp.ndarray weight,
                   cnp.ndarray gates, cnp.ndarray extra, sizes, int cell, bint reverse):
    """Return the gradients (gates, state, cell, weight, bias) of a layer.

    `grad`, `grad_h`, `grad_c` are those of its results, each perhaps None; `out`, `gates` and
    `extra` what it returned.
    """
    cdef Run run
    cdef int kind = cnp.PyArray_TYPE(out)
    cdef cnp.ndarray _counts, _kept, part, dh, dc, dx, ds, before, cells, first
    if cnp.PyArray_NDIM(hx) != 2 or not 2 <= cnp.PyArray_NDIM(out) <= 3 or not 0 <= cell <= 3:
        raise _mismatch("an output", out, "(steps, batch, hidden)")
    dx = _shaped(out, _gates(cell) * cnp.PyArray_DIM(hx, 1))
    _counts = _geometry(&run, dx, hx, sizes, cell, reverse)
    saved = cell == CELL_LSTM or cell == CELL_GRU
    _expect("a state", hx, kind, run.batch, run.hidden)
    if cell == CELL_LSTM:
        if cx is None:
            raise _mismatch("a cell", hx, None)
        _expect("a cell", cx, kind, run.batch, run.hidden)
    _expect("a weight", weight, kind, run.width, run.hidden)
    _expect_rows("an output", out, kind, &run, run.hidden, cnp.PyArray_NDIM(out) == 2)
    _expect("saved gates", gates, kind, run.rows if saved else 0, run.width)
    _expect("saved cells", extra, kind, run.rows if saved else 0, run.hidden)
    if grad is not None:
        _expect_rows("a gradient", grad, kind, &run, run.hidden, cnp.PyArray_NDIM(out) == 2)
        grad = contiguous(grad)
    dh = _start(grad_h, hx)
    dc = _start(grad_c, cx) if cell == CELL_LSTM else _new(kind, 0, 0)
    ds = _shaped(out, run.width) if cell == CELL_GRU else dx
    before, cells = _new(kind, run.rows, run.hidden), _new(kind, 0, 0)
    out, gates, extra, first = contiguous(out), contiguous(gates), contiguous(extra), contiguous(hx)
    _before(&run, _data(first), _data(out), _data(before))
    if cell == CELL_LSTM:
        first = contiguous(cx)
        cells = _new(kind, run.rows, run.hidden)
        _before(&run, _data(first), _data(extra), _data(cells))
    part = _new(kind, run.batch, run.hidden)
    run.part = <char*>cnp.PyArray_DATA(part)
    _kept = _weight(&run, contiguous(weight), False)
    cdef char* given = _data(grad)
    with nogil:
        _backward(&run, given, <char*>cnp.PyArray_DATA(out), <char*>cnp.PyArray_DATA(before),
                  <char*>cnp.PyArray_DATA(cells), <char*>cnp.PyArray_DATA(gates),
                  <char*>cnp.PyArray_DATA(extra), <char*>cnp.PyArray_DATA(dh),
                  <char*>cnp.PyArray_DATA(dc), <char*>cnp.PyArray_DATA(dx),
                  <char*>cnp.PyArray_DATA(ds))
    flat = (<object>ds).reshape(run.rows, run.width)
    return dx, dh, dc, _by_weight(&run, flat, before), flat.sum(axis=0)


cdef cnp.ndarray _by_weight(Run* run, cnp.ndarray by_gates, cnp.ndarray before):
    """The gradient of the weight, summed over all rows: (width, hidden)."""
    cdef cnp.npy_intp[2] dims
    dims[0], dims[1] = run.width, run.hidden
    if run.rows == 0 or run.hidden == 0:
        return _zeros(cnp.PyArray_TYPE(before), dims[0], dims[1])
    return product(FLOAT64 if run.wide else FLOAT32, transposed(matrix(by_gates)), matrix(before),
                   2, dims)


cdef object _recurrent_layer(Operator op, keyset_t keys, PyObject** args):
    """Called from C: a cell is one step of a layer, on few elements."""
    return deliver(op, _layer(
        array_of(args[0]), array_of(args[1]), array_or_none(args[2]), array_of(args[3]),
        array_or_none(args[4]), <object>args[5], PyLong_AsLong(args[6]),
        <object>args[7] is True, <object>args[8] is True), args)


recurrent_layer = CKernel.new(_recurrent_layer)
