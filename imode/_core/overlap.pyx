"""Arrays that share memory, by address ranges, and where strides agree by what each dimension
takes: every conflict is found, and some that are none."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.iterate cimport is_dense
from imode._core.tensor cimport Tensor, is_tensor, storage
from numpy cimport ndarray, npy_intp

from imode import errors

cnp.import_array()

cdef enum:
    MAX_DIMS = 64


cdef bint ranges_meet(ndarray a, ndarray b) noexcept:
    """Whether two arrays may share memory: their address ranges intersect, and they are not parts
    of one array that lie beside each other."""
    cdef char* a_low
    cdef char* a_high
    cdef char* b_low
    cdef char* b_high
    if cnp.PyArray_SIZE(a) == 0 or cnp.PyArray_SIZE(b) == 0:
        return False
    _range(a, &a_low, &a_high)
    _range(b, &b_low, &b_high)
    return a_low < b_high and b_low < a_high and not _beside(a, b)


cdef bint _beside(ndarray a, ndarray b) noexcept:
    """Whether two arrays of the same positive strides are boxes in a larger one that do not meet.

    Where a dimension, of what both take of it, ends before the next step of the one around it, each
    address has one place in all dimensions: boxes meet only if they meet in each.
    """
    cdef npy_intp steps[MAX_DIMS]
    cdef npy_intp sizes[MAX_DIMS]
    cdef npy_intp others[MAX_DIMS]
    cdef npy_intp step, apart, at, room = 0
    cdef ndarray low = a, high = b
    cdef int d, e, nd = 0
    cdef bint parted = False
    if a.ndim != b.ndim or a.ndim > MAX_DIMS:
        return False
    if <char*>cnp.PyArray_DATA(b) < <char*>cnp.PyArray_DATA(a):
        low, high = b, a
    for d in range(low.ndim):
        if low.shape[d] == 1 == high.shape[d]:
            continue
        step = high.strides[d] if low.shape[d] == 1 else low.strides[d]
        if step <= 0 or high.shape[d] != 1 and high.strides[d] != step:
            return False
        e = nd
        while e > 0 and steps[e - 1] < step:
            steps[e], sizes[e], others[e] = steps[e - 1], sizes[e - 1], others[e - 1]
            e -= 1
        steps[e], sizes[e], others[e] = step, low.shape[d], high.shape[d]
        nd += 1
    apart = <char*>cnp.PyArray_DATA(high) - <char*>cnp.PyArray_DATA(low)
    for d in range(nd):
        at = apart // steps[d]
        apart -= at * steps[d]
        if d and max(sizes[d], at + others[d]) * steps[d] > room:
            return False
        parted = parted or at >= sizes[d]
        room = steps[d]
    # Elements end before the next ones of both begin: those of a comb, between its teeth.
    if nd == 0 or apart + cnp.PyArray_ITEMSIZE(high) > room or cnp.PyArray_ITEMSIZE(low) > room:
        return False
    return parted if apart == 0 else apart >= cnp.PyArray_ITEMSIZE(low)


cdef void _range(ndarray a, char** low, char** high) noexcept:
    cdef int d
    low[0] = high[0] = <char*>cnp.PyArray_DATA(a)
    for d in range(a.ndim):
        if a.strides[d] > 0:
            high[0] += a.strides[d] * (a.shape[d] - 1)
        else:
            low[0] += a.strides[d] * (a.shape[d] - 1)
    high[0] += cnp.PyArray_ITEMSIZE(a)


cdef bint identical(ndarray a, ndarray b) noexcept:
    """Whether both consist of the same elements in the same order."""
    cdef int d
    if cnp.PyArray_DATA(a) != cnp.PyArray_DATA(b) or a.ndim != b.ndim:
        return False
    for d in range(a.ndim):
        if a.shape[d] != b.shape[d] or (a.shape[d] > 1 and a.strides[d] != b.strides[d]):
            return False
    return True


cdef bint entangled(ndarray source, ndarray target) noexcept:
    """Whether writing the target element by element could change a source element not yet read."""
    return ranges_meet(source, target) and not identical(source, target)


cdef int refuse_self_overlap(ndarray out) except -1:
    cdef int d
    if cnp.PyArray_SIZE(out) > 1:
        for d in range(out.ndim):
            if out.strides[d] == 0 and out.shape[d] > 1:
                raise errors.views.overlap_inside(out)
    return 0


cdef bint _same_geometry(ndarray a, ndarray b) noexcept:
    """Whether the strides agree, including dimensions of length 1: PyTorch's comparison."""
    cdef int d
    if a.ndim != b.ndim:
        return False
    for d in range(a.ndim):
        if a.strides[d] != b.strides[d]:
            return False
    return True


cdef bint _partly_overlap(ndarray array, ndarray out):
    """Whether two dense arrays share memory without being the same elements in the same order."""
    if not (ranges_meet(array, out) and is_dense(array) and is_dense(out)):
        return False
    return not (cnp.PyArray_DATA(array) == cnp.PyArray_DATA(out)
                and cnp.PyArray_NBYTES(array) == cnp.PyArray_NBYTES(out)
                and _same_geometry(array, out))


cdef int _refuse_partial(ndarray operand, ndarray out) except -1:
    if _partly_overlap(operand, out):
        raise errors.views.overlap_between()
    return 0


cdef int refuse_overlap(PyObject** args, int nin, Tensor target) except -1:
    cdef int i
    refuse_self_overlap(storage(target))
    for i in range(nin):
        if is_tensor(args[i]) and args[i] != <PyObject*>target:
            _refuse_partial(storage(<Tensor>args[i]), storage(target))
    return 0


def refuse_overlaps(ndarray out not None, ndarray operand):
    """For kernels over ndarrays: raise where PyTorch refuses to write to `out`."""
    refuse_self_overlap(out)
    if operand is not None:
        _refuse_partial(operand, out)


def refuse_partial(ndarray out not None, ndarray operand not None):
    """`refuse_overlaps`, for operators that may also write to expanded tensors."""
    _refuse_partial(operand, out)


def refuse_shared(ndarray out not None, ndarray operand not None):
    """For kernels that write in any order: raise if a dense operand shares memory with a dense
    `out`, even all of it."""
    if ranges_meet(operand, out) and is_dense(operand) and is_dense(out):
        raise errors.views.overlap_between()
