"""The fast case of `tensor[index]` and `tensor[index] = value`.

    x[i]        get_item: a basic index (int, slice, None, a tuple of them) calls select, slice
                etc., one view after the other; a tensor, or a list of ints, calls `_index`, and
                so do tensors of positions in a tuple, on the view that is left.
    x[i] = v    set_item: for a basic index, the same view is taken, then `copy_` writes a tensor of
                exactly its shape, or `fill_` a number; at tensors `index_put_` is called.

Everything else, and every error, is left to the general case: `getitem` and `setitem` in
`imode/ops/indexing/subscript.py`.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport empty
from imode._core.dispatch cimport call, call1, call2, call3, inplace_target
from imode._core.dtype cimport BFLOAT16, FLOAT16, code_of
from imode._core.making cimport wrap
from imode._core.signs cimport Sign, sign, syntax
from imode._core.tensor cimport Tensor, requires_grad, storage
from imode._core.version cimport VersionCounter, current, is_saved, rename_writer
from libc.stdint cimport uint64_t
from numpy cimport ndarray, npy_intp

from imode._core.provenance import ASSIGNMENT, operator_id

cnp.import_array()

cdef extern from "Python.h":
    PyObject* Py_False
    Py_ssize_t PyLong_AsSsize_t(object) except? -1
    int PyLong_CheckExact(PyObject*) noexcept
    ctypedef struct SliceFields "PySliceObject":
        PyObject* start
        PyObject* stop
        PyObject* step
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1
    int PySlice_Unpack(object, Py_ssize_t*, Py_ssize_t*, Py_ssize_t*) except -1


cdef inline SliceFields* slice_fields(object index) noexcept:
    return <SliceFields*><PyObject*>index


cdef object get_item(Tensor self, object index):
    cdef object found
    cdef list at = None
    cdef list dims = None
    if type(index) is Tensor or type(index) is list:
        found = _index_tensor(self, index)
        if found is not None:
            return call2(sign(Sign.INDEX), self, (found,))
        return syntax.getitem(self, index)
    if type(index) is tuple and _has_tensors(<tuple>index):
        at, dims = [], []
    found = _apply(self, index, at, dims)
    if found is None:
        return syntax.getitem(self, index)
    if at:
        return call3(sign(Sign.INDEX), found, tuple(at), tuple(dims))
    return call1(sign(Sign.ALIAS), self) if found is self else found


cdef object _apply(Tensor self, object index, list at, list dims):
    """The view for the basic indices, or `self` itself; None for another index. Tensors of
    positions in a tuple are added to `at`, their dimensions to `dims`; None: there are none."""
    if type(index) is int:
        return _select(self, index)
    if type(index) is slice:
        return _take_slice(self, index)
    if type(index) is tuple:
        return _take_each(self, <tuple>index, at, dims)
    return None


cdef inline bint _has_tensors(tuple index) noexcept:
    for item in index:
        if type(item) is Tensor:
            return True
    return False


cdef inline bint _is_positions(object item) noexcept:
    return type(item) is Tensor and storage(<Tensor>item).ndim and (
        cnp.PyArray_TYPE(storage(<Tensor>item)) == cnp.NPY_INT64)


cdef int _assignment = operator_id(ASSIGNMENT)


cdef int set_item(Tensor self, object index, object value) except -1:
    cdef VersionCounter counter = self.version
    cdef uint64_t before
    if counter is None or not is_saved(counter):
        return _write(self, index, value)
    before = current(counter)
    _write(self, index, value)
    if current(counter) != before:
        rename_writer(counter, _assignment)      # messages name it as the user wrote it
    return 0


cdef int _write(Tensor self, object index, object value) except -1:
    try:
        if not _write_fast(self, index, value):
            syntax.setitem(self, index, value)
    except Exception:
        syntax.check_value(self, value)          # an error in the value is reported first
        raise
    return 0


cdef Tensor _index_tensor(Tensor self, object index):
    """The index as a tensor of positions, or of flags with no more dimensions than `self`; also
    from a list of ints. None for another index."""
    cdef ndarray at
    cdef npy_intp n, i
    cdef int overflow
    if storage(self).ndim == 0:
        return None
    if type(index) is Tensor:
        at = storage(<Tensor>index)
        if 0 < at.ndim <= storage(self).ndim and (
                cnp.PyArray_TYPE(at) == cnp.NPY_INT64 or cnp.PyArray_TYPE(at) == cnp.NPY_BOOL):
            return <Tensor>index
        return None
    n = len(<list>index)
    if n == 0:
        return None
    at = empty(cnp.NPY_INT64, 1, &n)
    for i in range(n):
        item = (<list>index)[i]
        if type(item) is not int:
            return None
        (<cnp.int64_t*>cnp.PyArray_DATA(at))[i] = PyLong_AsLongLongAndOverflow(item, &overflow)
        if overflow:
            return None
    return wrap(at)


cdef Tensor _number_tensor(Tensor self, object value):
    """A number as a 0-dim tensor of the tensor's dtype; None: that needs a rule."""
    cdef int kind = cnp.PyArray_TYPE(storage(self))
    cdef ndarray made
    if type(value) is float:
        if not (kind == cnp.NPY_DOUBLE or kind == cnp.NPY_FLOAT and -1e37 < <double>value < 1e37):
            return None
    elif type(value) is not int or not -(1 << 24) < value < 1 << 24 or not (
            kind == cnp.NPY_INT64 or kind == cnp.NPY_DOUBLE or kind == cnp.NPY_FLOAT):
        return None
    made = empty(kind, 0, NULL)
    if kind == cnp.NPY_FLOAT:
        (<float*>cnp.PyArray_DATA(made))[0] = value
    elif kind == cnp.NPY_DOUBLE:
        (<double*>cnp.PyArray_DATA(made))[0] = value
    else:
        (<cnp.int64_t*>cnp.PyArray_DATA(made))[0] = value
    return wrap(made)


