"""Arrays that share memory: by address ranges, never wrong about a conflict, sometimes careful."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.iterate cimport is_dense
from imode._core.tensor cimport Tensor, is_tensor, storage
from numpy cimport ndarray

from imode.errors import overlap_between, overlap_inside

cnp.import_array()


cdef bint ranges_meet(ndarray a, ndarray b) noexcept:
    """Whether the address ranges of two arrays intersect."""
    cdef char* a_low
    cdef char* a_high
    cdef char* b_low
    cdef char* b_high
    if cnp.PyArray_SIZE(a) == 0 or cnp.PyArray_SIZE(b) == 0:
        return False
    _range(a, &a_low, &a_high)
    _range(b, &b_low, &b_high)
    return a_low < b_high and b_low < a_high


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
    """Whether both look at the same elements in the same order."""
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


cdef int _refuse_self_overlap(ndarray out) except -1:
    cdef int d
    if cnp.PyArray_SIZE(out) > 1:
        for d in range(out.ndim):
            if out.strides[d] == 0 and out.shape[d] > 1:
                raise overlap_inside(out)
    return 0


cdef int refuse_self_overlap(Tensor target) except -1:
    return _refuse_self_overlap(storage(target))


cdef bint _same_geometry(ndarray a, ndarray b) noexcept:
    """Whether the strides agree, those of dimensions of length 1 too: PyTorch's comparison."""
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
        raise overlap_between()
    return 0


cdef int refuse_overlap(PyObject** args, int nin, Tensor target) except -1:
    cdef int i
    _refuse_self_overlap(storage(target))
    for i in range(nin):
        if is_tensor(args[i]) and args[i] != <PyObject*>target:
            _refuse_partial(storage(<Tensor>args[i]), storage(target))
    return 0


def refuse_overlaps(ndarray out not None, ndarray operand):
    """For kernels over ndarrays: raise RuntimeError where PyTorch refuses to write to `out`."""
    _refuse_self_overlap(out)
    if operand is not None:
        _refuse_partial(operand, out)


def refuse_partial(ndarray out not None, ndarray operand not None):
    """`refuse_overlaps`, for operators that write to expanded tensors too."""
    _refuse_partial(operand, out)


def refuse_shared(ndarray out not None, ndarray operand not None):
    """For kernels that write here and there: raise RuntimeError where a dense operand shares memory
    with a dense `out`, be it the whole of it."""
    if ranges_meet(operand, out) and is_dense(operand) and is_dense(out):
        raise overlap_between()
