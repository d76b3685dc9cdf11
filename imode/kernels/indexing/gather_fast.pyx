"""The fast case of gather and scatter along a dimension (see `index_fast`)."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty, fields
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport BFLOAT16, FLOAT16, FLOAT32, code_of, typenum_of
from imode._core.keyset cimport keyset_t
from imode._core.making cimport hold, wrap
from imode._core.parallel cimport (
    WORTH_IT, Thread, give_up_gil, parallel_for, skipping, take_gil)
from imode._core.tensor cimport Tensor, is_tensor, storage
from imode.kernels.creation.copy cimport converter, imode_converter
from imode.kernels.indexing.placing cimport disjoint, run_write
from imode.kernels.fast_guards cimport (
    MAX_DIMS, _array, _count, _dim, _fill_value, _indices, _item, _row_major)
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

from imode._core.hollow import hollow

cnp.import_array()

cdef extern from "gather_fast.h" nogil:
    bint imode_all_inside(const int64_t* index, npy_intp n, int64_t size)

cdef enum:
    GRAIN = 16384                 # fewest elements per thread
    NEAR = 1 << 17                # bytes of a block of columns that stays in a core's own cache
    COLUMNS = 64                  # fewest columns of such a block,
    LINE = 16                     # and of one that is copied,
    FEW = 4                       # elements that are read together
    FAR = 1 << 19                 # which pays for matrices of so many bytes

# ---- along a dimension: gather and scatter ----

cdef struct Walk:             # a row-order walk through an index tensor
    int nd
    int dim                   # the dimension whose coordinate the index replaces
    npy_intp shape[MAX_DIMS]  # the index's
    npy_intp a[MAX_DIMS]      # strides of the indexed tensor, in elements
    npy_intp b[MAX_DIMS]      # strides of the other tensor
    npy_intp length           # the size of the indexed dimension
    bint unchecked            # what is written to is new: indices are checked as they come
    bint outside              # one of them was out of range: the result is of no use


cdef enum Action:
    GATHER
    SCATTER
    SCATTER_ADD


cdef void _steps(Fields* array, npy_intp* steps) noexcept:
    cdef npy_intp step = 1
    cdef int d
    for d in range(array.nd - 1, -1, -1):
        steps[d] = step
        step *= array.dimensions[d]


ctypedef fused element:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double


cdef inline bint _row(element* a, npy_intp length, element* b, int64_t* index, npy_intp n,
                      Action action) noexcept nogil:
    """As `_run`, for one row along the indexed dimension."""
    cdef npy_intp j, k
    cdef uint64_t at              # read once: another thread may write to the index
    cdef uint64_t[FEW] places
    cdef element[FEW] some
    if action == GATHER:
        for j in range(n):
            at = index[j]
            if at >= <uint64_t>length:
                return False
            b[j] = a[at]
    elif action == SCATTER:
        # Read before they are written: a processor takes a read that is 4 KiB from a write before
        # it for the same place, and waits.
        j = 0
        while j + FEW <= n:
            memcpy(places, index + j, sizeof(places))
            memcpy(some, b + j, sizeof(some))
            for k in range(FEW):
                if places[k] >= <uint64_t>length:
                    return False
                a[places[k]] = some[k]
            j += FEW
        for j in range(j, n):
            at = index[j]
            if at >= <uint64_t>length:
                return False
            a[at] = b[j]
    else:
        for j in range(n):
            at = index[j]
            if at >= <uint64_t>length:
                return False
            a[at] += b[j]
    return True


cdef struct Rows:             # a gather along the last dimension, all other sizes being equal
    char* a
    char* b
    char* index
    npy_intp item
    npy_intp length           # of a row of `a`,
    npy_intp n                # of one of the index
    npy_intp step             # from a row of the index to the next, in bytes
    bint outside              # whether an index was out of range


cdef void _gather_part(Rows* rows, element* a, element* b, npy_intp begin,
                       npy_intp end) noexcept nogil:
    """b[r, j] = a[r, index[r, j]] for the elements `begin` to `end`, counted through the rows."""
    cdef npy_intp r = begin // rows.n, j = begin - r * rows.n, last, i, length = rows.length
    cdef const int64_t* index
    cdef const element* source
    cdef element* to
    cdef uint64_t at
    while begin < end:
        index = <const int64_t*>(rows.index + r * rows.step)
        last = min(rows.n, j + end - begin)
        source, to = a + r * length, b + r * rows.n
        for i in range(j, last):
            at = index[i]
            if at >= <uint64_t>length:
                rows.outside = True
                return
            to[i] = source[at]
        begin += last - j
        r += 1
        j = 0


cdef void _gather_rows(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Rows* rows = <Rows*>context
    if rows.item == 4:
        _gather_part(rows, <uint32_t*>rows.a, <uint32_t*>rows.b, begin, end)
    elif rows.item == 8:
        _gather_part(rows, <uint64_t*>rows.a, <uint64_t*>rows.b, begin, end)
    elif rows.item == 2:
        _gather_part(rows, <uint16_t*>rows.a, <uint16_t*>rows.b, begin, end)
    else:
        _gather_part(rows, <uint8_t*>rows.a, <uint8_t*>rows.b, begin, end)


cdef bint _row_step(Fields* index, npy_intp* step) noexcept:
    """Whether rows of the index are contiguous and lie a constant number of bytes apart."""
    cdef int d, last = index.nd - 1
    cdef npy_intp expected = -1
    if index.descr.type_num != cnp.NPY_INT64 or (
            index.dimensions[last] > 1 and index.strides[last] != sizeof(int64_t)):
        return False
    step[0] = 0
    for d in range(last - 1, -1, -1):
        if index.dimensions[d] != 1:
            if expected < 0:
                step[0] = index.strides[d]
            elif index.strides[d] != expected:
                return False
            expected = index.strides[d] * index.dimensions[d]
    return step[0] >= 0


cdef ndarray _rows_gathered(Fields* a, PyObject* dim, Fields* index, npy_intp item,
                            PyObject** args):
    """gather along the last dimension if all other sizes are equal; else None."""
    cdef ndarray out
    cdef Rows rows
    cdef npy_intp total = _count(index, 0, index.nd)
    cdef Thread* thread
    cdef int d, last = a.nd - 1
    if a.nd == 0 or index.nd != a.nd or _dim(dim, a.nd) != last or not _row_major(a) or (
            not _row_step(index, &rows.step)):
        return None
    for d in range(last):
        if index.dimensions[d] != a.dimensions[d]:
            return None
    rows.n, rows.length, rows.item = index.dimensions[last], a.dimensions[last], item
    if rows.length == 0:
        return None
    out = empty(a.descr.type_num, index.nd, index.dimensions)
    rows.a, rows.b, rows.index = a.data, <char*>cnp.PyArray_DATA(out), index.data
    rows.outside = False
    _held = hold(args, 3) if total >= WORTH_IT else None
    thread = give_up_gil(total)
    parallel_for(total, GRAIN, _gather_rows, &rows)
    take_gil(thread)
    return None if rows.outside else out


cdef void _run(Walk* w, element* a, element* b, int64_t* index, Action action, npy_intp begin,
               npy_intp end, npy_intp left, npy_intp right) noexcept nogil:
    """Visit rows of the index, in order: b = a[...] or a[...] = b or a[...] += b.

    It ends at an index that is out of range; one that was checked is so if it was written to since.
    left, right: the columns to visit; all of them where the columns are what is indexed.
    """
    cdef npy_intp at[MAX_DIMS]
    cdef npy_intp base_a, base_b, j, place, rest = begin, _
    cdef npy_intp inner = w.shape[w.nd - 1], step_a = w.a[w.nd - 1], step_b = w.b[w.nd - 1]
    cdef npy_intp step = w.a[w.dim], length = w.length
    cdef int d
    cdef bint rows = w.dim == w.nd - 1 and step_b == 1
    if w.dim == w.nd - 1:
        step_a = 0
    for d in range(w.nd - 2, -1, -1):
        at[d] = rest % w.shape[d]
        rest //= w.shape[d]
    index += begin * inner
    for _ in range(begin, end):
        base_a, base_b = 0, 0
        for d in range(w.nd - 1):
            if d != w.dim:
                base_a += at[d] * w.a[d]
            base_b += at[d] * w.b[d]
        if rows:
            if not _row(a + base_a, length, b + base_b, index, inner, action):
                w.outside = True
                return
        else:
            for j in range(left, right):
                place = index[j]
                if <uint64_t>place >= <uint64_t>length:
                    w.outside = True
                    return
                place = base_a + place * step + j * step_a
                if action == GATHER:
                    b[base_b + j * step_b] = a[place]
                elif action == SCATTER:
                    a[place] = b[base_b + j * step_b]
                else:
                    a[place] += b[base_b + j * step_b]
        index += inner
        for d in range(w.nd - 2, -1, -1):
            at[d] += 1
            if at[d] < w.shape[d]:
                break
            at[d] = 0


cdef bint _run_near(Walk* w, element* a, element* b, int64_t* index, Action action,
                    npy_intp columns, bint* outside) noexcept nogil:
    """As `_run`, for some columns of a matrix whose rows are indexed; False: there is no memory.

    The columns are copied to where they lie side by side: as they lie, a few places of the cache
    have to hold all of them if the length of a row is a power of two.
    """
    cdef npy_intp dim = w.nd - 2, across = w.a[dim], length = w.length, step = w.b[w.nd - 1]
    cdef npy_intp r, j, _row
    cdef uint64_t at
    cdef element* near = <element*>malloc(length * columns * sizeof(element))
    if near == NULL:
        return False
    for r in range(length):
        memcpy(near + r * columns, a + r * across, columns * sizeof(element))
    for _row in range(w.shape[dim]):
        for j in range(columns):
            at = index[j]
            if at >= <uint64_t>length:
                outside[0] = True
                break
            if action == GATHER:
                b[j] = near[at * columns + j]
            elif action == SCATTER:
                near[at * columns + j] = b[j * step]
            else:
                near[at * columns + j] += b[j]
        if outside[0]:
            break
        index += w.shape[dim + 1]
        b += w.b[dim]
    if action != GATHER:
        for r in range(length):
            memcpy(a + r * across, near + r * columns, columns * sizeof(element))
    free(near)
    return True


cdef struct Range:
    const int64_t* index
    npy_intp size
    bint outside


cdef void _check_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Range* r = <Range*>context
    if not imode_all_inside(r.index + begin, end - begin, r.size):
        r.outside = True


cdef bint _all_inside(const int64_t* index, npy_intp count, npy_intp size) noexcept:
    """Whether 0 <= index < `size` for all indices, of which there are as many as elements."""
    cdef Range r = [index, size, False]
    parallel_for(count, GRAIN, _check_part, &r)
    return not r.outside


cdef bint _walk_plan(Walk* w, Fields* a, PyObject* dim, Fields* index, Fields* other) except -1:
    """Whether the fast case serves a, index and other (NULL: an element, or the result)."""
    cdef int d
    w.nd, w.dim = a.nd, _dim(dim, a.nd)
    if w.dim < 0 or not _row_major(a) or not _indices(index) or index.nd != a.nd:
        return False
    _steps(a, w.a)
    w.length = a.dimensions[w.dim]
    for d in range(w.nd):
        w.shape[d] = index.dimensions[d]
        w.b[d] = 0
        if w.shape[d] == 0 or (d != w.dim and w.shape[d] > a.dimensions[d]):
            return False
    if other != NULL:
        if not _row_major(other) or other.nd != w.nd or other.descr.type_num != a.descr.type_num:
            return False
        for d in range(w.nd):
            if w.shape[d] > other.dimensions[d]:
                return False
        _steps(other, w.b)
    w.outside = False
    return w.unchecked or _all_inside(
        <int64_t*>index.data, _count(index, 0, index.nd), a.dimensions[w.dim])


cdef bint _can_run(int kind, npy_intp item, Action action) noexcept:
    if action == SCATTER_ADD:
        return kind in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_INT64, cnp.NPY_INT32,
                        cnp.NPY_INT16, cnp.NPY_INT8, cnp.NPY_UINT8, cnp.NPY_FLOAT16,
                        typenum_of[<int>BFLOAT16])
    return item in (1, 2, 4, 8)


cdef struct Visit:
    Walk* walk
    char* a
    char* b
    char* index
    Action action
    int kind
    npy_intp item
    npy_intp block            # the rows over which one column of `a` is indexed,
    npy_intp columns          # and how many columns of them are visited at once,
    bint near                 # as a copy


cdef void _visit(Visit* v, npy_intp begin, npy_intp end, npy_intp left,
                 npy_intp right) noexcept nogil:
    cdef Walk* w = v.walk
    cdef int64_t* at = <int64_t*>v.index
    if v.action == SCATTER_ADD and v.kind == cnp.NPY_FLOAT:
        _run(w, <float*>v.a, <float*>v.b, at, v.action, begin, end, left, right)
    elif v.action == SCATTER_ADD and v.kind == cnp.NPY_DOUBLE:
        _run(w, <double*>v.a, <double*>v.b, at, v.action, begin, end, left, right)
    elif v.item == 4:             # integers are added as unsigned ones: they wrap around
        _run(w, <uint32_t*>v.a, <uint32_t*>v.b, at, v.action, begin, end, left, right)
    elif v.item == 8:
        _run(w, <uint64_t*>v.a, <uint64_t*>v.b, at, v.action, begin, end, left, right)
    elif v.item == 2:
        _run(w, <uint16_t*>v.a, <uint16_t*>v.b, at, v.action, begin, end, left, right)
    else:
        _run(w, <uint8_t*>v.a, <uint8_t*>v.b, at, v.action, begin, end, left, right)


cdef bint _visit_near(Visit* v, npy_intp row, npy_intp left, npy_intp right) noexcept nogil:
    """The columns of the block that begins at a row of the index, near each other."""
    cdef Walk* w = v.walk
    cdef npy_intp before = row // v.block, base_a = left, base_b = left * w.b[w.nd - 1]
    cdef npy_intp columns = right - left
    cdef int64_t* at = <int64_t*>v.index + row * w.shape[w.nd - 1] + left
    cdef char* a
    cdef char* b
    cdef int d
    for d in range(w.nd - 3, -1, -1):
        base_a += before % w.shape[d] * w.a[d]
        base_b += before % w.shape[d] * w.b[d]
        before //= w.shape[d]
    a, b = v.a + base_a * v.item, v.b + base_b * v.item
    if v.action == SCATTER_ADD and v.kind == cnp.NPY_FLOAT:
        return _run_near(w, <float*>a, <float*>b, at, v.action, columns, &w.outside)
    if v.action == SCATTER_ADD and v.kind == cnp.NPY_DOUBLE:
        return _run_near(w, <double*>a, <double*>b, at, v.action, columns, &w.outside)
    if v.item == 4:
        return _run_near(w, <uint32_t*>a, <uint32_t*>b, at, v.action, columns, &w.outside)
    if v.item == 8:
        return _run_near(w, <uint64_t*>a, <uint64_t*>b, at, v.action, columns, &w.outside)
    if v.item == 2:
        return _run_near(w, <uint16_t*>a, <uint16_t*>b, at, v.action, columns, &w.outside)
    return _run_near(w, <uint8_t*>a, <uint8_t*>b, at, v.action, columns, &w.outside)


cdef void _visit_rows(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Visit* v = <Visit*>context
    _visit(v, begin, end, 0, v.walk.shape[v.walk.nd - 1])


cdef void _visit_blocks(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Visit* v = <Visit*>context
    cdef npy_intp inner = v.walk.shape[v.walk.nd - 1], across = (inner - 1) // v.columns + 1
    cdef npy_intp unit, row, left, right
    for unit in range(begin, end):
        row, left = unit // across * v.block, unit % across * v.columns
        right = min(left + v.columns, inner)
        if not (v.near and _visit_near(v, row, left, right)):
            _visit(v, row, row + v.block, left, right)


cdef void _visit_all(Walk* w, char* a, char* b, char* index, Action action, int kind,
                     npy_intp item) noexcept nogil:
    """Visit everything, in parts that write to elements of their own."""
    cdef Visit v = [w, a, b, index, action, kind, item, 1, w.shape[w.nd - 1], False]
    cdef npy_intp before = 1, inner = w.shape[w.nd - 1], read, least
    cdef int d
    for d in range(w.nd - 1):
        if d < w.dim:
            before *= w.shape[d]
        else:
            v.block *= w.shape[d]
    if w.dim == w.nd - 1:
        parallel_for(before, GRAIN // inner + 1, _visit_rows, &v)
    else:
        read = v.block // w.shape[w.dim] * w.length * item     # bytes of one column of `a`
        v.near = (w.dim == w.nd - 2 and w.length <= 2 * w.shape[w.dim] and read * LINE <= 4 * NEAR
                  and w.length * w.a[w.dim] * item >= FAR)
        least = LINE if v.near else COLUMNS
        v.columns = min(inner, max(least, NEAR // max(read, 1) // least * least))
        parallel_for(before * ((inner - 1) // v.columns + 1), GRAIN // (v.block * v.columns) + 1,
                     _visit_blocks, &v)


cdef bint _add_halves(Walk* w, int code, char* a, npy_intp n, const char* b, npy_intp m,
                      char* index) noexcept nogil:
    """The sums of 16 bits are computed in float32 and rounded once, as in PyTorch; False: there is
    no memory for them."""
    cdef imode_converter widen = converter(code, FLOAT32)
    cdef float* wide = <float*>malloc((n + m) * sizeof(float))
    if wide == NULL:
        return False
    widen(<char*>wide, a, n)
    widen(<char*>(wide + n), b, m)
    _visit_all(w, <char*>wide, <char*>(wide + n), index, SCATTER_ADD, cnp.NPY_FLOAT, sizeof(float))
    converter(FLOAT32, code)(a, <const char*>wide, n)
    free(wide)
    return True


cdef object _gather(Operator op, keyset_t keys, PyObject** args):
    cdef Walk w
    cdef Fields* a = _array(args[0])
    cdef Fields* index = _array(args[2])
    cdef npy_intp item = _item(args[0]), total
    cdef Thread* thread
    cdef ndarray out, rows
    if args[op.nargs] != NULL or not _can_run(a.descr.type_num, item, GATHER):
        return run_general(op, keys, args)
    out = _rows_gathered(a, args[1], index, item, args)
    if out is not None:
        return wrap(out)
    if index.descr.type_num == cnp.NPY_INT64 and not _indices(index):
        rows = cnp.PyArray_GETCONTIGUOUS(storage(<Tensor>args[2]))
        index = fields(<PyObject*>rows)
    w.unchecked = True
    if a.nd == 0 or not _walk_plan(&w, a, args[1], index, NULL):
        return run_general(op, keys, args)
    out = empty(a.descr.type_num, index.nd, index.dimensions)
    _steps(index, w.b)
    total = _count(index, 0, index.nd)
    _held = hold(args, 3) if total >= WORTH_IT else None
    thread = give_up_gil(total)
    _visit_all(
        &w, a.data, <char*>cnp.PyArray_DATA(out), index.data, GATHER, a.descr.type_num, item)
    take_gil(thread)
    return run_general(op, keys, args) if w.outside else wrap(out)


cdef struct Scatter:
    Walk walk
    Action action
    uint64_t value[2]         # the element to scatter, if it is a number


cdef bint _check_scatter(PyObject** args, PyObject* target, void* plan) except -1:
    """Whether the fast case serves scatter's arguments."""
    cdef Scatter* how = <Scatter*>plan
    cdef Fields* a = _array(args[0])
    cdef Fields* other = NULL
    if a.nd == 0 or not _can_run(a.descr.type_num, _item(args[0]), how.action):
        return False
    if is_tensor(args[3]):
        if not disjoint(target, args[3]):
            return False
        other = _array(args[3])
    elif not _fill_value(a.descr.type_num, args[3], <char*>how.value):
        return False
    how.walk.unchecked = target == NULL
    return disjoint(target, args[2]) and _walk_plan(&how.walk, a, args[1], _array(args[2]), other)


