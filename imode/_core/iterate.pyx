"""Run inner loops over strided arrays, and lay out their results."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport empty, fields
from imode._core.allocator cimport view as array_view
from imode._core.moving cimport bring_together
from imode._core.parallel cimport num_threads, parallel_for, skipping
from libc.stdlib cimport free, malloc
from numpy cimport ndarray, npy_intp
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

cnp.import_array()

cdef enum:
    GRAIN = 32768                 # fewest elements per thread
    ROWS = 1                      # orders of axes: row-major,
    LAST = 2                      # images with channels last,
    DENSE = 4                     # any order without gaps that all operands share


cdef ndarray empty_for(Operand* operands, int nin, int nd, npy_intp* dims, int typenum,
                       npy_intp itemsize, bint alike):
    """The result's array, with the strides of `layout`."""
    cdef npy_intp strides[NDIM]
    cdef ndarray base = empty(typenum, nd, dims)
    if layout(operands, nin, nd, dims, itemsize, alike, strides):
        return base
    return array_view(base, nd, dims, strides, <char*>cnp.PyArray_DATA(base))


cdef ndarray empty_like(ndarray a, int typenum):
    """An array with exactly the strides of `a` if that is dense, else with its order of axes."""
    cdef npy_intp strides[NDIM]
    cdef int axes[NDIM]
    cdef Operand operand = operand_of(a)
    cdef ndarray made = empty(typenum, a.ndim, a.shape)
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(made)
    cdef int i
    if in_row_order(fields(<PyObject*>a), operand.item):
        return made
    if dense(&operand):
        for i in range(a.ndim):
            strides[i] = a.strides[i] // operand.item * item
    else:
        order_axes(&operand, 1, a.ndim, a.shape, axes)
        if _stride_by(a.ndim, a.shape, item, axes, strides):
            return made
    return array_view(made, a.ndim, a.shape, strides, <char*>cnp.PyArray_DATA(made))


cdef bint dense(Operand* a) noexcept:
    cdef npy_intp expected = a.item
    cdef int i, found, left = 0
    for i in range(a.nd):
        if a.dims[i] == 0:
            return True
        left += a.dims[i] != 1
    while left:
        found = -1
        for i in range(a.nd):
            if a.dims[i] != 1 and a.strides[i] == expected:
                found = i
        if found < 0:
            return False
        expected *= a.dims[found]
        left -= 1
    return True


cdef bint layout(Operand* operands, int nin, int nd, npy_intp* dims, npy_intp itemsize,
                 bint alike, npy_intp* strides) noexcept:
    """Fill in the strides of the result; True if they are those of a new C-contiguous array."""
    cdef int axes[NDIM]
    cdef int i
    cdef int common = _common_orders(operands, nin, nd, dims) if alike and nd > 1 else 0
    cdef Operand* first = _first_array(operands, nin)
    if common & ROWS or nd < 2:
        for i in range(nd):
            axes[i] = nd - 1 - i
    elif common & LAST:
        axes[0], axes[1], axes[2], axes[3] = 1, 3, 2, 0
    else:
        order_axes(operands, nin, nd, dims, axes)
    if common & (ROWS | LAST) == 0 and common & DENSE:
        for i in range(nd):
            strides[i] = first.strides[i] // first.item * itemsize
        return False
    return _stride_by(nd, dims, itemsize, axes, strides)


cdef bint _stride_by(int nd, npy_intp* dims, npy_intp itemsize, int* axes,
                     npy_intp* strides) noexcept:
    """The strides of axes in this order, innermost first; True if that is row-major order."""
    cdef npy_intp stride = itemsize
    cdef bint rows = True
    cdef int i
    for i in range(nd):
        rows = rows and axes[i] == nd - 1 - i
        strides[axes[i]] = stride
        stride *= dims[axes[i]]       # also by 0, as in PyTorch
    return rows


cdef Operand* _first_array(Operand* operands, int nin) noexcept:
    """The first operand that is no parameter."""
    cdef int i
    for i in range(nin):
        if operands[i].nd:
            return &operands[i]
    return operands


