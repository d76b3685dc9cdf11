"""Reductions as compiled kernels.

A reduction folds lanes of elements. The dimensions of the tensor are divided into reduced and kept
dimensions, and neighbours are merged. Then there are three cases, in which the inner loop is mostly
called on the tensor's own memory:

    rows     each lane is one strided run: a loop (n)->() over all lanes
    columns  lanes lie side by side: rows of memory are folded into a row of results
    several  a lane is more than one run: folded one after the other, or copied into rows

What no loop serves (dtype=, empty tensors, integers that raise, wrong dimensions) is left to the
operator's Python function over ndarrays, which defines all rules.
"""
import numpy as np
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.parallel cimport num_threads, parallel_for, skipping
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty
from imode._core.moving cimport move_into
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport (
    BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT64, N_DTYPES, NO_DTYPE, UINT8, code_of,
    is_complex, is_integral, typenum_of)
from imode._core.iterate cimport empty_like, raise_left
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.loops cimport find_loop, loop_t
from imode._core.stored cimport run_otherwise
from imode._core.tensor cimport Tensor, storage
from imode.kernels.creation.copy cimport write
from imode.kernels.reductions.rows cimport brain, wide_norms, wide_sums
from imode.kernels.reductions import rows as row_loops
from libc.limits cimport INT_MAX
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    PyObject* Py_True
    int PyLong_CheckExact(PyObject*) noexcept
    int PyFloat_CheckExact(PyObject*) noexcept
    int PyTuple_CheckExact(PyObject*) noexcept
    long PyLong_AsLong(PyObject*) except? -1
    double PyFloat_AsDouble(PyObject*) except? -1

cdef enum:
    SIDE_BY_SIDE = 4              # from so many lanes on, columns are faster than rows
    BESIDE = 8                    # the same, of 16 bits
    GRAIN = 32768                 # fewest elements per thread
    ABREAST = 64                  # lanes side by side that a thread takes at a time
    PIECE = 65536                 # elements of a single long lane that are folded on their own

cdef enum Finish:                 # what is done with the folded values
    NOTHING
    MEAN

cdef npy_intp[N_DTYPES] _itemsize
cdef int _i
for _i in range(N_DTYPES):
    _itemsize[_i] = np.dtype(cnp.PyArray_DescrFromType(typenum_of[_i])).itemsize


# ---- configuration ----

cdef class _Reduction:
    # One reduction operator; owned by its CKernel. The ints are positions of arguments, -1: none.
    cdef Lanes lanes[N_DTYPES]    # index: Code of the tensor
    cdef int dim
    cdef int keepdim
    cdef int dtype
    cdef int finish               # Finish
    cdef _Reduction then          # what folds folded values into the same as all at once, or None
    cdef bint abreast             # the loops take lanes side by side as they are
    cdef bint wide_columns        # `wide` takes lanes side by side as they are
    cdef int floats_from          # so many float16 are folded in float32, as NumPy's loops are slow
    cdef bint none_of             # () means no dimension, not all


cdef inline bint _is_narrow(int code) noexcept nogil:
    return code == FLOAT16 or code == BFLOAT16


cdef _Reduction _new_reduction():
    cdef _Reduction self = _Reduction()
    cdef int code
    self.then = self
    self.floats_from = INT_MAX
    for code in range(N_DTYPES):
        self.lanes[code].compute = NO_DTYPE
    return self


cdef Lanes* _serve(_Reduction self, int code, int compute, int out):
    """Serve tensors of a dtype: convert to `compute`, give `out`; the caller adds the loops."""
    cdef Lanes* lanes = &self.lanes[code]
    lanes.compute, lanes.out = compute, out
    lanes.rows = lanes.step = NULL
    lanes.rows_data = lanes.step_data = NULL
    lanes.wide = NULL
    return lanes


cdef int _by_rows(_Reduction self, ufunc, bint widens) except -1:
    """Serve the dtypes for which a gufunc (n)->() has loops."""
    cdef loop_t loop
    cdef void* data
    cdef int code, out
    cdef Lanes* lanes
    for code in range(N_DTYPES):
        if find_loop(ufunc, code, &loop, &data, &out) and (widens or out == code):
            lanes = _serve(self, code, code, out)
            lanes.rows, lanes.rows_data = loop, data
    return 0


