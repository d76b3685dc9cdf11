"""A recurrent layer in one direction, over the gates' part from the input, and its gradients.

Rows of all steps lie one after another: (rows, gates * hidden), of which step t has sizes[t], no
more than the step before it; or (steps, batch, gates * hidden), where all have the same. A step
changes the first rows of the state, so that in the end the state's rows are the last of each
sequence, in either direction.

A step over many elements is shared between threads, by blocks of hidden units: a block makes its
part of all gates from the whole state before, and from the gates its units of the new state. The
weight is packed block by block. A block is whole panels, so whole vectors: in any block an element
is made in the same way, and the number of threads changes no bit.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty
from imode._core.channels cimport contiguous
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport FLOAT32, FLOAT64
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport num_threads, parallel_for, range_body, skipping
from imode.kernels.fast_guards cimport PyLong_AsLong, array_of, array_or_none
from imode.kernels.products.multiply cimport Matrix, matrix, multiply, product, transposed
from libc.string cimport memcpy, memset

from imode import errors

cnp.import_array()

cdef enum:
    FEW = 4                       # steps for which packing the weight does not pay
    SHARED = 1 << 16              # multiplications of a step that threads share
    SHARES = 2                    # blocks of each thread
    ROOM = 64                     # numbers for which no array is made

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
    long[FEW] few                 # these, of a few steps
    char* right                   # the packed weight
    Matrix weight
    long unit                     # hidden units of a block
    long blocks                   # of the hidden units
    char* part                    # (batch, width), the state's part of the gates of a step

cdef struct Packing:              # of the weight, as `weight` of the run
    Run* run
    long gates                    # sets of columns, each of a block's units
    char* rest                    # room for the weight's rows of a block that is not whole

cdef struct Step:                 # of a layer, forward: see recurrent_step
    Run* run
    long rows
    char* x
    char* bias
    char* h
    char* c
    char* out
    char* gates
    char* extra
    bint saves

cdef struct Back:                 # of a layer: the product of a step, then the step before it
    Run* run
    long rows
    char* grad
    char* out
    char* before
    char* cells
    char* gates
    char* extra
    char* dh
    char* dc
    char* dx
    char* ds
    long product_rows             # of the step whose gradients go through the weight
    char* product_of


cdef int _gates(int cell) noexcept nogil:
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
    """Check and note the shapes; returns what keeps the rows of each step, for the caller."""
    cdef int kind = cnp.PyArray_TYPE(gates), nd = cnp.PyArray_NDIM(gates)
    cdef cnp.ndarray counts
    cdef cnp.npy_intp n
    cdef long* rows
    cdef long total = 0, before, size
    cdef int i
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
    rows = &run.few[0]
    counts = None
    if n > FEW:
        counts = empty(cnp.NPY_LONG, 1, &n)
        rows = <long*>cnp.PyArray_DATA(counts)
    run.sizes = rows
    before = run.batch
    for i in range(run.steps):
        size = sizes[i] if sizes else run.batch
        if not 0 <= size <= before:
            raise RuntimeError(
                "_recurrent_layer(): expected batch sizes that do not grow, within the state's")
        rows[i] = before = size
        total += before
    run.rows = total
    run.packed = run.steps > FEW
    _divide(run)
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
    cdef cnp.ndarray out
    if not cnp.PyArray_IS_C_CONTIGUOUS(x):
        return cnp.PyArray_NewCopy(x, cnp.NPY_CORDER)
    out = empty(cnp.PyArray_TYPE(x), cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
    if not skipping():
        memcpy(cnp.PyArray_DATA(out), cnp.PyArray_DATA(x), cnp.PyArray_NBYTES(x))
    return out


cdef cnp.ndarray _zeros(int kind, long rows, long columns):
    cdef cnp.ndarray out = _new(kind, rows, columns)
    memset(cnp.PyArray_DATA(out), 0, cnp.PyArray_NBYTES(out))
    return out


cdef void _divide(Run* run) noexcept:
    """Divide the hidden units into blocks: one, unless threads share the steps."""
    cdef long panel = recurrent_panel(run.wide), count = SHARES * num_threads()
    run.unit, run.blocks = run.hidden, 1
    if run.packed and count > SHARES and _is_shared(run, run.batch):
        run.unit = (run.hidden + count * panel - 1) // (count * panel) * panel
        run.blocks = (run.hidden + run.unit - 1) // run.unit


cdef bint _is_shared(Run* run, long rows) noexcept nogil:
    return <double>rows * run.hidden * run.width >= SHARED


cdef void _share(Run* run, long rows, range_body body, void* ctx) noexcept nogil:
    """Run the body over the blocks, for a step of so many rows."""
    parallel_for(run.blocks, 1 if _is_shared(run, rows) else run.blocks, body, ctx)


cdef long _units(Run* run, long block) noexcept nogil:
    return min(run.unit, run.hidden - block * run.unit)


cdef cnp.ndarray _weight(Run* run, cnp.ndarray weight, bint turned):
    """Make ready the right operand: the weight, (width, hidden), or, `turned`, its transpose.

    Returns what has to be kept."""
    cdef Packing packing
    cdef cnp.ndarray room
    cdef long depth = run.hidden if turned else run.width
    cdef long cols = run.width if turned else run.hidden
    cdef long size, rest
    run.weight = matrix(weight)
    if turned:
        run.weight = transposed(run.weight)
    if not run.packed:
        return weight
    packing.run, packing.gates = run, cols // run.hidden if run.hidden else 1
    size = recurrent_packed(run.wide, depth, cols)
    rest = packing.gates * (run.hidden % run.unit) * depth if run.blocks > 1 else 0
    room = _new(cnp.PyArray_TYPE(weight), 1, size + rest)
    run.right = <char*>cnp.PyArray_DATA(room)
    packing.rest = run.right + size * run.item
    with nogil:
        _share(run, run.batch, _pack, &packing)
    return room


cdef void _pack(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Pack the columns of these blocks: of a block the first gate's, the second's, and so on."""
    cdef Packing* packing = <Packing*>ctx
    cdef Run* run = packing.run
    cdef long sk = run.weight.row_stride // run.item, sj = run.weight.column_stride // run.item
    cdef long depth = run.weight.rows, gates = packing.gates, line = depth * run.item
    cdef long block, first, n, gate
    cdef char* columns
    cdef char* to
    for block in range(begin, end):
        first, n = block * run.unit, _units(run, block)
        to = run.right + gates * first * line
        if run.blocks == 1 or gates == 1:
            recurrent_pack(run.wide, depth, gates * n, run.weight.data + first * sj * run.item,
                           sk, sj, to)
            continue
        for gate in range(gates):
            columns = run.weight.data + (gate * run.hidden + first) * sj * run.item
            if n == run.unit:
                recurrent_pack(run.wide, depth, n, columns, sk, sj, to + gate * n * line)
            else:       # columns are the rows of the weight that was transposed
                memcpy(packing.rest + gate * n * line, columns, n * line)
        if n < run.unit:
            recurrent_pack(run.wide, depth, gates * n, packing.rest, 1, depth, to)


