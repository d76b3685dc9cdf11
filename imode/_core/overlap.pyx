"""Arrays that share memory: by address ranges, never wrong about a conflict, sometimes careful."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor, is_tensor, storage
from numpy cimport ndarray

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


cdef bint dense(ndarray a):
    """Whether the elements fill their address range without gap or overlap."""
    cdef char* low
    cdef char* high
    cdef int d
    _range(a, &low, &high)
    if high - low != cnp.PyArray_NBYTES(a):
        return False
    for d in range(a.ndim):
        if a.strides[d] == 0 and a.shape[d] > 1:
            return False
    return True


cdef int refuse_partial_overlap(PyObject** args, int nin, Tensor target) except -1:
    """PyTorch's rule: a dense operand is the written-to tensor or apart from it, not between."""
    cdef ndarray out = storage(target)
    cdef ndarray array
    cdef int i
    for i in range(nin):
        if is_tensor(args[i]) and args[i] != <PyObject*>target:
            array = storage(<Tensor>args[i])
            if ranges_meet(array, out) and not identical(array, out) and (
                    dense(array) and dense(out)):
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to "
                    "tensor refer to a single memory location. Please clone() the tensor before "
                    "performing the operation.")
    return 0
