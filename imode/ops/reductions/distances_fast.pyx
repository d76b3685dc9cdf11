"""Fast cases of composite distances, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from imode._core.allocator cimport Fields
from imode._core.dispatch cimport Operator, call
from imode._core.keyset cimport keyset_t
from imode.kernels.fast_guards cimport _array, _real, _row_major
from imode.ops.composites_fast cimport callee, calling

cnp.import_array()

cdef enum:
    BY_PRODUCT = 25               # from more rows on, distances follow from a product


cdef object _cdist(Operator op, keyset_t keys, PyObject** args):
    """cdist(x1, x2, p, compute_mode) of any order but 2, or of few rows."""
    cdef Fields* a = _array(args[0])
    cdef Fields* b = _array(args[1])
    cdef double p = 0
    if a.nd < 2 or b.nd < 2 or a.dimensions[a.nd - 1] != b.dimensions[b.nd - 1] or (
            args[3] != PyTuple_GET_ITEM(op.defaults, 3) or not _real(args[2], &p)):
        return NotImplemented
    if p == 2 and (a.dimensions[a.nd - 2] > BY_PRODUCT or b.dimensions[b.nd - 2] > BY_PRODUCT):
        return NotImplemented
    return call(callee(op, 0), args)


cdef object _pdist(Operator op, keyset_t keys, PyObject** args):
    """pdist(input, p)."""
    cdef Fields* a = _array(args[0])
    cdef double p = 0
    if a.nd != 2 or not _row_major(a) or not _real(args[1], &p) or p < 0 or (
            a.descr.type_num != cnp.NPY_FLOAT and a.descr.type_num != cnp.NPY_DOUBLE):
        return NotImplemented
    return call(callee(op, 0), args)


cdist = calling(_cdist, ["_cdist_forward"])
pdist = calling(_pdist, ["_pdist_forward"])