cdef int _by_steps(_Reduction self, ufunc) except -1:
    """Add the loops of a binary ufunc for the dtypes whose results have the same dtype."""
    cdef loop_t loop
    cdef void* data
    cdef int code, compute, out
    for code in range(N_DTYPES):
        compute = self.lanes[code].compute
        if compute != NO_DTYPE and compute == self.lanes[code].out and (
                find_loop(ufunc, compute, &loop, &data, &out)) and out == compute:
            self.lanes[code].step, self.lanes[code].step_data = loop, data
        if compute != NO_DTYPE and self.lanes[code].rows == NULL and self.lanes[code].step == NULL:
            self.lanes[code].compute = NO_DTYPE
    return 0


cdef CKernel _whole(_Reduction self, bint dtype=False):
    """A reduction of the whole tensor; `dtype`: whether the operator has that argument."""
    self.dim = self.keepdim = -1
    self.dtype = 1 if dtype else -1
    return CKernel.new(_reduce_kernel, self)


cdef CKernel _along(_Reduction self, bint dtype=False, bint keepdim=True):
    """A reduction along dimensions, the operator's second argument; the others follow it."""
    self.dim = 1
    self.keepdim = 2 if keepdim else -1
    self.dtype = 3 if dtype else -1
    return CKernel.new(_reduce_kernel, self)


cdef _Reduction _sums():
    cdef _Reduction self = _new_reduction()
    _by_rows(self, row_loops.sum, True)
    self.lanes[<int>FLOAT16].wide = wide_sums.half
    _serve(self, BFLOAT16, BFLOAT16, BFLOAT16).rows = brain.sum
    self.lanes[<int>BFLOAT16].wide = wide_sums.brain
    self.wide_columns = True
    return self


cdef _Reduction _means():
    cdef _Reduction self = _sums()
    cdef int code
    self.finish = MEAN
    for code in range(N_DTYPES):
        if code != FLOAT32 and code != FLOAT64 and not _is_narrow(code):
            self.lanes[code].compute = NO_DTYPE
    return self


cdef _Reduction _products():
    cdef _Reduction self = _new_reduction()
    cdef int code, wide
    self.floats_from = 0
    for code in range(N_DTYPES):
        wide = INT64 if is_integral(code) else code
        _serve(self, code, wide, wide)
    _by_steps(self, np.multiply)
    self.lanes[<int>FLOAT32].rows = imode_prod_f
    self.lanes[<int>FLOAT64].rows = imode_prod_d
    return self


cdef _Reduction _extrema(ufunc, loop_t floats, loop_t doubles):
    cdef _Reduction self = _new_reduction()
    cdef int code
    self.floats_from = 64
    for code in range(N_DTYPES):
        if not is_complex(code):
            _serve(self, code, code, code)
    _by_steps(self, ufunc)
    _serve(self, FLOAT32, FLOAT32, FLOAT32).rows = floats
    _serve(self, FLOAT64, FLOAT64, FLOAT64).rows = doubles
    return self


cdef _Reduction _truths(ufunc, loop_t floats, loop_t doubles, loop_t integers):
    cdef _Reduction self = _new_reduction()
    cdef int code
    self.none_of = True
    for code in range(N_DTYPES):
        if code != UINT8:
            _serve(self, code, BOOL, BOOL)
    _by_steps(self, ufunc)
    _serve(self, FLOAT32, FLOAT32, BOOL).rows = floats
    _serve(self, FLOAT64, FLOAT64, BOOL).rows = doubles
    _serve(self, INT64, INT64, BOOL).rows = integers
    return self


cdef _Reduction _counts():
    cdef _Reduction self = _new_reduction()
    cdef int code
    self.then = _sums()
    for code in range(N_DTYPES):
        _serve(self, code, BOOL, INT64).rows = imode_count_b
    _serve(self, FLOAT32, FLOAT32, INT64).rows = imode_count_f
    _serve(self, FLOAT64, FLOAT64, INT64).rows = imode_count_d
    _serve(self, INT64, INT64, INT64).rows = imode_count_l
    return self


