"""Fast cases of composite views, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport Operator, call1, call2, call3, inference_mode_on, tls
from imode._core.dtype cimport BOOL, dtype_from_code
from imode._core.geometry cimport shape_of
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD, BIT_CPU, keyset_t
from imode._core.making cimport wrap
from imode._core.subscript_fast cimport slice_dim
from imode._core.tensor cimport Tensor, storage
from imode.kernels.fast_guards cimport _array, _integer, _item, _row_major
from imode.kernels.shapes.views cimport is_viewable, view_in_order
from imode.ops.composites_fast cimport callee, calling, unseen
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    long long PyLong_AsLongLong(PyObject*) except? -1
    object PyLong_FromSsize_t(Py_ssize_t)


cdef enum:
    FEW = 4096                    # most elements
    LONGEST = 8                   # most elements of a row; most dimensions that need no tuple


cdef inline int _set(tuple sizes, Py_ssize_t i, npy_intp n) except -1:
    """Put an int into a new tuple."""
    size = PyLong_FromSsize_t(n)
    Py_INCREF(size)                        # PyTuple_SET_ITEM takes over one reference
    PyTuple_SET_ITEM(sizes, i, size)
    return 0


cdef object _reshape_scattered(Operator op, Tensor self, tuple size):
    """reshape of what does not lie in row order: a view if there is one, else of a copy."""
    if self.keys & ~<keyset_t>(BIT_CPU | BIT_AD | BIT_AUTOGRAD):
        return NotImplemented
    if is_viewable(storage(self), size):
        return call2(callee(op, 1), self, size)
    return call2(callee(op, 2), call2(callee(op, 3), self, "contiguous_format"), size)


cdef object _reshape(Operator op, keyset_t keys, PyObject** args):
    cdef Py_ssize_t nd = PyTuple_GET_SIZE(<object>args[1]), i
    cdef npy_intp[LONGEST] shape
    cdef int64_t size
    if not cnp.PyArray_IS_C_CONTIGUOUS(storage(<Tensor>args[0])):
        return _reshape_scattered(op, <Tensor>args[0], <tuple>args[1])
    if nd <= LONGEST:
        for i in range(nd):
            if not _integer(PyTuple_GET_ITEM(<object>args[1], i), &size, FEW) or size < 0:
                break
            shape[i] = size
        else:
            view = view_in_order(callee(op, 0), <Tensor>args[0], <int>nd, shape)
            if view is not None:
                return view
    return call2(callee(op, 0), <object>args[0], <object>args[1])


cdef object _view_as(Operator op, keyset_t keys, PyObject** args):
    """view_as(self, other)."""
    cdef Fields* other = _array(args[1])
    view = view_in_order(callee(op, 0), <Tensor>args[0], other.nd, other.dimensions)
    if view is not None:
        return view
    return call2(callee(op, 0), <object>args[0], shape_of(<Tensor>args[1]))


cdef object _expand_as(Operator op, keyset_t keys, PyObject** args):
    return call2(callee(op, 0), <object>args[0], shape_of(<Tensor>args[1]))


cdef object _reshape_as(Operator op, keyset_t keys, PyObject** args):
    if not cnp.PyArray_IS_C_CONTIGUOUS(storage(<Tensor>args[0])):
        return NotImplemented
    return call2(callee(op, 0), <object>args[0], shape_of(<Tensor>args[1]))


cdef object _flatten(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long start = PyLong_AsLongLong(args[1])
    cdef long long end = PyLong_AsLongLong(args[2])
    cdef int nd = a.ndim
    cdef int i
    cdef npy_intp merged = 1
    cdef npy_intp[LONGEST] shape
    cdef tuple sizes
    start += nd if start < 0 else 0
    end += nd if end < 0 else 0
    if 0 <= start == end < nd:
        return <object>args[0]
    if not 0 <= start < end < nd:
        return NotImplemented
    for i in range(start, end + 1):
        merged *= a.shape[i]
    if nd <= LONGEST:
        for i in range(nd - (end - start)):
            shape[i] = (a.shape[i] if i < start else
                        merged if i == start else a.shape[i + (end - start)])
        view = view_in_order(callee(op, 0), <Tensor>args[0], nd - (end - start), shape)
        if view is not None:
            return view
    sizes = PyTuple_New(nd - (end - start))
    for i in range(nd):
        if not start <= i <= end:
            _set(sizes, i if i < start else i - (end - start), a.shape[i])
    _set(sizes, start, merged)
    return call2(callee(op, not cnp.PyArray_IS_C_CONTIGUOUS(a)), <object>args[0], sizes)


cdef object _unflatten(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long dim = PyLong_AsLongLong(args[1])
    cdef int nd = a.ndim
    cdef int i
    cdef npy_intp product = 1
    cdef Py_ssize_t more = PyTuple_GET_SIZE(<object>args[2])
    cdef long long n
    cdef tuple sizes
    dim += nd if dim < 0 else 0
    if not 0 <= dim < nd or more == 0:
        return NotImplemented
    for i in range(more):
        n = PyLong_AsLongLong(PyTuple_GET_ITEM(<object>args[2], i))
        if not 0 < n < 1 << 31:
            return NotImplemented
        product *= n
        if product > a.shape[dim]:
            return NotImplemented
    if product != a.shape[dim]:
        return NotImplemented
    sizes = PyTuple_New(nd - 1 + more)
    for i in range(nd):
        if i != dim:
            _set(sizes, i if i < dim else i - 1 + more, a.shape[i])
    for i in range(more):
        size = <object>PyTuple_GET_ITEM(<object>args[2], i)
        Py_INCREF(size)
        PyTuple_SET_ITEM(sizes, dim + i, size)
    return call2(callee(op, 0), <object>args[0], sizes)


cdef object _movedim(Operator op, keyset_t keys, PyObject** args):
    """movedim.int: one dimension moves."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long source = PyLong_AsLongLong(args[1])
    cdef long long target = PyLong_AsLongLong(args[2])
    cdef int nd = a.ndim
    cdef int i, from_
    cdef tuple order
    source += nd if source < 0 else 0
    target += nd if target < 0 else 0
    if not (0 <= source < nd and 0 <= target < nd):
        return NotImplemented
    order = PyTuple_New(nd)
    from_ = 0
    for i in range(nd):
        if i == target:
            _set(order, i, source)
            continue
        if from_ == source:
            from_ += 1
        _set(order, i, from_)
        from_ += 1
    return call2(callee(op, 0), <object>args[0], order)


