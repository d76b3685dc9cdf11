"""Fourier transforms along dimensions of arrays: _fft_c2c, _fft_r2c and _fft_c2r.

The loops are in `_transform.c`; here are what is refused, how results lie in memory, which lines
are transformed together, and the plans that are kept for the next call.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.layout cimport empty_like
from imode._core.making cimport wrap
from imode._core.parallel cimport parallel_for
from imode._core.tensor cimport Tensor, storage
from imode.kernels.fast_guards cimport PyLong_AsLong, PyLong_CheckExact, _array
from libc.math cimport sqrt
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc
from numpy cimport ndarray, npy_intp

from imode import errors
from imode._core.type_names import scalar_name

cnp.import_array()

cdef enum:
    MOST_PLANS = 64               # that are kept, the latest used,
    MOST_BYTES = 64 << 20         # and how much memory they hold together
    SMALL = 16384                 # bytes of work on the stack
    GIL_FREE = 8192               # from so many elements on, the GIL is released
    GRAIN = 8192                  # elements that are worth a thread
    NDIM = 64

cdef dict _plans = {}             # key -> Plan, the latest used last
cdef size_t _held = 0             # bytes of these


cdef class Plan:
    def __dealloc__(self):
        imode_plan_free(self.tables)


cdef Plan _latest = None          # the plan that was used last, and what it is of
cdef npy_intp _latest_n = -1
cdef int _latest_kind = -1


cdef Plan plan_of(npy_intp n, bint wide, bint real):
    global _latest, _latest_n, _latest_kind
    cdef int kind = 2 * wide + real
    if n != _latest_n or kind != _latest_kind:
        _latest = _find((n, wide, real))
        _latest_n, _latest_kind = n, kind
    return _latest


cdef Plan _find(tuple key):
    global _held
    cdef Plan plan = _plans.pop(key, None)
    if plan is None:
        plan = Plan()
        plan.key = key
        plan.tables = imode_plan_new(key[0], key[1], key[2])
        if plan.tables == NULL:
            raise MemoryError()
        _held += imode_plan_bytes(plan.tables)
    _plans[key] = plan
    while len(_plans) > MOST_PLANS or (_held > MOST_BYTES and len(_plans) > 1):
        oldest = <Plan>_plans.pop(next(iter(_plans)))
        _held -= imode_plan_bytes(oldest.tables)
    return plan


# ---- lines -----------------------------------------------------------------------------------

ctypedef struct Lines:            # all lines of an array along one axis
    imode_plan* plan
    int kind
    int inverse
    int both
    double scale
    char* src
    char* dst
    npy_intp src_step
    npy_intp dst_step
    int nd                        # of the other dimensions, the innermost of the target last
    npy_intp[NDIM] sizes
    npy_intp[NDIM] src_strides
    npy_intp[NDIM] dst_strides
    npy_intp count
    int at_once
    int unit                      # of lines that one thread takes
    bint failed                   # for want of memory


cdef void _run(void* ctx, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Transform units from the first to before the last."""
    cdef Lines* lines = <Lines*>ctx
    cdef npy_intp begin = first * lines.unit
    cdef npy_intp end = min(last * lines.unit, lines.count)
    cdef char[SMALL + 64] small
    cdef size_t needed = imode_plan_work(lines.plan, lines.kind, lines.src_step,
                                         lines.dst_step) + 64
    cdef char* memory = small
    cdef npy_intp[NDIM] index
    cdef npy_intp[IMODE_LINES] src_at, dst_at
    cdef npy_intp src, dst, rest = begin
    cdef int d, n
    if needed > SMALL:
        memory = <char*>malloc(needed)
    if memory == NULL:
        lines.failed = True
        return
    src = dst = 0
    for d in range(lines.nd - 1, -1, -1):
        index[d] = rest % lines.sizes[d]
        rest = rest // lines.sizes[d]
        src += index[d] * lines.src_strides[d]
        dst += index[d] * lines.dst_strides[d]
    while begin < end:
        n = 0
        while n < lines.at_once and begin < end:
            src_at[n], dst_at[n] = src, dst
            n += 1
            begin += 1
            for d in range(lines.nd - 1, -1, -1):
                index[d] += 1
                src += lines.src_strides[d]
                dst += lines.dst_strides[d]
                if index[d] < lines.sizes[d]:
                    break
                index[d] = 0
                src -= lines.sizes[d] * lines.src_strides[d]
                dst -= lines.sizes[d] * lines.dst_strides[d]
        imode_transform(lines.plan, lines.kind, lines.inverse, lines.both, lines.scale, lines.src,
                        src_at, lines.src_step, lines.dst, dst_at, lines.dst_step, n,
                        <void*>((<uintptr_t>memory + 63) & ~<uintptr_t>63))
    if memory != small:
        free(memory)


