"""Fast cases of composite reductions, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport MAX_ARGS, Operator, call, inference_mode_on, tls
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, is_tensor
from imode.kernels.fast_guards cimport (
    MAX_DIMS, PyFloat_AsDouble, PyFloat_CheckExact, PyLong_CheckExact, _array, _count, _dim,
    _row_major)
from imode.ops.composites_fast cimport callee, calling, unseen
from libc.math cimport ceil, rint
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    LONGEST = 64                  # most elements of a line whose quantiles are found here
    FEW = 1024                    # most elements of all lines

ctypedef fused real:
    float
    double


cdef inline bint _is_real(int kind) noexcept:
    return kind == cnp.NPY_FLOAT or kind == cnp.NPY_DOUBLE


# ---- quantiles, in inference mode; elsewhere they are results of operators ----

cdef enum Between:                # what lies between two elements
    LINEAR
    LOWER
    HIGHER
    MIDPOINT
    NEAREST
    UNKNOWN


cdef Between _interpolation(object name) except *:
    if name == "linear":
        return LINEAR
    if name == "lower":
        return LOWER
    if name == "higher":
        return HIGHER
    if name == "midpoint":
        return MIDPOINT
    return NEAREST if name == "nearest" else UNKNOWN


cdef inline npy_intp _sort(real* line, const real* x, npy_intp n, npy_intp step) noexcept nogil:
    """Read a line in order, NaN last; how many are not NaN."""
    cdef npy_intp i, j, present = 0
    cdef real each
    for i in range(n):
        each, j = x[i * step], present
        if each != each:
            line[n - 1 - (i - present)] = each
            continue
        while j and each < line[j - 1]:
            line[j] = line[j - 1]
            j -= 1
        line[j] = each
        present += 1
    return present


cdef real _quantile_of(const real* line, npy_intp n, npy_intp present, real q, Between between,
                       bint without_nan) noexcept nogil:
    """What stands at `q` among the sorted elements of a line."""
    cdef real rank = q * <real>(n - 1), below, above, weight
    if without_nan:
        rank = max(q * <real>(present - 1), <real>0)
    elif present < n:
        rank = <real>(n - 1)
    if between == NEAREST:
        rank = <real>rint(rank)
    elif between == HIGHER:
        rank = <real>ceil(rank)
    below = line[<npy_intp>rank]
    if between != LINEAR and between != MIDPOINT:
        return below
    above = line[<npy_intp>ceil(rank)]
    weight = <real>0.5 if between == MIDPOINT else rank - <real><npy_intp>rank
    if weight < 0.5:
        return below + weight * (above - below)
    return above - (above - below) * (1 - weight)


cdef bint _are_portions(const real* q, npy_intp count) noexcept nogil:
    cdef npy_intp i
    for i in range(count):
        if not 0 <= q[i] <= 1:
            return False
    return True


cdef void _quantiles(real* out, const real* x, npy_intp outer, npy_intp n, npy_intp inner,
                     const real* q, npy_intp count, Between between,
                     bint without_nan) noexcept nogil:
    """Of (outer, n, inner) elements; all `count` of a line stand side by side."""
    cdef real[LONGEST] line
    cdef npy_intp o, k, i, present
    for o in range(outer):
        for k in range(inner):
            present = _sort(line, x + o * n * inner + k, n, inner)
            for i in range(count):
                out[(o * inner + k) * count + i] = _quantile_of(
                    line, n, present, q[i], between, without_nan)


cdef object _quantile(Operator op, keyset_t keys, PyObject** args):
    """quantile(self, q, dim, keepdim, interpolation): one, or several of all elements."""
    cdef Fields* x = _array(args[0])
    cdef Fields* q
    cdef int kind = x.descr.type_num, dim = -1, d, nd = 0
    cdef npy_intp[MAX_DIMS + 1] dims
    cdef npy_intp outer = 1, inner = 1, n = _count(x, 0, x.nd), count = 1
    cdef double number
    cdef float narrow
    cdef const void* at
    cdef bint keepdim = <object>args[3] is True, without_nan = op.name == "nanquantile"
    cdef keyset_t all_keys = (<Tensor>args[0]).keys
    cdef Between between = _interpolation(<object>args[4])
    cdef ndarray out
    if between == UNKNOWN or not _is_real(kind) or not _row_major(x) or not 0 < n <= FEW or (
            not inference_mode_on(tls())):
        return NotImplemented
    if args[2] != <PyObject*>None:
        dim = _dim(args[2], x.nd)
        if dim < 0:
            return NotImplemented
        outer, inner, n = _count(x, 0, dim), _count(x, dim + 1, x.nd), x.dimensions[dim]
    if is_tensor(args[1]):
        q = _array(args[1])
        all_keys |= (<Tensor>args[1]).keys
        if q.nd > 1 or q.descr.type_num != kind or not _row_major(q) or (
                q.nd and (outer * inner > 1 or keepdim or x.nd > 1 and dim >= 0)):
            return NotImplemented
        at, count = q.data, _count(q, 0, q.nd)
        if q.nd:
            dims[0], nd = count, 1
    elif PyFloat_CheckExact(args[1]) or PyLong_CheckExact(args[1]):
        number = PyFloat_AsDouble(args[1])
        if not 0 <= number <= 1:
            return NotImplemented
        narrow = <float>number
        at = <void*>&narrow if kind == cnp.NPY_FLOAT else <void*>&number
    else:
        return NotImplemented
    if n > LONGEST or not 0 < count <= FEW or not unseen(op, all_keys) or not (
            _are_portions(<const float*>at, count) if kind == cnp.NPY_FLOAT
            else _are_portions(<const double*>at, count)):
        return NotImplemented
    for d in range(x.nd):
        if d != dim and dim >= 0 or keepdim:
            dims[nd] = 1 if d == dim or dim < 0 else x.dimensions[d]
            nd += 1
    out = empty(kind, nd, dims)
    if kind == cnp.NPY_FLOAT:
        _quantiles(<float*>cnp.PyArray_DATA(out), <float*>x.data, outer, n, inner,
                   <const float*>at, count, between, without_nan)
    else:
        _quantiles(<double*>cnp.PyArray_DATA(out), <double*>x.data, outer, n, inner,
                   <const double*>at, count, between, without_nan)
    return wrap(out)


# ---- norms ----

cdef object _matrix_norm(Operator op, keyset_t keys, PyObject** args):
    """linalg_matrix_norm(self, "fro", dim, keepdim, dtype)."""
    cdef Fields* x = _array(args[0])
    cdef tuple dims = <tuple>args[2]
    cdef PyObject* values[MAX_ARGS + 1]
    cdef object two = 2
    cdef object axes
    cdef int row, column
    if <object>args[1] != "fro" or x.nd < 2 or not _is_real(x.descr.type_num) or (
            PyTuple_GET_SIZE(dims) != 2 or args[4] != <PyObject*>None):
        return NotImplemented
    row, column = _dim(PyTuple_GET_ITEM(dims, 0), x.nd), _dim(PyTuple_GET_ITEM(dims, 1), x.nd)
    if row < 0 or column < 0 or row == column:
        return NotImplemented
    axes = (row, column)
    values[0], values[1], values[2] = args[0], <PyObject*>two, <PyObject*>axes
    values[3], values[4], values[5] = args[3], args[4], NULL
    return call(callee(op, 0), values)


quantile = calling(_quantile, ["sort", "gather", "lerp_"])
matrix_norm = calling(_matrix_norm, ["linalg_vector_norm"])