cdef int _common_orders(Operand* operands, int nin, int nd, npy_intp* dims) noexcept:
    """The orders of axes that all operands, of one shape, have, and so the result."""
    cdef int axes[NDIM]
    cdef int i, d
    cdef int common = ROWS | DENSE | (LAST if nd == 4 else 0)
    cdef Operand* first = _first_array(operands, nin)
    for d in range(nd):
        if dims[d] == 0:
            return ROWS
    for i in range(nin):
        if operands[i].nd == 0:       # a parameter
            continue
        if common & ROWS:
            for d in range(nd):
                axes[d] = nd - 1 - d
            common &= -1 if _has_order(&operands[i], axes) else ~ROWS
        if common & LAST:
            axes[0], axes[1], axes[2], axes[3] = 1, 3, 2, 0
            common &= -1 if _has_order(&operands[i], axes) else ~LAST
        if not dense(&operands[i]):
            return 0
        for d in range(nd):
            if operands[i].strides[d] * first.item != first.strides[d] * operands[i].item:
                common &= ~DENSE
    return common


cdef bint _has_order(Operand* operand, int* axes) noexcept:
    """Whether it is dense with its axes in this order, innermost first; ignores axes of size 1."""
    cdef npy_intp stride = operand.item
    cdef int i
    for i in range(operand.nd):
        if operand.dims[axes[i]] != 1:
            if operand.strides[axes[i]] != stride:
                return False
            stride *= operand.dims[axes[i]]
    return True


cdef void order_axes(Operand* operands, int nin, int nd, npy_intp* dims, int* axes) noexcept:
    """Insertion sort of the axes by the operands' strides, smallest first.

    The first operand that decides about two axes counts; an operand with stride 0 in either is
    skipped. Of two axes with equal strides the longer goes outside. Ties keep the axes' order.
    """
    cdef int i, j, k, swap
    for i in range(nd):
        axes[i] = nd - 1 - i
    for i in range(1, nd):
        k = i
        for j in range(i - 1, -1, -1):
            swap = _should_swap(operands, nin, nd, dims, axes[j], axes[k])
            if swap > 0:
                axes[j], axes[k] = axes[k], axes[j]
                k = j
            elif swap < 0:
                break


cdef int _should_swap(Operand* operands, int nin, int nd, npy_intp* dims, int a, int b) noexcept:
    cdef int i
    cdef npy_intp stride_a, stride_b
    for i in range(nin):
        if operands[i].nd == 0:
            continue
        stride_a = _stride_of(&operands[i], nd, dims, a)
        stride_b = _stride_of(&operands[i], nd, dims, b)
        if stride_a == 0 or stride_b == 0:
            continue
        if stride_a < stride_b:
            return -1
        if stride_a > stride_b or dims[a] > dims[b]:
            return 1
    return 0


cdef inline npy_intp _stride_of(Operand* operand, int nd, npy_intp* dims, int d) noexcept nogil:
    """The operand's stride in dimension d of the broadcast shape; 0 where it is broadcast."""
    cdef int own = d - (nd - operand.nd)
    return 0 if own < 0 or operand.dims[own] != dims[d] else operand.strides[own]


# ---- running a loop ----

ctypedef struct Job:              # one call of an inner loop, split over threads
    loop_t loop
    void* loop_data
    char* data[MAX_IN + 1]
    npy_intp steps[MAX_IN + 1]
    int n_operands
    npy_intp n


cdef void _part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Job* job = <Job*>context
    cdef char* data[MAX_IN + 1]
    cdef npy_intp n = end - begin
    cdef int i
    for i in range(job.n_operands):
        data[i] = job.data[i] + begin * job.steps[i]
    job.loop(data, &n, job.steps, job.loop_data)


