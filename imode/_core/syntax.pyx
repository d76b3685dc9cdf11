"""What Python's syntax on a tensor calls: the operators behind signs and brackets."""
from numpy import generic as _np_generic

cimport cython
from imode._core.dispatch cimport call1, call2, call3, operator
from imode._core.tensor cimport Tensor, requires_grad, storage
from numpy cimport ndarray, npy_intp

cdef extern from "Python.h":
    Py_ssize_t PyLong_AsSsize_t(object) except? -1
    int PySlice_Unpack(object, Py_ssize_t*, Py_ssize_t*, Py_ssize_t*) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t, Py_ssize_t*, Py_ssize_t*, Py_ssize_t) noexcept


@cython.final
cdef class Syntax:
    """The operators behind signs and brackets; not visible from Python."""


cdef Syntax syntax = Syntax()


def fill_slots(*, getitem, setitem, repr, constructor, iterate, contains, transposed,
               matrix_transposed):
    """Bind the arithmetic signs to their operators; called once the table is complete."""
    syntax.add, syntax.sub, syntax.rsub = operator("add"), operator("sub"), operator("rsub")
    syntax.mul, syntax.div = operator("mul"), operator("div")
    syntax.floor_divide, syntax.remainder = operator("floor_divide"), operator("remainder")
    syntax.pow, syntax.matmul = operator("pow"), operator("matmul")
    syntax.pow_scalar, syntax.pow_tensor = operator("pow.Scalar"), operator("pow.Tensor_Tensor")
    syntax.remainder_tensor = operator("remainder.Tensor")
    syntax.remainder_scalar = operator("remainder.Scalar_Tensor")
    syntax.neg, syntax.abs = operator("neg"), operator("abs")
    syntax.bitwise_not = operator("bitwise_not")
    syntax.bitwise_and, syntax.bitwise_or = operator("bitwise_and"), operator("bitwise_or")
    syntax.bitwise_xor = operator("bitwise_xor")
    syntax.lshift = operator("bitwise_left_shift")
    syntax.rshift = operator("bitwise_right_shift")
    syntax.eq, syntax.ne, syntax.lt = operator("eq"), operator("ne"), operator("lt")
    syntax.le, syntax.gt, syntax.ge = operator("le"), operator("gt"), operator("ge")
    syntax.reciprocal = operator("reciprocal")
    syntax.select, syntax.slice = operator("select"), operator("_slice")
    syntax.getitem, syntax.setitem = getitem, setitem
    syntax.repr, syntax.constructor = repr, constructor
    syntax.iterate, syntax.contains = iterate, contains
    syntax.permute, syntax.transpose = operator("permute"), operator("transpose")
    syntax.copy_, syntax.fill_scalar = operator("copy_"), operator("fill_.Scalar")
    syntax.transposed, syntax.matrix_transposed = transposed, matrix_transposed


cdef object to_operand(object value):
    """A Tensor or a Python number from what stands beside an arithmetic sign; None if neither."""
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, _np_generic):
        value = value.item()
        if is_number(value):
            return value
    return None


cdef object equals_array(Tensor self, object other):
    """self == other for an ndarray that a tensor can hold; NotImplemented for anything else."""
    if not isinstance(other, ndarray):
        return NotImplemented
    try:
        other = call1(operator("from_numpy"), other)
    except (TypeError, ValueError):
        return NotImplemented
    return call2(syntax.eq, self, other)


# ---- brackets: basic indices without a detour; None: `getitem` has the rule or the message ----

cdef object get_item(Tensor self, object index):
    cdef object view
    if type(index) is int:
        view = _select(self, index)
    elif type(index) is tuple:
        view = _select_each(self, <tuple>index)
    elif type(index) is slice:
        view = _take_slice(self, index)
    else:
        view = None
    return syntax.getitem(self, index) if view is None else view


cdef int set_item(Tensor self, object index, object value) except -1:
    if not _write_plain(self, index, value):
        syntax.setitem(self, index, value)
    return 0


cdef object _select(Tensor self, object index):
    cdef npy_intp i
    cdef npy_intp size
    if storage(self).ndim == 0:
        return None
    size = storage(self).shape[0]
    i = PyLong_AsSsize_t(index) if -size <= index < size else size
    return None if i == size else call3(syntax.select, self, 0, index)


cdef object _select_each(Tensor self, tuple index):
    """x[i, j, ...]: one select after the other."""
    cdef Tensor view = self
    cdef Py_ssize_t n = len(index)
    cdef Py_ssize_t d
    if n == 0 or n > storage(self).ndim:
        return None
    for d in range(n):
        if type(index[d]) is not int or not (
                -storage(self).shape[d] <= index[d] < storage(self).shape[d]):
            return None
    for d in range(n):
        view = call3(syntax.select, view, 0, index[d])
    return view


cdef object _take_slice(Tensor self, object index):
    cdef Py_ssize_t start, stop, step
    if storage(self).ndim == 0 or not (
            _plain(index.start) and _plain(index.stop) and _plain(index.step)):
        return None
    PySlice_Unpack(index, &start, &stop, &step)
    if step < 1:
        return None
    PySlice_AdjustIndices(storage(self).shape[0], &start, &stop, step)
    return syntax.slice(self, 0, start, stop, step)


cdef bint _write_plain(Tensor self, object index, object value) except -1:
    """Write a number, or a tensor of the very shape, to a basic index; False: not that case."""
    cdef Tensor view
    cdef object found = None
    cdef ndarray array
    cdef int d
    if type(index) is int:
        found = _select(self, index)
    elif type(index) is tuple:
        found = _select_each(self, <tuple>index)
    elif type(index) is slice:
        found = _take_slice(self, index)
    if found is None:
        return False
    view = <Tensor>found
    array = storage(view)
    if type(index) is slice and array.shape[0] == storage(self).shape[0]:
        return False                  # x[:] = v writes to x itself
    if type(value) is Tensor:
        if array.ndim != storage(<Tensor>value).ndim:
            return False
        for d in range(array.ndim):
            if array.shape[d] != storage(<Tensor>value).shape[d]:
                return False
        call2(syntax.copy_, view, value)
        return True
    if type(value) is not float and not (type(value) is int and -(1 << 31) < value < 1 << 31):
        return False
    if requires_grad(view):
        return False                  # recorded as PyTorch does: the number as a tensor
    for d in range(array.ndim):
        if array.strides[d] == 0:
            return False
    call2(syntax.fill_scalar, view, value)
    return True


cdef inline bint _plain(object bound):
    return bound is None or type(bound) is int