cdef int _scatter_into(char* data, PyObject** args, void* plan) except -1:
    cdef Scatter* how = <Scatter*>plan
    cdef char* other = _array(args[3]).data if is_tensor(args[3]) else <char*>how.value
    cdef char* index = _array(args[2]).data
    cdef int kind = _array(args[0]).descr.type_num, code = code_of[kind]
    cdef npy_intp item = _item(args[0])
    cdef npy_intp total = _count(_array(args[2]), 0, _array(args[2]).nd)
    cdef list _held = hold(args, 4) if total >= WORTH_IT else None
    cdef Thread* thread = give_up_gil(total)
    cdef bint done = True
    if how.action == SCATTER_ADD and (code == FLOAT16 or code == BFLOAT16):
        done = _add_halves(&how.walk, code, data, _count(_array(args[0]), 0, how.walk.nd),
                           other, _count(_array(args[3]), 0, how.walk.nd), index)
    else:
        _visit_all(&how.walk, data, other, index, how.action, kind, item)
    take_gil(thread)
    if not done:
        raise MemoryError("scatter_add: no memory for the sums of 16 bits in float32")
    return how.walk.unchecked and how.walk.outside


cdef object _scatter(Operator op, keyset_t keys, PyObject** args):
    cdef Scatter how
    how.action = SCATTER
    return run_write(op, keys, args, _check_scatter, _scatter_into, &how)