cdef _Reduction _of_reals(loop_t floats, loop_t doubles):
    cdef _Reduction self = _new_reduction()
    _serve(self, FLOAT32, FLOAT32, FLOAT32).rows = floats
    _serve(self, FLOAT64, FLOAT64, FLOAT64).rows = doubles
    return self


cdef _Reduction _nan_sums():
    cdef _Reduction self = _of_reals(imode_nansum_f, imode_nansum_d)
    self.floats_from = 0
    _serve(self, FLOAT16, FLOAT16, FLOAT16)
    self.then = _sums()           # a sum that is NaN, of infinities, stays it
    return self


cdef _Reduction _logarithms():
    cdef _Reduction self = _new_reduction()
    self.then = None
    self.abreast = True
    _by_rows(self, row_loops.logsumexp, False)
    _serve(self, BFLOAT16, BFLOAT16, BFLOAT16).rows = brain.logsumexp
    return self


cdef _Reduction _any():
    return _truths(np.logical_or, imode_any_f, imode_any_d, imode_any_l)


cdef _Reduction _all():
    return _truths(np.logical_and, imode_all_f, imode_all_d, imode_all_l)


# ---- dimensions ----

cdef long long axes_of(PyObject* dim, int nd) noexcept:
    cdef long long axes = 0
    cdef Py_ssize_t i
    cdef long axis
    cdef int span = nd if nd else 1
    cdef PyObject* item
    if dim == <PyObject*>None:
        return ALL
    if PyLong_CheckExact(dim):
        axis = long_of(dim)
        if axis < -span or axis >= span:
            return BAD
        return <long long>1 << (axis + span if axis < 0 else axis)
    if not PyTuple_CheckExact(dim):
        return BAD
    if PyTuple_GET_SIZE(<object>dim) == 0:
        return ALL
    for i in range(PyTuple_GET_SIZE(<object>dim)):
        item = PyTuple_GET_ITEM(<object>dim, i)
        if not PyLong_CheckExact(item):
            return BAD
        axis = long_of(item)
        if axis < -span or axis >= span:
            return BAD
        if axis < 0:
            axis += span
        if axes >> axis & 1:
            return BAD
        axes |= <long long>1 << axis
    return axes


cdef long long_of(PyObject* value) noexcept:
    cdef long number
    try:
        number = PyLong_AsLong(value)
    except OverflowError:
        number = 1 << 30
    return number


cdef inline void _push(Axes* axes, npy_intp size, npy_intp stride) noexcept:
    cdef int last = axes.n - 1
    if last >= 0 and axes.stride[last] == stride * size:
        axes.size[last] *= size
        axes.stride[last] = stride
    else:
        axes.size[axes.n] = size
        axes.stride[axes.n] = stride
        axes.n += 1


cdef void make_plan(ndarray x, long long axes, bint keepdim, Plan* plan) noexcept:
    cdef int d
    cdef int nd = x.ndim
    cdef npy_intp size
    plan.lane.n = plan.kept.n = plan.nd = 0
    for d in range(nd):
        size = x.shape[d]
        if axes == ALL or axes >> d & 1:
            if size != 1:
                _push(&plan.lane, size, x.strides[d])
            if keepdim:
                plan.dims[plan.nd] = 1
                plan.nd += 1
        else:
            if size != 1:
                _push(&plan.kept, size, x.strides[d])
            plan.dims[plan.nd] = size
            plan.nd += 1
    if plan.lane.n == 0:
        _push(&plan.lane, 1, cnp.PyArray_ITEMSIZE(x))
    if plan.kept.n == 0:
        _push(&plan.kept, 1, 0)


cdef ndarray lanes_last(ndarray x, long long axes):
    cdef list order = [d for d in range(x.ndim) if not (axes == ALL or axes >> d & 1)]
    order += [d for d in range(x.ndim) if axes == ALL or axes >> d & 1]
    cdef ndarray turned = x.transpose(order)
    cdef ndarray made = empty(cnp.PyArray_TYPE(x), turned.ndim, turned.shape)
    if skipping() or move_into(made, turned):
        return made
    return np.array(turned, order="C")