cdef object _narrow(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long dim = PyLong_AsLongLong(args[1])
    cdef long long start = PyLong_AsLongLong(args[2])
    cdef long long length = PyLong_AsLongLong(args[3])
    dim += a.ndim if dim < 0 else 0
    if not 0 <= dim < a.ndim or start < 0 or length < 0 or start > a.shape[dim] or (
            length > a.shape[dim] - start):
        return NotImplemented
    return slice_dim(<Tensor>args[0], <object>args[1], start, start + length, 1)


cdef object _diff(Operator op, keyset_t keys, PyObject** args):
    """diff(self, n, dim, prepend, append), for an n of 1."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long dim = PyLong_AsLongLong(args[2])
    cdef npy_intp length
    dim += a.ndim if dim < 0 else 0
    if PyLong_AsLongLong(args[1]) != 1 or args[3] != <PyObject*>None or (
            args[4] != <PyObject*>None) or not 0 <= dim < a.ndim or a.shape[dim] == 0 or (
            cnp.PyArray_TYPE(a) == cnp.NPY_BOOL):
        return NotImplemented
    length = a.shape[dim]
    before = slice_dim(<Tensor>args[0], <object>args[2], 0, length - 1, 1)
    return call2(
        callee(op, 0), slice_dim(<Tensor>args[0], <object>args[2], 1, length, 1), before)


cdef object _prelu(Operator op, keyset_t keys, PyObject** args):
    """prelu(self, weight): a vector of a weight for each channel."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef ndarray weight = storage(<Tensor>args[1])
    if a.ndim < 2 or weight.ndim != 1 or weight.shape[0] != a.shape[1] or (
            cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(weight)) or (
            not cnp.PyArray_IS_C_CONTIGUOUS(weight)):
        return NotImplemented
    channels = call2(callee(op, 1), <object>args[1], (1, -1) + (1,) * (a.ndim - 2))
    return call2(callee(op, 0), <object>args[0], channels)


cdef object _chunk(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long chunks = PyLong_AsLongLong(args[1])
    cdef long long dim = PyLong_AsLongLong(args[2])
    cdef npy_intp length
    dim += a.ndim if dim < 0 else 0
    if chunks <= 0 or not 0 <= dim < a.ndim or a.shape[dim] == 0:
        return NotImplemented
    length = a.shape[dim]
    return call3(callee(op, 0), <object>args[0], (length + chunks - 1) // chunks, dim)


cdef object _part(Operator op, keyset_t keys, PyObject** args):
    """real and imag of a complex tensor."""
    cdef Tensor self = <Tensor>args[0]
    if not cnp.PyArray_ISCOMPLEX(storage(self)):
        return NotImplemented
    return call3(
        callee(op, 1), call1(callee(op, 0), self), storage(self).ndim,
        0 if op.name == "real" else 1)


cdef object _contiguous(Operator op, keyset_t keys, PyObject** args):
    if args[1] != <PyObject*>None:
        return NotImplemented
    if cnp.PyArray_IS_C_CONTIGUOUS(storage(<Tensor>args[0])):
        return <object>args[0]
    return call2(callee(op, 0), <object>args[0], "contiguous_format")


# ---- grids ----

cdef object _meshgrid(Operator op, keyset_t keys, PyObject** args):
    """meshgrid(tensors, indexing): vectors of one dtype, in their order."""
    cdef tuple tensors = <tuple>args[0]
    cdef Py_ssize_t count = PyTuple_GET_SIZE(tensors), i
    cdef tuple sizes = PyTuple_New(count)
    cdef Fields* a
    if count == 0 or args[1] != <PyObject*>None and <object>args[1] != "ij":
        return NotImplemented
    for i in range(count):
        a = _array(PyTuple_GET_ITEM(tensors, i))
        _set(sizes, i, a.dimensions[0] if a.nd == 1 else 1)
        if a.nd != 1 or a.descr.type_num != _array(
                PyTuple_GET_ITEM(tensors, 0)).descr.type_num:
            return NotImplemented
    grids = []
    for i in range(count):
        row = call2(callee(op, 0), tensors[i], (1,) * i + (-1,) + (1,) * (count - i - 1))
        grids.append(call2(callee(op, 1), row, sizes))
    return tuple(grids)


# ---- rows of elements of vectors: in inference mode at once, elsewhere by operators ----

cdef object _cartesian_of_grids(Operator op, tuple tensors):
    cdef Py_ssize_t k
    for k in range(PyTuple_GET_SIZE(tensors)):
        if _array(PyTuple_GET_ITEM(tensors, k)).nd != 1:
            return NotImplemented
    grids = call2(callee(op, 0), tensors, "ij")
    return call2(callee(op, 2), tuple([call1(callee(op, 1), grid) for grid in <tuple>grids]), 1)


cdef object _cartesian(Operator op, keyset_t keys, PyObject** args):
    """cartesian_prod(tensors): vectors of one dtype."""
    cdef tuple tensors = <tuple>args[0]
    cdef npy_intp count = PyTuple_GET_SIZE(tensors), item, rows, row, repeat, k
    cdef npy_intp[2] dims = [1, count]
    cdef keyset_t all_keys = 0
    cdef Fields* a = NULL
    cdef ndarray out
    cdef char* to
    if count < 2:
        return NotImplemented
    if not inference_mode_on(tls()):
        return _cartesian_of_grids(op, tensors)
    for k in range(count):
        a = _array(PyTuple_GET_ITEM(tensors, k))
        if a.nd != 1 or not _row_major(a) or a.dimensions[0] > FEW or (
                a.descr.type_num != _array(PyTuple_GET_ITEM(tensors, 0)).descr.type_num):
            return NotImplemented
        all_keys |= (<Tensor>PyTuple_GET_ITEM(tensors, k)).keys
        dims[0] *= a.dimensions[0]
        if not 0 < dims[0] * count <= FEW:
            return NotImplemented
    if not unseen(op, all_keys):
        return NotImplemented
    out, rows, repeat = empty(a.descr.type_num, 2, dims), dims[0], dims[0]
    to, item = <char*>cnp.PyArray_DATA(out), _item(PyTuple_GET_ITEM(tensors, 0))
    for k in range(count):            # column by column; each element `repeat` times in a row
        a = _array(PyTuple_GET_ITEM(tensors, k))
        repeat //= a.dimensions[0]
        for row in range(rows):
            memcpy(to + (row * count + k) * item,
                   a.data + row // repeat % a.dimensions[0] * item, item)
    return wrap(out)


cdef npy_intp _choices(npy_intp n, npy_intp r) noexcept:
    """How many ways there are to choose r of n, or -1 for more than FEW."""
    cdef npy_intp found = 1, i
    for i in range(r):
        found = found * (n - i) // (i + 1)
        if found > FEW:
            return -1
    return found


cdef object _combinations_of_grids(Operator op, Tensor self, object r, bint repeated):
    """By the operators; r is 1 or more."""
    cdef Py_ssize_t k
    if self.keys & ~<keyset_t>(BIT_CPU | BIT_AD | BIT_AUTOGRAD) or tls().devices != NULL:
        return NotImplemented
    at = call1(callee(op, 1), storage(self).shape[0])
    places = <tuple>call2(callee(op, 0), (at,) * r, "ij")
    mask = call2(callee(op, 7), places[0], dtype_from_code(BOOL))
    for k in range(PyTuple_GET_SIZE(places) - 1):
        mask = call2(callee(op, 4), mask, call2(
            callee(op, 3 if repeated else 2), places[k], places[k + 1]))
    grids = <tuple>call2(callee(op, 0), (self,) * r, "ij")
    return call2(
        callee(op, 6), tuple([call2(callee(op, 5), grid, mask) for grid in grids]), 1)


cdef object _combinations(Operator op, keyset_t keys, PyObject** args):
    """combinations(self, r, with_replacement) of few elements, which are some."""
    cdef Fields* a = _array(args[0])
    cdef npy_intp[LONGEST] at
    cdef npy_intp[2] dims
    cdef npy_intp n, k, item, step, _
    cdef int64_t r = 0
    cdef ndarray out
    cdef char* to
    if a.nd != 1 or not _integer(args[1], &r) or not 0 < r <= LONGEST:
        return NotImplemented
    if not inference_mode_on(tls()):
        return _combinations_of_grids(op, <Tensor>args[0], <object>args[1], <object>args[2] is True)
    if not _row_major(a) or not unseen(op, (<Tensor>args[0]).keys):
        return NotImplemented
    n, step = a.dimensions[0], 0 if <object>args[2] is True else 1
    dims[0] = _choices(n if step else n + r - 1, r) if 0 < n <= FEW else 0
    dims[1] = r
    if not 0 < dims[0] * r <= FEW:
        return NotImplemented
    out, item = empty(a.descr.type_num, 2, dims), _item(args[0])
    to = <char*>cnp.PyArray_DATA(out)
    for k in range(r):
        at[k] = k * step
    for _ in range(dims[0]):
        for k in range(r):
            memcpy(to, a.data + at[k] * item, item)
            to += item
        k = r - 1                     # the last place that can go on
        while k > 0 and at[k] == n - 1 - (r - 1 - k) * step:
            k -= 1
        at[k] += 1
        for k in range(k + 1, r):
            at[k] = at[k - 1] + step
    return wrap(out)


reshape = calling(_reshape, ["view", "_reshape_alias", "_unsafe_view", "clone"])
view_as = calling(_view_as, ["view"])
reshape_as = calling(_reshape_as, ["view"])
expand_as = calling(_expand_as, ["expand"])
flatten = calling(_flatten, ["view", "reshape"])
unflatten = calling(_unflatten, ["view"])
movedim = calling(_movedim, ["permute"])
narrow = calling(_narrow, [])
diff = calling(_diff, ["sub"])
prelu = calling(_prelu, ["_prelu_kernel", "view"])
chunk = calling(_chunk, ["split"])
part = calling(_part, ["view_as_real", "select"])
contiguous = calling(_contiguous, ["clone"])
meshgrid = calling(_meshgrid, ["view", "expand"])
cartesian_prod = calling(_cartesian, ["meshgrid", "flatten", "stack"])
combinations = calling(
    _combinations, ["meshgrid", "arange", "lt", "le", "logical_and", "masked_select", "stack",
                    "ones_like"])