cdef object _scatter_add(Operator op, keyset_t keys, PyObject** args):
    cdef Scatter how
    how.action = SCATTER_ADD
    return run_write(op, keys, args, _check_scatter, _scatter_into, &how)


def take_along(ndarray a not None, ndarray index not None, int dim):
    """Return a[..., index, ...] along `dim`, like np.take_along_axis; indices must be in range.

    The shapes may differ only in `dim`; index is int64.
    """
    cdef Walk w
    cdef Fields* source
    cdef Fields* at
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a)
    cdef ndarray out
    out = empty(cnp.PyArray_TYPE(a), cnp.PyArray_NDIM(index), cnp.PyArray_DIMS(index))
    if skipping():
        return hollow(out)
    a, index = cnp.PyArray_GETCONTIGUOUS(a), cnp.PyArray_GETCONTIGUOUS(index)
    if cnp.PyArray_SIZE(index) == 0 or not _can_run(cnp.PyArray_TYPE(a), item, GATHER):
        import numpy as np
        return np.take_along_axis(a, index, dim)
    source, at = fields(<PyObject*>a), fields(<PyObject*>index)
    w.nd, w.dim, w.unchecked = a.ndim, dim, False
    _steps(source, w.a)
    w.length = source.dimensions[dim]
    _steps(at, w.b)
    for d in range(w.nd):
        w.shape[d] = at.dimensions[d]
    _visit_all(&w, source.data, <char*>cnp.PyArray_DATA(out), at.data, GATHER,
               cnp.PyArray_TYPE(a), item)
    return out


gather = CKernel.new(_gather)
scatter = CKernel.new(_scatter)
scatter_add = CKernel.new(_scatter_add)