cdef object _select(Tensor self, object index):
    cdef npy_intp i
    cdef npy_intp size
    if storage(self).ndim == 0:
        return None
    size = storage(self).shape[0]
    i = PyLong_AsSsize_t(index) if -size <= index < size else size
    return None if i == size else call3(sign(Sign.SELECT), self, 0, index)


cdef object _take_each(Tensor self, tuple index, list at, list dims):
    """x[i, a:b, None, ..., at]: one view after the other, after a check that each index fits."""
    cdef Tensor view = self
    cdef Py_ssize_t n = len(index)
    cdef Py_ssize_t k
    cdef Py_ssize_t start, stop, step
    cdef int nd = storage(self).ndim
    cdef int skipped = nd             # dimensions that an Ellipsis stands for
    cdef int ellipses = 0
    cdef int dim = 0
    for k in range(n):
        item = index[k]
        if type(item) is int or type(item) is slice or _is_positions(item):
            skipped -= 1
        elif item is Ellipsis:
            ellipses += 1
        elif item is not None:
            return None
    if skipped < 0 or ellipses > 1 or n == 0:
        return None
    for k in range(n):
        item = index[k]
        if item is Ellipsis:
            dim += skipped
        elif type(item) is int:
            if not -storage(self).shape[dim] <= item < storage(self).shape[dim]:
                return None
            dim += 1
        elif type(item) is slice:
            if not _bounds(item, &start, &stop, &step):
                return None
            dim += 1
        elif item is not None:
            dim += 1
    dim = 0
    for k in range(n):
        item = index[k]
        if item is Ellipsis:
            dim += skipped
        elif type(item) is int:
            view = call3(sign(Sign.SELECT), view, dim, item)
        elif item is None:
            view = call2(sign(Sign.UNSQUEEZE), view, dim)
            dim += 1
        elif type(item) is Tensor:
            at.append(item)
            dims.append(dim)
            dim += 1
        else:
            # A slice that spells out everything makes no view.
            _bounds(item, &start, &stop, &step)
            if not (step == 1 and _is_all(item, storage(view).shape[dim])):
                view = slice_dim(view, dim, start, stop, step)
            dim += 1
    return view