cdef void _product(Run* run, long rows, long depth, long cols, char* a, char* out) noexcept nogil:
    """out (rows, cols) = a (rows, depth) @ the weight, unpacked"""
    cdef Matrix left
    if rows == 0 or depth == 0 or cols == 0:
        memset(out, 0, rows * cols * run.item)
        return
    left.data, left.rows, left.columns = a, rows, depth
    left.row_stride, left.column_stride = depth * run.item, run.item
    multiply(FLOAT64 if run.wide else FLOAT32, run.item, 1, &left, 0, &run.weight, 0, out)


cdef void _step(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Do these blocks of a step."""
    cdef Step* step = <Step*>ctx
    cdef Run* run = step.run
    cdef long gates = _gates(run.cell), rows = step.rows, block, first, n
    cdef char* part = run.part + run.batch * gates * begin * run.unit * run.item
    for block in range(begin, end):
        first, n = block * run.unit, _units(run, block)
        if run.packed:
            recurrent_product(run.wide, rows, gates * n, run.hidden, step.h,
                              run.right + gates * first * run.hidden * run.item, part, gates * n,
                              0)
        else:
            _product(run, rows, run.hidden, run.width, step.h, part)
        recurrent_step(run.wide, run.cell, rows, run.hidden, first, n, step.x, part, step.bias,
                       step.h, step.c, step.out, step.gates, step.extra, step.saves)


cdef void _forward(Run* run, char* x, char* bias, char* h, char* c, char* out, char* gates,
                   char* extra, bint saves) noexcept nogil:
    cdef long t, at, i, width = run.width * run.item, line = run.hidden * run.item
    cdef Step step
    step.run, step.bias, step.h, step.c, step.saves = run, bias, h, c, saves
    at = run.rows if run.reverse else 0
    for i in range(run.steps):
        t = run.steps - 1 - i if run.reverse else i
        step.rows = run.sizes[t]
        if run.reverse:
            at -= step.rows
        step.x, step.out = x + at * width, out + at * line
        step.gates = gates + (at * width if saves else 0)
        step.extra = extra + (at * line if saves else 0)
        _share(run, step.rows, _step, &step)
        memcpy(h, step.out, step.rows * line)
        if not run.reverse:
            at += step.rows


cdef tuple _layer(cnp.ndarray gates, cnp.ndarray hx, object cx, cnp.ndarray weight, object bias,
                  object sizes, int cell, bint reverse, bint saves):
    """(output, last state, last cell, and what backward needs of each row: gates, extra)"""
    cdef Run run
    cdef int kind = cnp.PyArray_TYPE(gates)
    cdef cnp.ndarray _counts, _kept, part, h, c, out, saved, extra
    cdef double[ROOM] room
    cdef char* add
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
    if (run.batch + 1) * run.width <= ROOM:
        run.part = <char*>room
    else:
        part = _new(kind, run.batch + 1, run.width)
        run.part = <char*>cnp.PyArray_DATA(part)
    add = run.part + run.batch * run.width * run.item
    if bias is not None:
        bias = contiguous(bias)
        add = <char*>cnp.PyArray_DATA(<cnp.ndarray>bias)
    _kept = _weight(&run, contiguous(weight), True)
    if skipping():
        return out, h, c, saved, extra
    if bias is None:
        memset(add, 0, run.width * run.item)
    with nogil:
        _forward(&run, <char*>cnp.PyArray_DATA(gates), add,
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


cdef void _step_back(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Do these blocks: what comes through the weight from one step, then the step before it."""
    cdef Back* step = <Back*>ctx
    cdef Run* run = step.run
    cdef long block, first, n
    for block in range(begin, end):
        first, n = block * run.unit, _units(run, block)
        if run.packed:
            recurrent_product(run.wide, step.product_rows, n, run.width, step.product_of,
                              run.right + first * run.width * run.item,
                              step.dh + first * run.item, run.hidden, 1)
        else:
            _product(run, step.product_rows, run.width, run.hidden, step.product_of, run.part)
            _add(run.wide, step.product_rows * run.hidden, run.part, step.dh)
        recurrent_step_back(run.wide, run.cell, step.rows, run.hidden, first, n, step.grad,
                            step.out, step.before, step.cells, step.gates, step.extra, step.dh,
                            step.dc, step.dx, step.ds)


cdef void _backward(Run* run, char* grad, char* out, char* before, char* cells, char* gates,
                    char* extra, char* dh, char* dc, char* dx, char* ds) noexcept nogil:
    cdef long t, i, at, width = run.width * run.item, line = run.hidden * run.item
    cdef Back step
    step.run, step.dh, step.dc, step.product_rows, step.product_of = run, dh, dc, 0, ds
    step.grad = NULL
    at = 0 if run.reverse else run.rows
    for i in range(run.steps):
        t = i if run.reverse else run.steps - 1 - i
        step.rows = run.sizes[t]
        if not run.reverse:
            at -= step.rows
        if grad != NULL:
            step.grad = grad + at * line
        step.out, step.before, step.cells = out + at * line, before + at * line, cells + at * line
        step.gates, step.extra = gates + at * width, extra + at * line
        step.dx, step.ds = dx + at * width, ds + at * width
        _share(run, max(step.rows, step.product_rows), _step_back, &step)
        step.product_rows, step.product_of = step.rows, step.ds
        if run.reverse:
            at += step.rows
    step.rows = 0
    _share(run, step.product_rows, _step_back, &step)


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