cdef long long _last_axes(ndarray x, long long axes) noexcept:
    """The reduced dimensions of the innermost run of a lane: one step of a chained reduction."""
    cdef long long inner = 0
    cdef npy_intp begin = 0
    cdef int d
    for d in range(x.ndim - 1, -1, -1):
        if x.shape[d] == 1:
            continue
        if not (axes == ALL or axes >> d & 1):
            if inner:
                break
        elif inner == 0 or x.strides[d] == begin:
            inner |= <long long>1 << d
            begin = x.strides[d] * x.shape[d]
        else:
            break
    return inner


# ---- folding ----

cdef void _fold(Lanes* lanes, Plan* plan, char* data, char* out) noexcept nogil:
    """Fold lanes that are one run each; `out` is contiguous."""
    cdef Axes* kept = &plan.kept
    cdef int last = kept.n - 1
    cdef npy_intp n = plan.lane.size[0]
    cdef npy_intp stride = plan.lane.stride[0]
    cdef npy_intp m = kept.size[last]
    cdef npy_intp item = _itemsize[lanes.compute]
    cdef npy_intp step = _itemsize[lanes.out]
    cdef npy_intp index[NDIM]
    cdef npy_intp dims[2]
    cdef npy_intp steps[3]
    cdef char* args[3]
    cdef int d
    cdef bint columns = lanes.step != NULL and (
        m >= SIDE_BY_SIDE and kept.stride[last] == item and stride != item)
    for d in range(last):
        index[d] = 0
    while True:
        if columns:
            _step_rows(lanes, data, stride, out, n, m, item)
        elif lanes.rows != NULL:
            dims[0] = m
            dims[1] = n
            steps[0] = kept.stride[last]
            steps[1] = step
            steps[2] = stride
            args[0] = data
            args[1] = out
            lanes.rows(args, dims, steps, lanes.rows_data)
        else:
            _step_lanes(lanes, data, stride, out, n, m, kept.stride[last], item)
        out += m * step
        d = last - 1
        while d >= 0:
            index[d] += 1
            data += kept.stride[d]
            if index[d] < kept.size[d]:
                break
            data -= kept.stride[d] * kept.size[d]
            index[d] = 0
            d -= 1
        if d < 0:
            return


# ---- on several threads: whole lanes; a single one in pieces that only its length decides on ----

ctypedef struct Folding:
    Lanes* lanes
    Plan* plan
    char* data
    char* out
    npy_intp unit                 # lanes, or rows of lanes, in one of the parts that are shared out