cdef object _take_slice(Tensor self, object index):
    cdef Py_ssize_t start, stop, step
    if storage(self).ndim == 0 or not _bounds(index, &start, &stop, &step):
        return None
    return slice_dim(self, 0, start, stop, step)


cdef bint _bounds(object index, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) except -1:
    """The numbers of a slice, as its node will show them; False if they are not all ints or None,
    or the step is negative."""
    if not (_int_or_none(slice_fields(index).start) and _int_or_none(slice_fields(index).stop)
            and _int_or_none(slice_fields(index).step)):
        return False
    PySlice_Unpack(index, start, stop, step)
    return step[0] > 0


cdef bint _is_all(slice index, Py_ssize_t length) except -1:
    """Whether a slice with a step of 1 spells out everything."""
    return (index.start is None or index.start == 0) and (
        index.stop is None or index.stop >= length)


cdef object slice_dim(Tensor self, object dim, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t step):
    cdef PyObject* args[6]
    cdef object first = start
    cdef object last = stop
    cdef object by = step
    args[0] = <PyObject*>self
    args[1] = <PyObject*>dim
    args[2] = <PyObject*>first
    args[3] = <PyObject*>last
    args[4] = <PyObject*>by
    args[5] = NULL
    return call(sign(Sign.SLICE), args)


cdef bint _put(Tensor self, tuple indices, object dims, object value) except -1:
    """Write at index tensors; False if the value needs a rule of the general case."""
    cdef PyObject* args[6]
    cdef ndarray array
    if type(value) is not Tensor:
        value = _number_tensor(self, value)
        if value is None:
            return False
    else:                             # the general case drops a first dimension of 1
        array = storage(<Tensor>value)
        if array.ndim and array.shape[0] == 1:
            return False
    args[0] = <PyObject*>self
    args[1] = <PyObject*>indices
    args[2] = <PyObject*>value
    args[3] = Py_False                # accumulate
    args[4] = <PyObject*>dims
    args[5] = inplace_target(sign(Sign.INDEX_PUT), args)
    call(sign(Sign.INDEX_PUT), args)
    return True


cdef bint _write_fast(Tensor self, object index, object value) except -1:
    """Write a number, or a tensor of exactly the view's shape; False if it is another case."""
    cdef Tensor view
    cdef object found
    cdef ndarray array
    cdef list at = None
    cdef list dims = None
    cdef int d
    if type(index) is slice:
        index = (index,)              # x[:] = v writes to x itself
    elif type(index) is Tensor:
        return _index_tensor(self, index) is not None and _put(self, (index,), None, value)
    if type(index) is tuple and _has_tensors(<tuple>index):
        at, dims = [], []
    found = _apply(self, index, at, dims)
    if found is None:
        return False
    view = <Tensor>found
    if at:
        return _put(view, tuple(at), tuple(dims), value)
    array = storage(view)
    if type(value) is Tensor:
        if array.ndim != storage(<Tensor>value).ndim:
            return False
        for d in range(array.ndim):
            if array.shape[d] != storage(<Tensor>value).shape[d]:
                return False
        call2(sign(Sign.COPY), view, value)
        return True
    if type(value) is not float and not (type(value) is int and -(1 << 31) < value < 1 << 31):
        return False
    if requires_grad(view) or code_of[cnp.PyArray_TYPE(array)] in (BFLOAT16, FLOAT16):
        return False                  # PyTorch records and rounds the number as a tensor
    for d in range(array.ndim):
        if array.strides[d] == 0:
            return False
    call2(sign(Sign.FILL_SCALAR), view, value)
    return True


cdef inline bint _int_or_none(PyObject* bound) noexcept:
    return bound == <PyObject*>None or PyLong_CheckExact(bound)
