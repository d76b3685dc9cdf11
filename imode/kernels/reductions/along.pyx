"""Compiled kernels of operators along one dimension that give an index or a whole lane.

The tensor is seen as (outer, n, inner). With inner == 1 each lane is contiguous and used directly.
Otherwise lanes lie side by side: a few at a time are gathered into a buffer, processed, and
scattered back. A tensor that is not contiguous is read as it lies, if its lanes follow each other
regularly; else it is copied first.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.parallel cimport parallel_for, skipping
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty
from imode._core.dispatch cimport INPLACE, CKernel, Operator, kernel_t
from imode._core.dtype cimport (
    BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT64, N_DTYPES, code_of, dtype_from_typenum,
    is_complex, is_integral, is_stored, typenum_of)
from imode._core.iterate cimport raise_left
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.loops cimport find_loop, loop_t
from imode._core.making cimport wrap
from imode._core.stored cimport run_otherwise
from imode._core.tensor cimport Tensor, storage
from imode.kernels.creation.copy cimport cast, write
from imode.kernels.reductions import rows as row_loops
from imode.kernels.reductions.reduce cimport ALL, BAD, NDIM, Plan, axes_of, make_plan
from imode.kernels.reductions.rows cimport IMODE_COLUMN, IMODE_ROOM, brain, columns, scan_t
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

import numpy as np

from imode._core.dtype import as_numpy
from imode._core.type_names import c_name
from imode import errors

cnp.import_array()

cdef ndarray _ONE = cnp.PyArray_EMPTY(0, NULL, cnp.NPY_FLOAT, 0)    # of float32

cdef extern from "Python.h":
    PyObject* Py_True

cdef extern from "numpy/arrayobject.h":
    ctypedef int (*find_t "PyArray_ArgFunc *")(void* data, npy_intp n, npy_intp* index,
                                               void* array) noexcept nogil
    ctypedef struct ArrFuncs "PyArray_ArrFuncs":
        find_t argmax
        find_t argmin
    ArrFuncs* PyDataType_GetArrFuncs(cnp.PyArray_Descr*)
    cnp.PyArray_Descr* PyArray_DESCR(ndarray)

cdef extern from "lanes.h" nogil:
    void imode_gather(char* rows, const char* data, npy_intp n, npy_intp stride, npy_intp lanes,
                      npy_intp lane_stride, npy_intp item) noexcept
    void imode_scatter(const char* rows, char* data, npy_intp n, npy_intp stride, npy_intp lanes,
                       npy_intp lane_stride, npy_intp item) noexcept

cdef extern from "wide.h" nogil:
    void from_half(float* to, const char* source, npy_intp step, npy_intp n) noexcept
    void from_brain(float* to, const char* source, npy_intp step, npy_intp n) noexcept

cdef enum:
    GIL_FREE = 16384              # from so many elements on, the GIL is released
    GRAIN = 8192                  # fewest elements per thread
    TILE = 64                     # lanes side by side that a thread takes at a time
    SIDE_BY_SIDE = 16             # lanes gathered at a time
    SMALL = 8192                  # most bytes of a buffer on the stack


cdef inline int _axis(PyObject* dim, int nd) noexcept:
    """The axis that an int argument names; BAD if out of range."""
    cdef long long axes = axes_of(dim, nd)
    cdef int axis = 0
    if axes == BAD or axes == ALL:
        return BAD
    while not axes >> axis & 1:
        axis += 1
    return axis


cdef inline ndarray _contiguous(ndarray x):
    cdef ndarray copy
    if cnp.PyArray_IS_C_CONTIGUOUS(x):
        return x
    copy = empty(cnp.PyArray_TYPE(x), x.ndim, x.shape)
    write(copy, x)
    return copy


ctypedef struct Block:            # a contiguous array seen as (outer, n, inner)
    npy_intp outer
    npy_intp n
    npy_intp inner
    npy_intp item                 # bytes of an element


cdef inline Block _block(ndarray x, int axis) noexcept:
    cdef Block block
    cdef int d
    block.outer = block.inner = 1
    for d in range(axis):
        block.outer *= x.shape[d]
    for d in range(axis + 1, x.ndim):
        block.inner *= x.shape[d]
    block.n = x.shape[axis]
    block.item = cnp.PyArray_ITEMSIZE(x)
    return block


ctypedef struct Lines:            # where the lanes of an array lie: (outer, inner), in row order
    npy_intp outer
    npy_intp outer_step           # bytes
    npy_intp inner
    npy_intp inner_step
    npy_intp n                    # elements of a lane
    npy_intp step


cdef Lines _lines_of(Block* block) noexcept:
    """Those of a contiguous array."""
    cdef Lines lines
    cdef npy_intp row = block.n * block.item
    lines.n, lines.step = block.n, block.inner * block.item
    if block.inner == 1:
        lines.outer, lines.outer_step = 1, 0
        lines.inner, lines.inner_step = block.outer, row
    else:
        lines.outer, lines.outer_step = block.outer, row * block.inner
        lines.inner, lines.inner_step = block.inner, block.item
    return lines


cdef bint _find_lines(ndarray x, long long axes, Lines* lines) noexcept:
    """Those of any array; False: they do not follow each other regularly."""
    cdef Plan plan
    make_plan(x, axes, False, &plan)
    if plan.lane.n > 1 or plan.kept.n > 2:
        return False
    lines.n, lines.step = plan.lane.size[0], plan.lane.stride[0]
    lines.outer, lines.outer_step = 1, 0
    if plan.kept.n == 2:
        lines.outer, lines.outer_step = plan.kept.size[0], plan.kept.stride[0]
    lines.inner = plan.kept.size[plan.kept.n - 1]
    lines.inner_step = plan.kept.stride[plan.kept.n - 1]
    return True


# ---- argmax(self, dim, keepdim), max.dim(self, dim, keepdim) ----

cdef class _Extremum:
    cdef bint least               # min, not max


cdef CKernel _extremum(kernel_t fn, bint least):
    cdef _Extremum self = _Extremum()
    self.least = least
    return CKernel.new(fn, self)


cdef inline bint _has_order(ndarray x) noexcept:
    cdef int code = code_of[cnp.PyArray_TYPE(x)]
    return code != BOOL and not is_complex(code) and (code == BFLOAT16 or not is_stored(code))


ctypedef struct Search:
    find_t find                   # NumPy's; of 16 bits it finds the place in a copy in float32
    void* array                   # its argument
    Lines lines
    npy_intp tiles                # of each of lines.outer: SIDE_BY_SIDE lanes
    npy_intp item
    int code
    const char* data
    int64_t* found                # indices
    char* values                  # or NULL
    bint failed                   # there was no memory


cdef void _find_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Tiles begin to end."""
    cdef Search* s = <Search*>context
    cdef Lines* lines = &s.lines
    cdef bint gathers = lines.step != s.item
    cdef bint narrow = s.code == FLOAT16 or s.code == BFLOAT16
    cdef npy_intp each = lines.n * s.item if gathers else lines.inner_step
    cdef npy_intp room = SIDE_BY_SIDE * each if gathers else 0
    cdef npy_intp size = room + (lines.n * <npy_intp>sizeof(float) if narrow else 0)
    cdef char[SMALL] small
    cdef char* buffer = small
    cdef char* row
    cdef float* wide
    cdef npy_intp tile, place, first, count, index, j
    if size > SMALL:
        buffer = <char*>malloc(size)
        if buffer == NULL:
            s.failed = True
            return
    wide = <float*>(buffer + room)
    for tile in range(begin, end):
        first = tile % s.tiles * SIDE_BY_SIDE
        count = min(lines.inner - first, <npy_intp>SIDE_BY_SIDE)
        place = tile // s.tiles * lines.inner + first
        row = <char*>s.data + tile // s.tiles * lines.outer_step + first * lines.inner_step
        if gathers:
            imode_gather(buffer, row, lines.n, lines.step, count, lines.inner_step, s.item)
            row = buffer
        for j in range(count):
            if narrow:
                if s.code == FLOAT16:
                    from_half(wide, row, 2, lines.n)
                else:
                    from_brain(wide, row, 2, lines.n)
                s.find(wide, lines.n, &index, s.array)
            else:
                s.find(row, lines.n, &index, s.array)
            s.found[place + j] = index
            if s.values != NULL:
                memcpy(s.values + (place + j) * s.item, row + index * s.item, s.item)
            row += each
    if buffer != small:
        free(buffer)