cdef void _fold_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Parts begin to end; the last has all that is left."""
    cdef Folding* f = <Folding*>context
    cdef Plan plan = f.plan[0]
    cdef npy_intp each = _itemsize[f.lanes.out]
    cdef npy_intp first = begin * f.unit
    cdef npy_intp last = end * f.unit
    cdef int d
    for d in range(1, plan.kept.n):
        each *= plan.kept.size[d]
    if plan.kept.size[0] - last < f.unit:
        last = plan.kept.size[0]
    plan.kept.size[0] = last - first
    _fold(f.lanes, &plan, f.data + first * plan.kept.stride[0], f.out + first * each)


cdef void _fold_shared(Lanes* lanes, Plan* plan, char* data, char* out) noexcept nogil:
    """As `_fold`, for many elements."""
    cdef Folding f
    cdef npy_intp each = plan.lane.size[0]
    cdef npy_intp parts, grain
    cdef int d
    for d in range(1, plan.kept.n):
        each *= plan.kept.size[d]
    f.lanes, f.plan, f.data, f.out = lanes, plan, data, out
    # Fewer lanes side by side would be folded in another order.
    f.unit = 1
    if plan.kept.n == 1 and plan.kept.stride[0] == _itemsize[lanes.compute]:
        f.unit = ABREAST
    parts = plan.kept.size[0] // f.unit
    grain = GRAIN // (each * f.unit) + 1
    if f.unit > 1 and grain * num_threads() < parts:
        grain = (parts - 1) // num_threads() + 1     # short pieces of many rows come slowly
    parallel_for(parts if parts else 1, grain, _fold_some, &f)


cdef inline bint _chains(_Reduction self, Lanes* lanes) noexcept:
    """Whether results may be folded again: they are not rounded."""
    return self.then is not None and not _is_narrow(lanes.out) and (
        self.then.lanes[lanes.out].compute == lanes.out)


cdef bint _in_pieces(_Reduction self, Lanes* lanes, Plan* plan) noexcept:
    """Whether the result is a single lane that is long, and may be folded twice."""
    return _chains(self, lanes) and (
        plan.kept.n == 1 and plan.kept.size[0] == 1 and plan.lane.size[0] >= 2 * PIECE)


cdef void _fold_pieces(Lanes* lanes, Lanes* again, Plan* plan, char* data, char* out,
                       char* parts, npy_intp n) noexcept nogil:
    """Fold n pieces of a lane into `parts`, and these, by the loops `again`."""
    cdef Plan pieces
    cdef Plan rest
    cdef npy_intp whole = plan.lane.size[0] // PIECE
    cdef npy_intp item = _itemsize[lanes.out]
    pieces.lane.n = pieces.kept.n = rest.lane.n = rest.kept.n = 1
    pieces.lane.size[0], pieces.lane.stride[0] = PIECE, plan.lane.stride[0]
    pieces.kept.size[0], pieces.kept.stride[0] = whole, PIECE * plan.lane.stride[0]
    _fold_shared(lanes, &pieces, data, parts)
    rest = pieces
    rest.kept.size[0] = 1
    if n > whole:
        rest.lane.size[0] = plan.lane.size[0] - whole * PIECE
        _fold(lanes, &rest, data + whole * pieces.kept.stride[0], parts + whole * item)
    rest.lane.size[0], rest.lane.stride[0] = n, item
    _fold(again, &rest, parts, out)


cdef void _step_rows(Lanes* lanes, char* data, npy_intp stride, char* out, npy_intp n,
                     npy_intp m, npy_intp item) noexcept nogil:
    cdef char* args[3]
    cdef npy_intp[3] steps = [item, item, item]
    cdef npy_intp k
    memcpy(out, data, m * item)
    for k in range(1, n):
        args[0] = args[2] = out
        args[1] = data + k * stride
        lanes.step(args, &m, steps, lanes.step_data)


cdef void _step_lanes(Lanes* lanes, char* data, npy_intp stride, char* out, npy_intp n,
                      npy_intp m, npy_intp lane_stride, npy_intp item) noexcept nogil:
    cdef char* args[3]
    cdef npy_intp[3] steps = [0, stride, 0]
    cdef npy_intp rest = n - 1
    cdef npy_intp _k
    for _k in range(m):
        memcpy(out, data, item)
        if rest:
            args[0] = args[2] = out
            args[1] = data + stride
            lanes.step(args, &rest, steps, lanes.step_data)
        data += lane_stride
        out += item


cdef ndarray _folded(_Reduction self, Lanes* lanes, ndarray x, long long axes, bint keepdim):
    """Reduce `x`, which has the computing dtype and is not empty, along `axes`."""
    cdef Plan plan
    cdef Lanes* again
    cdef ndarray out, parts
    cdef npy_intp n
    cdef long long inner
    cdef char* data
    cdef char* result
    make_plan(x, axes, keepdim, &plan)
    while plan.lane.n > 1:
        if axes == ALL and cnp.PyArray_IS_F_CONTIGUOUS(x):
            x = cnp.PyArray_Transpose(x, NULL)    # the order of the elements does not matter
        elif _chains(self, lanes):
            inner = _last_axes(x, axes)
            x = _folded(self, lanes, x, inner, True)
            self = self.then
            lanes = &self.lanes[lanes.out]
        else:
            x = lanes_last(x, axes)
            return _folded_last(self, lanes, x, &plan)
        make_plan(x, axes, keepdim, &plan)
    if self.then is not self and not (self.abreast and plan.kept.stride[plan.kept.n - 1] == (
            _itemsize[lanes.compute])) and (
            plan.lane.stride[0] != _itemsize[lanes.compute] and cnp.PyArray_SIZE(x) >= COPY):
        return _folded_last(self, lanes, lanes_last(x, axes), &plan)
    out = empty(typenum_of[lanes.out], plan.nd, plan.dims)
    data = <char*>cnp.PyArray_DATA(x)
    result = <char*>cnp.PyArray_DATA(out)
    if cnp.PyArray_SIZE(x) < GIL_FREE:
        _fold(lanes, &plan, data, result)
    elif _in_pieces(self, lanes, &plan):
        again = &self.then.lanes[lanes.out]
        n = (plan.lane.size[0] + PIECE - 1) // PIECE
        parts = empty(typenum_of[lanes.out], 1, &n)
        if not skipping():
            with nogil:
                _fold_pieces(lanes, again, &plan, data, result,
                             <char*>cnp.PyArray_DATA(parts), n)
    elif not skipping():
        with nogil:
            _fold_shared(lanes, &plan, data, result)
    raise_left()
    return out


cdef ndarray _folded_last(_Reduction self, Lanes* lanes, ndarray x, Plan* plan):
    """As `_folded`, with a copy whose last dimensions are the reduced ones; `plan` has the result's
    shape."""
    cdef ndarray out = empty(typenum_of[lanes.out], plan.nd, plan.dims)
    cdef Plan rows
    cdef npy_intp m = cnp.PyArray_SIZE(out)
    cdef npy_intp n = cnp.PyArray_SIZE(x) // m
    rows.lane.n = rows.kept.n = 1
    rows.lane.size[0] = n
    rows.lane.stride[0] = _itemsize[lanes.compute]
    rows.kept.size[0] = m
    rows.kept.stride[0] = n * _itemsize[lanes.compute]
    with nogil:
        _fold_shared(lanes, &rows, <char*>cnp.PyArray_DATA(x), <char*>cnp.PyArray_DATA(out))
    raise_left()
    return out


# ---- the kernel ----

cdef object _reduce_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef _Reduction self = <_Reduction>(<CKernel>op.kernels[highest_key(keys)]).config
    return _reduce(self, self, op, keys, args)


cdef object _reduce(_Reduction self, _Reduction by, Operator op, keyset_t keys,
                    PyObject** args):
    """Run the reduction `by`, with the argument positions of `self`."""
    cdef ndarray x = storage(<Tensor>args[0])
    cdef ndarray out
    cdef Lanes* lanes = &by.lanes[code_of[cnp.PyArray_TYPE(x)]]
    cdef npy_intp size = cnp.PyArray_SIZE(x)
    cdef long long axes = ALL
    cdef bint keepdim = self.keepdim >= 0 and args[self.keepdim] == Py_True
    if lanes.compute == NO_DTYPE or x.ndim > NDIM or size == 0 or (
            self.dtype >= 0 and args[self.dtype] != <PyObject*>None):
        return run_otherwise(op, keys, args)
    if self.dim >= 0:
        axes = axes_of(args[self.dim], x.ndim)
        if axes == BAD or (axes == ALL and self.none_of and args[self.dim] != <PyObject*>None):
            return run_otherwise(op, keys, args)
    if lanes.wide != NULL and (lanes.rows == NULL or by.finish == MEAN or size >= GIL_FREE) or (
            _are_narrow_columns(lanes, x, axes)) or (
            lanes.compute == FLOAT16 and size >= by.floats_from):
        return deliver(op, _in_floats(by, x, axes, keepdim), args)
    if lanes.compute != code_of[cnp.PyArray_TYPE(x)]:
        x = _cast(x, typenum_of[lanes.compute])
    out = _folded(by, lanes, x, axes, keepdim)
    if by.finish == MEAN:
        _divide(out, lanes.out, size // cnp.PyArray_SIZE(out))
    return deliver(op, out, args)


cdef bint _are_narrow_columns(Lanes* lanes, ndarray x, long long axes) noexcept:
    """Whether 16 bits are folded whose lanes are no rows of memory: their loop reads rows."""
    return _is_narrow(lanes.compute) and (lanes.rows != NULL or lanes.wide != NULL) and (
        axes != ALL and x.ndim and not axes >> (x.ndim - 1) & 1)


cdef ndarray _cast(ndarray x, int typenum):
    cdef ndarray made
    if not _is_narrow(code_of[cnp.PyArray_TYPE(x)]):
        return cnp.PyArray_Cast(x, typenum)
    made = empty_like(x, typenum)
    write(made, x)                # has a fast loop
    return made


cdef ndarray _in_floats(_Reduction by, ndarray x, long long axes, bint keepdim):
    """The reduction of 16 bits in float32, rounded at the end; lanes that `wide` does not read well
    are copied."""
    cdef Lanes lanes = by.lanes[code_of[cnp.PyArray_TYPE(x)]]
    cdef npy_intp size = cnp.PyArray_SIZE(x)
    cdef int typenum = cnp.PyArray_TYPE(x)
    cdef ndarray wide, folded, out
    if lanes.wide == NULL or _are_narrow_columns(&lanes, x, axes) and not (
            by.wide_columns and x.shape[x.ndim - 1] >= BESIDE and x.strides[x.ndim - 1] == 2):
        lanes = by.lanes[<int>FLOAT32]
        wide = empty_like(x, cnp.NPY_FLOAT)
        write(wide, x)            # both conversions have fast loops
        x = wide
    else:
        lanes.rows, lanes.out = lanes.wide, FLOAT32
    folded = _folded(by, &lanes, x, axes, keepdim)
    if by.finish == MEAN:
        _divide(folded, FLOAT32, size // cnp.PyArray_SIZE(folded))
    out = empty_like(folded, typenum)
    write(out, folded)
    return out


cdef void _divide(ndarray out, int code, npy_intp count) noexcept:
    cdef npy_intp i
    cdef float* narrow = <float*>cnp.PyArray_DATA(out)
    cdef double* wide = <double*>cnp.PyArray_DATA(out)
    if code == FLOAT32:
        for i in range(cnp.PyArray_SIZE(out)):
            narrow[i] = <float>(narrow[i] / <double>count)
    else:
        for i in range(cnp.PyArray_SIZE(out)):
            wide[i] /= count


# ---- vector norms: linalg_vector_norm(self, ord, dim, keepdim, *, dtype) ----

cdef class _Norms(_Reduction):
    cdef _Reduction one           # ord 1
    cdef _Reduction two           # ord 2


cdef _Norms _norms():
    cdef _Norms self = _Norms()
    self.dim, self.keepdim, self.dtype = 2, 3, 4
    self.one = _of_reals(imode_norm1_f, imode_norm1_d)
    self.two = _of_reals(imode_norm2_f, imode_norm2_d)
    _serve(self.two, FLOAT16, FLOAT16, FLOAT16).wide = wide_norms.half
    _serve(self.two, BFLOAT16, BFLOAT16, BFLOAT16).wide = wide_norms.brain
    return self


cdef object _norm_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef _Norms self = <_Norms>(<CKernel>op.kernels[highest_key(keys)]).config
    cdef double order = 0
    if PyFloat_CheckExact(args[1]):
        order = PyFloat_AsDouble(args[1])
    elif PyLong_CheckExact(args[1]):
        order = long_of(args[1])
    if order == 2:
        return _reduce(self, self.two, op, keys, args)
    if order == 1:
        return _reduce(self, self.one, op, keys, args)
    return run_otherwise(op, keys, args)


# ---- the kernels ----

sum = _whole(_sums(), True)
sum_dim = _along(_sums(), True)
nansum = _along(_nan_sums(), True)
mean = _whole(_means(), True)
mean_dim = _along(_means(), True)
prod = _whole(_products(), True)
prod_dim = _along(_products(), True)
max = _whole(_extrema(np.maximum, imode_max_f, imode_max_d))
min = _whole(_extrema(np.minimum, imode_min_f, imode_min_d))
amax = _along(_extrema(np.maximum, imode_max_f, imode_max_d))
amin = _along(_extrema(np.minimum, imode_min_f, imode_min_d))
any = _whole(_any())
any_dim = _along(_any())
all = _whole(_all())
all_dim = _along(_all())
count_nonzero = _along(_counts(), False, False)
logsumexp = _along(_logarithms())
vector_norm = CKernel.new(_norm_kernel, _norms())