cdef int along(int kind, ndarray source, ndarray target, int axis, npy_intp n, bint inverse,
               bint both, double scale) except -1:
    cdef Lines lines
    cdef Plan plan = plan_of(
        n, cnp.PyArray_TYPE(target) in (cnp.NPY_DOUBLE, cnp.NPY_CDOUBLE), kind != IMODE_C2C)
    cdef npy_intp units
    cdef int d, i
    lines.plan, lines.kind, lines.inverse, lines.both = plan.tables, kind, inverse, both
    lines.scale, lines.failed, lines.nd, lines.count = scale, False, 0, 1
    lines.src, lines.dst = <char*>cnp.PyArray_DATA(source), <char*>cnp.PyArray_DATA(target)
    lines.src_step, lines.dst_step = source.strides[axis], target.strides[axis]
    for d in range(source.ndim):
        if d == axis or source.shape[d] == 1:
            continue
        i = lines.nd                       # in the order of the target's memory
        while i > 0 and lines.dst_strides[i - 1] < target.strides[d]:
            lines.sizes[i] = lines.sizes[i - 1]
            lines.src_strides[i] = lines.src_strides[i - 1]
            lines.dst_strides[i] = lines.dst_strides[i - 1]
            i -= 1
        lines.sizes[i] = source.shape[d]
        lines.src_strides[i], lines.dst_strides[i] = source.strides[d], target.strides[d]
        lines.nd += 1
        lines.count *= source.shape[d]
    if lines.count == 0:
        return 0
    lines.at_once = imode_lines(plan.tables, kind, lines.src_step, lines.dst_step, &lines.unit)
    units = (lines.count + lines.unit - 1) // lines.unit
    if lines.count * n < GIL_FREE:
        _run(&lines, 0, units)
    else:
        with nogil:
            parallel_for(units, max(GRAIN // (n * lines.unit), 1), _run, &lines)
    if lines.failed:
        raise MemoryError()
    return 0


# ---- how results lie: dimensions that are not transformed first, as the source has them ----------

cdef void _by_stride(ndarray source, int* axes, int n) noexcept:
    """Sort axes: the largest stride first."""
    cdef int i, j, axis
    for i in range(1, n):
        axis = axes[i]
        j = i
        while j > 0 and source.strides[axes[j - 1]] < source.strides[axis]:
            axes[j] = axes[j - 1]
            j -= 1
        axes[j] = axis


cdef int _others(int nd, const int* axes, int n, int* order) noexcept:
    """The axes that are not transformed, and how many, in the order of GCC's std::partition: where
    one stands that is transformed, the last that is not comes in its place."""
    cdef bint[NDIM] transformed
    cdef int d, first = 0, end = nd
    for d in range(nd):
        transformed[d], order[d] = False, d
    for d in range(n):
        transformed[axes[d]] = True
    while first < end:
        if not transformed[order[first]]:
            first += 1
            continue
        end -= 1
        while first < end and transformed[order[end]]:
            end -= 1
        if first < end:
            order[first], order[end] = order[end], order[first]
            first += 1
    return first


cdef ndarray _result(int typenum, ndarray source, int* axes, int n, npy_intp last):
    """A new array whose last axes in memory are these; the last one's size is `last`."""
    cdef int[NDIM] order
    cdef npy_intp[NDIM] sizes
    cdef int nd = source.ndim
    cdef int i, others = _others(nd, axes, n, order)
    cdef bint straight = True
    cdef ndarray made
    _by_stride(source, order, others)
    for i in range(n):
        order[others + i] = axes[i]
    for i in range(nd):
        straight = straight and order[i] == i
        sizes[i] = last if i == nd - 1 else source.shape[order[i]]
    made = empty(typenum, nd, sizes)
    if straight:
        return made
    back = [0] * nd
    for i in range(nd):
        back[order[i]] = i
    return made.transpose(back)


cdef int _axes(object dim, int nd, int* axes) except -1:
    cdef int n = 0
    for d in dim:
        if not -nd <= d < nd:
            raise errors.shapes.dim_out_of_range(d, nd)
        axes[n] = d + nd if d < 0 else d
        for i in range(n):
            if axes[i] == axes[n]:
                raise errors.shapes.repeated_axis()
        n += 1
    return n


cdef double _scale(int normalization, npy_intp count) noexcept:
    """Of a transform over so many numbers; 0: as it is, 1: over their root, 2: their mean."""
    if normalization == 0 or count == 0:
        return 1.0
    return 1.0 / (sqrt(<double>count) if normalization == 1 else <double>count)


cdef npy_intp _count(ndarray array, int* axes, int n) noexcept:
    cdef npy_intp count = 1
    cdef int i
    for i in range(n):
        count *= array.shape[axes[i]]
    return count


cdef int _refuse_kind(ndarray array, str kind) except -1:
    if array.dtype.kind != kind[0] or array.dtype.itemsize == 2:
        what = "complex" if kind == "c" else "floating-point"
        if array.dtype.char == "e":
            raise RuntimeError("MKL FFT doesn't support tensors of type: Half")
        raise RuntimeError(
            f"Only supports {what} dtypes, but found: {scalar_name(array.dtype)}")
    return 0


cdef int _refuse_empty(npy_intp n) except -1:
    if n < 1:
        raise errors.shapes.no_points(n)
    return 0


# ---- the kernels ---------------------------------------------------------------------------------

cdef ndarray _whole(ndarray array):
    """The array, copied where its numbers do not lie as the loops read them."""
    return array if cnp.PyArray_ISBEHAVED_RO(array) else array.copy()


cdef ndarray _complex(ndarray source, int* axes, int n, int normalization, bint forward):
    cdef int i
    cdef ndarray made, from_
    cdef double scale = _scale(normalization, _count(source, axes, n))
    _by_stride(source, axes, n)
    for i in range(n):
        _refuse_empty(source.shape[axes[i]])
    made = _result(cnp.PyArray_TYPE(source), source, axes, n, source.shape[axes[n - 1]])
    from_ = source
    for i in range(n - 1, -1, -1):         # the innermost first
        along(IMODE_C2C, from_, made, axes[i], source.shape[axes[i]], not forward, False,
              scale if i == 0 else 1.0)
        from_ = made
    return made


def c2c(ndarray source not None, dim, int normalization, bint forward):
    """The transform of complex numbers along dimensions."""
    cdef int[NDIM] axes
    cdef int n
    _refuse_kind(source, "c")
    n = _axes(dim, source.ndim, axes)
    if n == 0:
        made = empty_like(source)
        made[...] = source
        return made
    return _complex(_whole(source), axes, n, normalization, forward)


cdef inline int _complex_of(int typenum) noexcept:
    return cnp.NPY_CFLOAT if typenum == cnp.NPY_FLOAT else cnp.NPY_CDOUBLE


cdef ndarray _from_real(ndarray source, int* axes, int n, int normalization, bint onesided):
    cdef int last = axes[n - 1]
    cdef npy_intp size = source.shape[last]
    cdef double scale = _scale(normalization, _count(source, axes, n))
    cdef ndarray made
    cdef int i
    _by_stride(source, axes, n - 1)
    for i in range(n):
        _refuse_empty(source.shape[axes[i]])
    made = _result(_complex_of(cnp.PyArray_TYPE(source)), source, axes, n,
                   size // 2 + 1 if onesided else size)
    along(IMODE_R2C, source, made, last, size, False, not onesided, scale)
    for i in range(n - 2, -1, -1):
        along(IMODE_C2C, made, made, axes[i], source.shape[axes[i]], False, False, 1.0)
    return made


def r2c(ndarray source not None, dim, int normalization, bint onesided):
    """The transform of real numbers; onesided: without what is conjugate to the rest."""
    cdef int[NDIM] axes
    cdef int n
    _refuse_kind(source, "f")
    n = _axes(dim, source.ndim, axes)
    if n == 0:
        raise errors.shapes.no_axis("_fft_r2c")
    return _from_real(_whole(source), axes, n, normalization, onesided)


cdef ndarray _to_real(ndarray source, int* axes, int n, int normalization, npy_intp size):
    cdef int last = axes[n - 1]
    cdef double scale = 1.0
    cdef ndarray made
    if n > 1:
        source = _complex(source, axes, n - 1, normalization, False)
    _refuse_empty(size)
    made = _result(
        cnp.NPY_FLOAT if cnp.PyArray_TYPE(source) == cnp.NPY_CFLOAT else cnp.NPY_DOUBLE,
        source, &last, 1, size)
    scale = _scale(normalization, size)
    along(IMODE_C2R, source, made, last, size, True, False, scale)
    return made


def c2r(ndarray source not None, dim, int normalization, npy_intp last_dim_size):
    """The inverse transform, to real numbers: so many in the last of the dimensions."""
    cdef int[NDIM] axes
    cdef int n
    _refuse_kind(source, "c")
    n = _axes(dim, source.ndim, axes)
    if n == 0:
        raise errors.shapes.no_axis("_fft_c2r")
    _refuse_empty(last_dim_size)
    if source.shape[axes[n - 1]] != last_dim_size // 2 + 1:
        raise RuntimeError(
            f"Expected {last_dim_size // 2 + 1} numbers in dimension {axes[n - 1]} for "
            f"{last_dim_size} real ones, but got {source.shape[axes[n - 1]]}")
    return _to_real(_whole(source), axes, n, normalization, last_dim_size)


# ---- fast cases ----------------------------------------------------------------------------------

cdef int _plain_axes(PyObject* dim, Fields* a, int* axes) noexcept:
    """The axes that a tuple of ints names, how many; 0: the general case has something to say."""
    cdef Py_ssize_t n = PyTuple_GET_SIZE(<object>dim)
    cdef long axis
    cdef PyObject* item
    cdef int i, j
    if n > a.nd:
        return 0
    for i in range(n):
        item = PyTuple_GET_ITEM(<object>dim, i)
        if not PyLong_CheckExact(item):
            return 0
        axis = (<object>item)
        axis += a.nd if axis < 0 else 0
        if not 0 <= axis < a.nd or a.dimensions[axis] == 0:
            return 0
        for j in range(i):
            if axes[j] == axis:
                return 0
        axes[i] = axis
    return <int>n


cdef inline bint _is_complex(int kind) noexcept:
    return kind == cnp.NPY_CFLOAT or kind == cnp.NPY_CDOUBLE


cdef object _plain_c2c(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef int[NDIM] axes
    cdef int n = _plain_axes(args[1], a, axes)
    if n == 0 or args[op.nargs] != NULL or not _is_complex(a.descr.type_num):
        return run_general(op, keys, args)
    return wrap(_complex(
        _whole(storage(<Tensor>args[0])), axes, n, PyLong_AsLong(args[2]),
        <object>args[3] is True))


cdef object _plain_r2c(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef int[NDIM] axes
    cdef int n = _plain_axes(args[1], a, axes)
    cdef int kind = a.descr.type_num
    if n == 0 or args[op.nargs] != NULL or (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE):
        return run_general(op, keys, args)
    return wrap(_from_real(
        _whole(storage(<Tensor>args[0])), axes, n, PyLong_AsLong(args[2]),
        <object>args[3] is True))


cdef object _plain_c2r(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef int[NDIM] axes
    cdef int n = _plain_axes(args[1], a, axes)
    cdef npy_intp size = PyLong_AsLong(args[3])
    if n == 0 or args[op.nargs] != NULL or size < 1 or not _is_complex(a.descr.type_num) or (
            a.dimensions[axes[n - 1]] != size // 2 + 1):
        return run_general(op, keys, args)
    return wrap(_to_real(
        _whole(storage(<Tensor>args[0])), axes, n, PyLong_AsLong(args[2]), size))


c2c_fast = CKernel.new(_plain_c2c)
r2c_fast = CKernel.new(_plain_r2c)
c2r_fast = CKernel.new(_plain_c2r)