cdef int _find(ndarray x, bint least, long long axes, Block* block, int64_t* found,
               char* values) except -1:
    """Find the extremum of each lane: index and, unless NULL, value."""
    cdef Search s
    cdef ArrFuncs* functions
    cdef npy_intp parts
    s.code, s.item, s.found, s.values = code_of[cnp.PyArray_TYPE(x)], block.item, found, values
    if not cnp.PyArray_IS_C_CONTIGUOUS(x) and _find_lines(x, axes, &s.lines):
        pass
    else:
        x = _contiguous(x)
        s.lines = _lines_of(block)
    like = x
    if s.code == FLOAT16 or s.code == BFLOAT16:
        like = _ONE
    functions = PyDataType_GetArrFuncs(PyArray_DESCR(<ndarray>like))
    s.find = functions.argmin if least else functions.argmax
    s.array, s.data, s.failed = <void*>like, <const char*>cnp.PyArray_DATA(x), False
    s.tiles = (s.lines.inner + SIDE_BY_SIDE - 1) // SIDE_BY_SIDE
    parts = s.lines.outer * s.tiles
    if cnp.PyArray_SIZE(x) < GIL_FREE:
        _find_some(&s, 0, parts)
    elif not skipping():
        with nogil:
            parallel_for(parts, GRAIN // (s.lines.n * SIDE_BY_SIDE) + 1, _find_some, &s)
    if s.failed:
        raise MemoryError()
    return 0


cdef int _result_dims(ndarray x, int axis, bint keepdim, npy_intp* dims) noexcept:
    cdef int d
    cdef int nd = 0
    for d in range(x.ndim):
        if d != axis:
            dims[nd] = x.shape[d]
            nd += 1
        elif keepdim:
            dims[nd] = 1
            nd += 1
    return nd


cdef object _arg_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef _Extremum self = <_Extremum>(<CKernel>op.kernels[highest_key(keys)]).config
    cdef ndarray x = storage(<Tensor>args[0])
    cdef ndarray out
    cdef npy_intp[NDIM] dims
    cdef Block block
    cdef bint keepdim = args[2] == Py_True
    cdef long long axes = ALL
    cdef int d, nd, axis
    if x.ndim > NDIM or cnp.PyArray_SIZE(x) == 0 or not _has_order(x):
        return run_otherwise(op, keys, args)
    if args[1] == <PyObject*>None:
        for d in range(x.ndim):
            dims[d] = 1
        nd = x.ndim if keepdim else 0
        block.outer = block.inner = 1
        block.n, block.item = cnp.PyArray_SIZE(x), cnp.PyArray_ITEMSIZE(x)
    else:
        axis = _axis(args[1], x.ndim)
        if axis == BAD or x.ndim == 0:
            return run_otherwise(op, keys, args)
        nd = _result_dims(x, axis, keepdim, dims)
        block = _block(x, axis)
        axes = <long long>1 << axis
    out = empty(cnp.NPY_INT64, nd, dims)
    _find(x, self.least, axes, &block, <int64_t*>cnp.PyArray_DATA(out), NULL)
    return deliver(op, out, args)


cdef object _extremum_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef _Extremum self = <_Extremum>(<CKernel>op.kernels[highest_key(keys)]).config
    cdef ndarray x = storage(<Tensor>args[0])
    cdef ndarray values
    cdef ndarray indices
    cdef npy_intp[NDIM] dims
    cdef Block block
    cdef int axis = _axis(args[1], x.ndim)
    cdef int nd
    if x.ndim > NDIM or x.ndim == 0 or axis == BAD or (
            cnp.PyArray_SIZE(x) == 0 or not _has_order(x)):
        return run_otherwise(op, keys, args)
    nd = _result_dims(x, axis, args[2] == Py_True, dims)
    values = empty(cnp.PyArray_TYPE(x), nd, dims)
    indices = empty(cnp.NPY_INT64, nd, dims)
    block = _block(x, axis)
    _find(x, self.least, <long long>1 << axis, &block, <int64_t*>cnp.PyArray_DATA(indices),
          <char*>cnp.PyArray_DATA(values))
    return deliver(op, (values, indices), args)


argmax = _extremum(_arg_kernel, False)
argmin = _extremum(_arg_kernel, True)
max_dim = _extremum(_extremum_kernel, False)
min_dim = _extremum(_extremum_kernel, True)


# ---- whole lanes, shared between threads ----

ctypedef struct Scan:
    scan_t scan
    const char* source
    char* out
    Block block
    npy_intp tiles                # of each of block.outer


cdef void _scan_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Tiles begin to end."""
    cdef Scan* s = <Scan*>context
    cdef Block* b = &s.block
    cdef npy_intp o, first, count, at
    while begin < end:
        o, first = begin // s.tiles, begin % s.tiles
        at = (o * b.n * b.inner + first * TILE) * b.item
        if first == 0 and end - begin >= s.tiles:
            count = (end - begin) // s.tiles
            s.scan(s.source + at, s.out + at, count, b.n, b.inner, b.inner)
            begin += count * s.tiles
        else:
            count = min(end - begin, s.tiles - first)
            s.scan(s.source + at, s.out + at, 1, b.n, b.inner,
                   min(count * TILE, b.inner - first * TILE))
            begin += count


cdef void _scan_all(scan_t scan, ndarray x, ndarray out, Block* block) noexcept:
    cdef Scan s
    s.scan, s.block = scan, block[0]
    s.source, s.out = <const char*>cnp.PyArray_DATA(x), <char*>cnp.PyArray_DATA(out)
    s.tiles = (block.inner + TILE - 1) // TILE
    if cnp.PyArray_SIZE(x) < GIL_FREE:
        scan(s.source, s.out, block.outer, block.n, block.inner, block.inner)
        return
    if skipping():
        return
    with nogil:
        parallel_for(block.outer * s.tiles,
                     GRAIN // (block.n * min(block.inner, <npy_intp>TILE)) + 1, _scan_some, &s)


# ---- softmax(self, dim), log_softmax, and their gradients (grad_output, output, dim) ----

cdef class _Softmax:
    cdef loop_t loop[N_DTYPES]    # NULL: not served
    cdef void* data[N_DTYPES]
    cdef scan_t columns[N_DTYPES]  # for lanes side by side
    cdef object ufunc             # keeps the loops alive


cdef CKernel _softmax(ufunc, scan_t* side_by_side, loop_t brains):
    cdef _Softmax self = _Softmax()
    cdef int ignored
    cdef int code
    self.ufunc = ufunc
    for code in (FLOAT16, FLOAT32, FLOAT64):
        find_loop(ufunc, code, &self.loop[code], &self.data[code], &ignored)
    self.loop[<int>BFLOAT16] = brains
    self.columns[<int>FLOAT32], self.columns[<int>FLOAT64] = side_by_side[0], side_by_side[1]
    self.columns[<int>FLOAT16], self.columns[<int>BFLOAT16] = side_by_side[2], side_by_side[3]
    return CKernel.new(_softmax_kernel, self)


cdef CKernel _softmax_backward(loop_t floats, loop_t doubles):
    cdef _Softmax self = _Softmax()
    self.loop[<int>FLOAT32], self.loop[<int>FLOAT64] = floats, doubles
    return CKernel.new(_softmax_backward_kernel, self)


cdef void _run_lanes(loop_t loop, void* data, int nargs, Block* block, char** args,
                     char* buffer) noexcept nogil:
    """Run a loop over the lanes of contiguous arrays, the last of which is the result."""
    cdef npy_intp[2] dims
    cdef npy_intp[6] steps
    cdef char* rows[3]
    cdef npy_intp n = block.n
    cdef npy_intp item = block.item
    cdef npy_intp o, b, first, offset
    cdef int i
    for i in range(nargs):
        steps[i] = n * item
        steps[nargs + i] = item
        rows[i] = buffer + i * SIDE_BY_SIDE * n * item
    dims[1] = n
    if block.inner == 1:
        dims[0] = block.outer
        loop(args, dims, steps, data)
        return
    for o in range(block.outer):
        for b in range((block.inner + SIDE_BY_SIDE - 1) // SIDE_BY_SIDE):
            first = b * SIDE_BY_SIDE
            offset = (o * n * block.inner + first) * item
            dims[0] = min(block.inner - first, SIDE_BY_SIDE)
            for i in range(nargs - 1):
                imode_gather(rows[i], args[i] + offset, n, block.inner * item, dims[0], item, item)
            loop(rows, dims, steps, data)
            imode_scatter(rows[nargs - 1], args[nargs - 1] + offset, n, block.inner * item,
                          dims[0], item, item)


ctypedef struct Lanes:
    loop_t loop
    void* data
    int nargs
    Block block
    char* args[3]


cdef void _rows_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Rows begin to end of contiguous lanes."""
    cdef Lanes* s = <Lanes*>context
    cdef Block block = s.block
    cdef char* args[3]
    cdef int i
    for i in range(s.nargs):
        args[i] = s.args[i] + begin * block.n * block.item
    block.outer = end - begin
    _run_lanes(s.loop, s.data, s.nargs, &block, args, NULL)


cdef void _rows(loop_t loop, void* data, int nargs, Block* block, char** args) noexcept nogil:
    """Contiguous lanes on several threads, unless their loop may have to say that memory failed."""
    cdef Lanes s
    cdef int i
    s.loop, s.data, s.nargs, s.block = loop, data, nargs, block[0]
    for i in range(nargs):
        s.args[i] = args[i]
    if block.item < 4 and block.n * <npy_intp>sizeof(float) > IMODE_ROOM:
        _rows_some(&s, 0, block.outer)
    else:
        parallel_for(block.outer, GRAIN // block.n + 1, _rows_some, &s)


cdef int _lanes(loop_t loop, void* data, int nargs, Block* block, char** args) except -1:
    """As `_run_lanes`, with a buffer, and on several threads without the GIL, if that pays."""
    cdef npy_intp size = nargs * SIDE_BY_SIDE * block.n * block.item
    cdef char[SMALL] small
    cdef char* buffer = small
    if block.inner > 1 and size > SMALL:
        buffer = <char*>malloc(size)
        if buffer == NULL:
            raise MemoryError()
    if block.outer * block.n * block.inner < GIL_FREE:
        _run_lanes(loop, data, nargs, block, args, buffer)
    elif not skipping():
        with nogil:
            if block.inner == 1:
                _rows(loop, data, nargs, block, args)
            else:
                _run_lanes(loop, data, nargs, block, args, buffer)
    if buffer != small:
        free(buffer)
    return raise_left()


# ---- rows that lie anywhere, to contiguous ones ----

ctypedef struct Moves:
    loop_t loop
    void* data
    const char* source
    char* out
    Lines* lines
    npy_intp item


cdef void _lines_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Tiles begin to end, of SIDE_BY_SIDE lanes; the last has what is left."""
    cdef Moves* s = <Moves*>context
    cdef Lines* lines = s.lines
    cdef npy_intp first = begin * SIDE_BY_SIDE
    cdef npy_intp row = lines.n * s.item
    cdef npy_intp[2] dims = [min(end * SIDE_BY_SIDE, lines.inner) - first, lines.n]
    cdef npy_intp[4] steps = [lines.inner_step, row, lines.step, s.item]
    cdef char* args[2]
    args[0], args[1] = <char*>s.source + first * lines.inner_step, s.out + first * row
    s.loop(args, dims, steps, s.data)


cdef int _from_lines(loop_t loop, void* data, ndarray x, Lines* lines, ndarray out) except -1:
    """Run a loop (n)->(n) of few elements, or of 16 bits, which may have to say that memory failed:
    on one thread."""
    cdef Moves s
    cdef npy_intp tiles = (lines.inner + SIDE_BY_SIDE - 1) // SIDE_BY_SIDE
    s.loop, s.data, s.lines, s.item = loop, data, lines, cnp.PyArray_ITEMSIZE(x)
    s.source, s.out = <const char*>cnp.PyArray_DATA(x), <char*>cnp.PyArray_DATA(out)
    if cnp.PyArray_SIZE(x) < GIL_FREE:
        _lines_some(&s, 0, tiles)
    elif not skipping():
        with nogil:
            _lines_some(&s, 0, tiles)
    return raise_left()


cdef object _softmax_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef _Softmax self = <_Softmax>(<CKernel>op.kernels[highest_key(keys)]).config
    cdef ndarray x = storage(<Tensor>args[0])
    cdef ndarray out
    cdef int code = code_of[cnp.PyArray_TYPE(x)]
    cdef int axis = _axis(args[1], x.ndim)
    cdef Block block
    cdef Lines lines
    cdef char* pointers[2]
    if self.loop[code] == NULL or axis == BAD or (
            cnp.PyArray_SIZE(x) == 0 or x.ndim == 0):
        return run_otherwise(op, keys, args)
    block = _block(x, axis)
    out = empty(typenum_of[code], x.ndim, x.shape)
    if block.inner > 1 or cnp.PyArray_IS_C_CONTIGUOUS(x):
        x = _contiguous(x)
    elif cnp.PyArray_ITEMSIZE(x) >= 4 and cnp.PyArray_SIZE(x) >= GIL_FREE:
        write(out, x)         # the rows are their own results
        x = out
    elif _find_lines(x, <long long>1 << axis, &lines) and lines.outer == 1:
        _from_lines(self.loop[code], self.data[code], x, &lines, out)
        return deliver(op, out, args)
    else:
        x = _contiguous(x)
    pointers[0] = <char*>cnp.PyArray_DATA(x)
    pointers[1] = <char*>cnp.PyArray_DATA(out)
    if block.inner == 1 or (block.item < 4 and block.n > IMODE_COLUMN):
        _lanes(self.loop[code], self.data[code], 2, &block, pointers)
    else:
        _scan_all(self.columns[code], x, out, &block)
    return deliver(op, out, args)


cdef object _softmax_backward_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef _Softmax self = <_Softmax>(<CKernel>op.kernels[highest_key(keys)]).config
    cdef ndarray grad = storage(<Tensor>args[0])
    cdef ndarray y = storage(<Tensor>args[1])
    cdef ndarray out
    cdef int code = code_of[cnp.PyArray_TYPE(y)]
    cdef int axis = _axis(args[2], y.ndim)
    cdef Block block
    cdef char* pointers[3]
    if self.loop[code] == NULL or axis == BAD or (
            cnp.PyArray_SIZE(y) == 0 or y.ndim == 0
            or cnp.PyArray_TYPE(grad) != cnp.PyArray_TYPE(y)
            or not cnp.PyArray_SAMESHAPE(grad, y)):
        return run_otherwise(op, keys, args)
    block = _block(y, axis)
    grad, y = _contiguous(grad), _contiguous(y)
    out = empty(typenum_of[code], y.ndim, y.shape)
    pointers[0] = <char*>cnp.PyArray_DATA(grad)
    pointers[1] = <char*>cnp.PyArray_DATA(y)
    pointers[2] = <char*>cnp.PyArray_DATA(out)
    _lanes(self.loop[code], NULL, 3, &block, pointers)
    return deliver(op, out, args)


softmax = _softmax(row_loops.softmax, columns.softmax, brain.softmax)
log_softmax = _softmax(row_loops.log_softmax, columns.log_softmax, brain.log_softmax)
softmax_backward = _softmax_backward(imode_softmax_backward_f, imode_softmax_backward_d)
log_softmax_backward = _softmax_backward(imode_log_softmax_backward_f, imode_log_softmax_backward_d)


# ---- cumsum(self, dim, *, dtype), cumprod, logcumsumexp(self, dim) ----

cdef class _Scan:
    cdef scan_t loop[N_DTYPES]    # index: Code of the result; NULL: not served
    cdef bint converts            # there is an argument `dtype`


cdef CKernel _scan(scan_t floats, scan_t doubles, scan_t integers, bint converts=True):
    cdef _Scan self = _Scan()
    self.converts = converts
    self.loop[<int>FLOAT32], self.loop[<int>FLOAT64] = floats, doubles
    self.loop[<int>INT64] = integers
    return CKernel.new(_scan_kernel, self)


cdef int _refuse_other_dtype(ndarray target, object dtype) except -1:
    if target.dtype != dtype:
        raise errors.out.inplace_dtype(c_name(target.dtype), c_name(dtype))
    return 0


cdef object _scan_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef _Scan self = <_Scan>(<CKernel>op.kernels[highest_key(keys)]).config
    cdef ndarray x = storage(<Tensor>args[0])
    cdef ndarray out
    cdef int code = code_of[cnp.PyArray_TYPE(x)]
    cdef int axis = _axis(args[1], x.ndim)
    cdef Block block
    cdef PyObject* own[4]
    cdef PyObject* to = args[2] if self.converts else <PyObject*>None
    if op.role == INPLACE and to != <PyObject*>None and axis != BAD:
        _refuse_other_dtype(x, as_numpy(<object>to))
    if op.role == INPLACE and to == <PyObject*>None and code == BOOL:
        dtype = dtype_from_typenum(cnp.PyArray_TYPE(x))     # not int64, which would not fit
        own[0], own[1], own[2], own[3] = args[0], args[1], <PyObject*>dtype, args[3]
        return run_otherwise(op, keys, own)
    cdef bint half = code == FLOAT16
    if half:
        code = FLOAT32
    elif is_integral(code):
        code = INT64
    if self.loop[code] == NULL or axis == BAD or x.ndim == 0 or (
            to != <PyObject*>None or cnp.PyArray_SIZE(x) == 0):
        return run_otherwise(op, keys, args)
    if half:
        x = cast(x, np.float32)
    elif cnp.PyArray_TYPE(x) != typenum_of[code]:
        x = cnp.PyArray_Cast(x, typenum_of[code])
    block = _block(x, axis)
    x = _contiguous(x)
    out = empty(typenum_of[code], x.ndim, x.shape)
    _scan_all(self.loop[code], x, out, &block)
    return deliver(op, cast(out, np.float16) if half else out, args)


cumsum = _scan(imode_cumsum_f, imode_cumsum_d, imode_cumsum_l)
cumprod = _scan(imode_cumprod_f, imode_cumprod_d, imode_cumprod_l)
logcumsumexp = _scan(imode_logcumsumexp_f, imode_logcumsumexp_d, NULL, False)


# ---- along the diagonal --------------------------------------------------------------------------

ctypedef fused summand:
    float
    double
    int64_t


cdef void _sum(summand* first, npy_intp step, npy_intp n, summand* out) noexcept:
    """The sum of numbers at a stride: in double precision as in PyTorch; int64 wraps around."""
    cdef double total = 0
    cdef uint64_t whole = 0
    cdef npy_intp i
    for i in range(n):
        if summand is int64_t:
            whole += <uint64_t>(<int64_t*>(<char*>first + i * step))[0]
        else:
            total += (<summand*>(<char*>first + i * step))[0]
    out[0] = <summand>whole if summand is int64_t else <summand>total


cdef object _trace(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray x = storage(<Tensor>args[0])
    cdef int typenum = cnp.PyArray_TYPE(x)
    cdef npy_intp n, step
    cdef ndarray out
    cdef void* to
    if args[op.nargs] != NULL or x.ndim != 2 or typenum not in (
            cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_INT64):
        return run_otherwise(op, keys, args)
    n, step = min(x.shape[0], x.shape[1]), x.strides[0] + x.strides[1]
    out = empty(typenum, 0, NULL)
    to = cnp.PyArray_DATA(out)
    if typenum == cnp.NPY_FLOAT32:
        _sum(<float*>cnp.PyArray_DATA(x), step, n, <float*>to)
    elif typenum == cnp.NPY_FLOAT64:
        _sum(<double*>cnp.PyArray_DATA(x), step, n, <double*>to)
    else:
        _sum(<int64_t*>cnp.PyArray_DATA(x), step, n, <int64_t*>to)
    return wrap(out)


trace = CKernel.new(_trace)