cdef void _units(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Units begin to end. A loop's last elements, too few for a vector, may differ in the last bit
    from what a vector would give: where they are must not depend on the number of threads."""
    cdef Job* job = <Job*>context
    _part(job, begin * UNIT, min(end * UNIT, job.n))


# Note [The pace of a loop]
#
# How many elements are worth a thread depends on the loop, and on the level of the processor that
# it is compiled for: an addition takes a hundredth of what lgamma does. So the first calls of a
# loop with some thousands of elements are timed, on one thread; the fastest counts, as the others
# may have been interrupted. What a loop computes does not depend on how it is shared out.

cdef enum:
    UNIT = 64                     # elements that one thread has: whole vectors, and cache lines
    TIMED = 8192                  # from so many elements on, below GIL_FREE, loops have a pace
    TIMES = 4                     # calls that are timed
    WORTH = 4000                  # nanoseconds that are worth a thread
    PACES = 512                   # a power of 2, more than there are loops in use at a time

ctypedef struct Pace:
    loop_t loop
    void* data
    int times                     # calls timed so far
    double least                  # nanoseconds for an element

cdef Pace[PACES] _paces           # by the addresses; one that another needs is given up


cdef npy_intp _run_timed(Job* job, npy_intp n) noexcept:
    """The loop's grain; 0: it has been run. Holds the GIL, which guards the paces."""
    cdef size_t at = <size_t>job.loop + <size_t>job.loop_data
    cdef Pace* pace = &_paces[(at >> 4 ^ at >> 13) % PACES]
    cdef timespec begun, ended
    cdef double took
    if pace.loop != job.loop or pace.data != job.loop_data:
        pace[0] = Pace(job.loop, job.loop_data, 0, 0)
    if pace.times == TIMES:
        return <npy_intp>(WORTH / (pace.least + 1e-3))
    clock_gettime(CLOCK_MONOTONIC, &begun)
    _part(job, 0, n)
    clock_gettime(CLOCK_MONOTONIC, &ended)
    took = ((ended.tv_sec - begun.tv_sec) * 1e9 + (ended.tv_nsec - begun.tv_nsec)) / n
    pace.least = min(took, pace.least) if pace.times else took
    pace.times += 1
    return 0


cdef void run(loop_t loop, void* loop_data, int n_operands, char** data, npy_intp n,
              npy_intp* steps) noexcept:
    cdef Job job
    cdef npy_intp grain
    cdef int i
    if n < TIMED or n < GIL_FREE and num_threads() == 1:
        loop(data, &n, steps, loop_data)
        return
    job.loop, job.loop_data, job.n_operands, job.n = loop, loop_data, n_operands, n
    for i in range(n_operands):
        job.data[i] = data[i]
        job.steps[i] = steps[i]
    if n >= GIL_FREE:
        with nogil:
            parallel_for((n + UNIT - 1) // UNIT, GRAIN // UNIT, _units, &job)
        return
    grain = _run_timed(&job, n)
    if grain:
        parallel_for((n + UNIT - 1) // UNIT, max(grain, <npy_intp>TIMED // 2) // UNIT, _units, &job)


# ---- operands whose elements lie apart ----
#
# From memory, loops that read elements one by one, or gather them, take up to four times as long
# as loops over elements side by side; if rows of an operand lie across those of the result, forty
# times: each element comes from another line of the cache. So a block is brought together first.

cdef enum:
    TOGETHER = 4096               # bytes of an operand in a block of elements
    TILE_ROWS = 16                # of a block whose rows lie across: a line of the cache
    TILE_COLUMNS = 512
    ENOUGH = 4096                 # elements for which tiles pay
    LONG = 256                    # elements of a row of which blocks are made

ctypedef struct Apart:            # a loop for which they are
    loop_t loop
    void* loop_data
    int nin
    npy_intp* items               # bytes per element


cdef inline npy_intp _size(npy_intp step) noexcept nogil:
    return -step if step < 0 else step


cdef inline bint _is_apart(npy_intp step, npy_intp item) noexcept nogil:
    return step != 0 and step != item


cdef bint _lie_apart(npy_intp* steps, npy_intp* items, int nin) noexcept nogil:
    """Whether some operand's elements should be brought together."""
    cdef int i
    for i in range(nin):
        if _is_apart(steps[i], items[i]):
            return True
    return False


cdef bint _lie_across(npy_intp (*strides)[NDIM], npy_intp* length, int m, int nin) noexcept nogil:
    """Whether some operand's elements are nearer to those in the next row than in their own."""
    cdef int i
    cdef npy_intp along, across
    if m < 2 or length[m - 2] < TILE_ROWS // 2 or length[m - 1] < TILE_ROWS // 2:
        return False
    for i in range(nin):
        along, across = _size(strides[i][m - 1]), _size(strides[i][m - 2])
        if 0 < across < along and along >= 64:
            return True
    return False


cdef void _together(char** args, const npy_intp* dims, const npy_intp* steps,
                    void* context) noexcept nogil:
    """The loop, a block at a time, over elements side by side."""
    cdef Apart* a = <Apart*>context
    cdef char[MAX_IN][TOGETHER] buffers
    cdef char* data[MAX_IN + 1]
    cdef npy_intp near[MAX_IN + 1]
    cdef npy_intp most = TOGETHER, done = 0, n
    cdef int i
    for i in range(a.nin):
        near[i] = 0
        if steps[i] != 0:
            near[i] = a.items[i]
            most = min(most, TOGETHER // a.items[i])
    near[a.nin] = steps[a.nin]
    while done < dims[0]:
        n = min(most, dims[0] - done)
        for i in range(a.nin + 1):
            data[i] = args[i] + done * steps[i]
            if near[i] != steps[i]:
                bring_together(buffers[i], data[i], 0, steps[i], 1, n, a.items[i])
                data[i] = buffers[i]
        a.loop(data, &n, near, a.loop_data)
        done += n


cdef void _in_tiles(char** args, const npy_intp* dims, const npy_intp* steps,
                    void* context) noexcept nogil:
    """The loop over dims[1] rows of dims[0] elements, a tile at a time."""
    cdef Apart* a = <Apart*>context
    cdef char* room
    cdef char* data[MAX_IN + 1]
    cdef npy_intp at[MAX_IN + 1]
    cdef npy_intp near[MAX_IN + 1]
    cdef npy_intp by[MAX_IN + 1]
    cdef npy_intp row = 0, column, rows, n, _row, needed = 0
    cdef npy_intp most_rows = TILE_ROWS, most = TILE_COLUMNS
    cdef int i
    for i in range(a.nin + 1):
        at[i] = -1                # where its tile is
        if i < a.nin and _is_apart(steps[i], a.items[i]):
            at[i] = needed
            needed += TILE_ROWS * TILE_COLUMNS * a.items[i]
    room = <char*>malloc(needed)
    if room == NULL:
        most_rows, most = 1, dims[0]
    while row < dims[1]:
        rows = min(most_rows, dims[1] - row)
        column = 0
        while column < dims[0]:
            n = min(most, dims[0] - column)
            for i in range(a.nin + 1):
                near[i], by[i] = steps[i], steps[a.nin + 1 + i]
                data[i] = args[i] + row * by[i] + column * near[i]
                if at[i] >= 0 and room != NULL:
                    bring_together(room + at[i], data[i], by[i], near[i], rows, n, a.items[i])
                    data[i] = room + at[i]
                    near[i], by[i] = a.items[i], n * a.items[i]
            for _row in range(rows):
                a.loop(data, &n, near, a.loop_data)
                for i in range(a.nin + 1):
                    data[i] += by[i]
            column += n
        row += rows
    free(room)


# ---- loops over rows, beside those of elements ----

cdef struct ByRows:
    loop_t loop
    loop_t rows
    void* data                    # NULL: the loop's

cdef enum:
    PLACES = 256                  # a power of 2, several times the number of loops

cdef ByRows[PLACES] _by_rows      # by the loops' addresses; where there are two, in the next place


cdef inline ByRows* _place_of(loop_t loop) noexcept nogil:
    """Where the loop stands, or would stand."""
    cdef size_t at = (<size_t>loop >> 4) + (<size_t>loop >> 12)
    while _by_rows[at % PLACES].loop != NULL and _by_rows[at % PLACES].loop != loop:
        at += 1
    return &_by_rows[at % PLACES]


cdef int add_rows_loop(loop_t loop, loop_t rows, void* data) except -1:
    _place_of(loop)[0] = ByRows(loop, rows, data)
    return 0


ctypedef struct Outer:            # a loop along the last dimensions of m, for each index of others
    loop_t loop
    void* loop_data
    int n_operands
    int m
    int inner                     # how many of them the loop takes
    npy_intp* length
    npy_intp (*strides)[NDIM]
    char** data
    npy_intp* steps               # those of the last dimension, then of the one before


cdef int iterate(loop_t loop, void* loop_data, Operand* operands, int nin, int nd,
                 npy_intp* dims, ndarray out) except -1:
    """Call the inner loop for each index of the other collapsed dimensions."""
    cdef npy_intp strides[MAX_IN + 1][NDIM]
    cdef npy_intp length[NDIM]
    cdef npy_intp steps[2 * (MAX_IN + 1)]
    cdef npy_intp items[MAX_IN]
    cdef char* data[MAX_IN + 1]
    cdef ByRows* by_rows
    cdef Apart apart
    cdef Outer whole
    cdef int perm[NDIM]
    cdef int i, d, k, m
    cdef bint joins, beside, across
    cdef npy_intp total
    # Dimensions from slowest to fastest by the result's strides, without those of length 1.
    m = 0
    for d in range(nd):
        if dims[d] != 1:
            perm[m] = d
            m += 1
    for i in range(1, m):
        k = i
        while k > 0 and out.strides[perm[k - 1]] < out.strides[perm[k]]:
            perm[k - 1], perm[k] = perm[k], perm[k - 1]
            k -= 1
    for d in range(m):
        length[d] = dims[perm[d]]
        for i in range(nin):
            strides[i][d] = 0 if operands[i].nd == 0 else _stride_of(
                &operands[i], nd, dims, perm[d])
        strides[nin][d] = out.strides[perm[d]]
    # Two neighbours become one if in every operand the second continues the first.
    k = 0
    for d in range(1, m):
        joins = True
        for i in range(nin + 1):
            if strides[i][k] != strides[i][d] * length[d]:
                joins = False
                break
        if joins:
            length[k] *= length[d]
        else:
            k += 1
            length[k] = length[d]
        for i in range(nin + 1):
            strides[i][k] = strides[i][d]
    m = k + 1 if m else 0
    total = 1
    for d in range(m):
        total *= length[d]
    for i in range(nin):
        data[i], items[i] = operands[i].data, operands[i].item
    data[nin] = <char*>cnp.PyArray_DATA(out)
    if m == 0:
        for i in range(nin + 1):
            steps[i] = 0
        run(loop, loop_data, nin + 1, data, 1, steps)
        return 0
    for i in range(nin + 1):
        steps[i] = strides[i][m - 1]
    apart.loop, apart.loop_data, apart.nin, apart.items = loop, loop_data, nin, items
    beside = steps[nin] == cnp.PyArray_ITEMSIZE(out)      # as the result's elements lie
    across = beside and total >= ENOUGH and _lie_across(strides, length, m, nin)
    if beside and not across and total >= GIL_FREE and length[m - 1] >= LONG and _lie_apart(
            steps, items, nin):
        loop, loop_data = _together, &apart
    if m == 1:
        run(loop, loop_data, nin + 1, data, length[0], steps)
        return 0
    whole.loop, whole.loop_data, whole.inner = loop, loop_data, 1
    for i in range(nin + 1):
        steps[nin + 1 + i] = strides[i][m - 2]
    by_rows = _place_of(loop)
    if across:
        whole.loop, whole.inner, whole.loop_data = _in_tiles, 2, &apart
    elif by_rows.loop != NULL:
        whole.loop, whole.inner = by_rows.rows, 2
        whole.loop_data = by_rows.data if by_rows.data != NULL else loop_data
    whole.n_operands, whole.m = nin + 1, m
    whole.length, whole.strides, whole.data, whole.steps = length, strides, data, steps
    if total < GIL_FREE:
        _outer(&whole, 0, length[0])
    elif not skipping():
        with nogil:
            parallel_for(length[0], GRAIN // (total // length[0]) + 1, _outer, &whole)
    return 0


cdef void _outer(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """For indices begin to end of the first dimension."""
    cdef Outer* o = <Outer*>context
    cdef int last = o.m - o.inner
    cdef char* data[MAX_IN + 1]
    cdef npy_intp lengths[2]
    cdef npy_intp index[NDIM]
    cdef int i, d
    for i in range(o.n_operands):
        data[i] = o.data[i] + begin * o.strides[i][0]
    lengths[0], lengths[1] = o.length[o.m - 1], o.length[o.m - 2]
    if last == 0:
        lengths[1] = end - begin
        o.loop(data, lengths, o.steps, o.loop_data)
        return
    index[0] = begin
    for d in range(1, last):
        index[d] = 0
    while True:
        o.loop(data, lengths, o.steps, o.loop_data)
        d = last - 1
        while d >= 0:
            index[d] += 1
            for i in range(o.n_operands):
                data[i] += o.strides[i][d]
            if index[d] < (o.length[d] if d else end):
                break
            if d == 0:
                return
            for i in range(o.n_operands):
                data[i] -= o.strides[i][d] * o.length[d]
            index[d] = 0
            d -= 1
