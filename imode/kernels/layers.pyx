"""The plain cases of composite operators of networks, compiled: losses, norms, convolutions, pools.

As in `shortcuts`: each serves the arguments that need no rule and no message by calling the same
operators that the function would; for anything else it gives NotImplemented, and the function runs.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport (
    MAX_ARGS, CKernel, Operator, call, call1, call2, call3, inference_mode_on, operator, tls)
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, requires_grad
from imode.kernels.plain cimport (
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, _array, _count, _dim, _indices, _same_shape)
from libc.stdint cimport int64_t
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef object _none = 0             # PyTorch's numbers of the reductions
cdef object _mean = 1
cdef object _sum = 2


cdef class _Callee:
    # The operator that a shortcut calls, found when first needed. Owned by its CKernel.
    cdef str name
    cdef int given                # how many of the composite's arguments it takes, from the first
    cdef bint first               # its first result counts
    cdef Operator op


cdef inline Operator _callee(Operator op):
    cdef _Callee callee = <_Callee>op.shortcut.config
    if callee.op is None:
        callee.op = operator(callee.name)
    return callee.op


cdef PyObject* _reduction(PyObject** args, int average, int reduce, int reduction):
    """The number of a reduction by name; NULL where the older arguments are given."""
    cdef object name = <object>args[reduction]
    if average >= 0 and (args[average] != <PyObject*>None or args[reduce] != <PyObject*>None):
        return NULL
    if name == "mean":
        return <PyObject*>_mean
    if name == "sum":
        return <PyObject*>_sum
    return <PyObject*>_none if name == "none" else NULL


cdef bint _alike(PyObject* a, PyObject* b) noexcept:
    cdef Fields* x = _array(a)
    cdef Fields* y = _array(b)
    return x.nd == y.nd and _same_shape(x, y, 0, x.nd)


# ---- losses ----

cdef object _of_pairs(Operator op, keyset_t keys, PyObject** args):
    """mse_loss(input, target, size_average, reduce, reduction, weight)."""
    cdef PyObject* number = _reduction(args, 2, 3, 4)
    if number == NULL or args[5] != <PyObject*>None or not _alike(args[0], args[1]):
        return NotImplemented
    return call3(_callee(op), <object>args[0], <object>args[1], <object>number)


cdef Operator _sub = None
cdef Operator _abs = None
cdef Operator _mean_of = None
cdef Operator _sum_of = None


cdef object _absolute(Operator op, keyset_t keys, PyObject** args):
    """l1_loss(input, target, size_average, reduce, reduction, weight)."""
    global _sub, _abs, _mean_of, _sum_of
    cdef PyObject* number = _reduction(args, 2, 3, 4)
    if number == NULL or args[5] != <PyObject*>None or not _alike(args[0], args[1]):
        return NotImplemented
    if _sub is None:
        _sub, _abs = operator("sub"), operator("abs")
        _mean_of, _sum_of = operator("mean"), operator("sum")
    losses = call1(_abs, call2(_sub, <object>args[0], <object>args[1]))
    if number == <PyObject*>_none:
        return losses
    return call1(_mean_of if number == <PyObject*>_mean else _sum_of, losses)


cdef object _entropy(Operator op, keyset_t keys, PyObject** args):
    """binary_cross_entropy(input, target, weight, size_average, reduce, reduction)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef PyObject* number = _reduction(args, 3, 4, 5)
    if number == NULL or args[2] != <PyObject*>None or not _alike(args[0], args[1]):
        return NotImplemented
    values[0], values[1], values[2], values[3] = args[0], args[1], args[2], number
    values[4] = NULL
    return call(_callee(op), values)


cdef object _entropy_of_logits(Operator op, keyset_t keys, PyObject** args):
    """binary_cross_entropy_with_logits(input, target, weight, ..., reduction, pos_weight)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef PyObject* number = _reduction(args, 3, 4, 5)
    if number == NULL or args[2] != <PyObject*>None or args[6] != <PyObject*>None or (
            not _alike(args[0], args[1])):
        return NotImplemented
    values[0], values[1], values[2], values[3] = args[0], args[1], args[2], args[6]
    values[4], values[5] = number, NULL
    return call(_callee(op), values)


cdef object _classes(Operator op, PyObject* logs, PyObject** args, PyObject* number):
    """nll_loss of (classes) or (n, classes) by the private operator."""
    cdef PyObject* values[MAX_ARGS + 1]
    values[0], values[1], values[2], values[3], values[4] = logs, args[1], args[2], number, args[4]
    values[5] = NULL
    return (<tuple>call(_callee(op), values))[0]


cdef inline bint _weighted_with_grad(PyObject** args):
    """Whether the weights of the classes require grad, which the operator itself refuses."""
    return args[2] != <PyObject*>None and requires_grad(<Tensor>args[2])


cdef object _nll(Operator op, keyset_t keys, PyObject** args):
    """nll_loss(input, target, weight, size_average, ignore_index, reduce, reduction)."""
    cdef PyObject* number = _reduction(args, 3, 5, 6)
    if number == NULL or not 1 <= _array(args[0]).nd <= 2 or _weighted_with_grad(args):
        return NotImplemented
    return _classes(op, args[0], args, number)


cdef Operator _log_softmax = None


cdef object _cross_entropy(Operator op, keyset_t keys, PyObject** args):
    """cross_entropy(input, ..., reduction, label_smoothing) of class numbers."""
    global _log_softmax
    cdef PyObject* number = _reduction(args, 3, 5, 6)
    cdef Fields* x = _array(args[0])
    cdef object logs
    if number == NULL or not 1 <= x.nd <= 2 or _array(args[1]).nd != x.nd - 1 or (
            not PyFloat_CheckExact(args[7]) or PyFloat_AS_DOUBLE(args[7]) > 0) or (
            _weighted_with_grad(args)):
        return NotImplemented
    if _log_softmax is None:
        _log_softmax = operator("log_softmax")
    logs = call2(_log_softmax, <object>args[0], x.nd - 1)
    return _classes(op, <PyObject*>logs, args, number)


# ---- layers ----

cdef object _passed_on(Operator op, keyset_t keys, PyObject** args):
    """Call an operator with the composite's first arguments."""
    cdef _Callee callee = <_Callee>op.shortcut.config
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int i
    cdef object result
    for i in range(callee.given):
        values[i] = args[i]
    values[callee.given] = NULL
    result = call(_callee(op), values)
    return (<tuple>result)[0] if callee.first else result


cdef object _max_pool(Operator op, keyset_t keys, PyObject** args):
    """max_pool2d(self, ..., return_indices)."""
    return NotImplemented if <object>args[6] is not False else _passed_on(op, keys, args)


cdef object _batch_norm(Operator op, keyset_t keys, PyObject** args):
    """batch_norm(input, ..., running_mean, running_var, ...) of real numbers in channels."""
    cdef Fields* x = _array(args[0])
    cdef int i
    if x.nd < 2 or _count(x, 0, x.nd) == 0 or not cnp.PyTypeNum_ISFLOAT(x.descr.type_num):
        return NotImplemented
    for i in range(3, 5):                  # not differentiable by them
        if args[i] != <PyObject*>None and requires_grad(<Tensor>args[i]):
            return NotImplemented
    return _passed_on(op, keys, args)


cdef object _convolution(Operator op, keyset_t keys, PyObject** args):
    """conv1d, conv2d(input, weight, bias, stride, padding, dilation, groups) of a real batch."""
    cdef int n = 1 if op.name == "conv1d" else 2
    cdef PyObject* bias = args[2]
    if _array(args[0]).nd != n + 2 or (
            cnp.PyTypeNum_ISCOMPLEX(_array(args[0]).descr.type_num)) or (
            bias != <PyObject*>None and
            _array(bias).descr.type_num != _array(args[0]).descr.type_num):
        return NotImplemented
    return _passed_on(op, keys, args)


# ---- others ----

cdef object _argsort(Operator op, keyset_t keys, PyObject** args):
    """argsort(self, dim, descending)."""
    return (<tuple>call3(_callee(op), <object>args[0], <object>args[1], <object>args[2]))[1]


cdef Operator _expand = None


cdef object _take_along(Operator op, keyset_t keys, PyObject** args):
    """take_along_dim(self, indices, dim) where nothing is broadcast."""
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[1])
    cdef int dim, d
    global _expand
    if args[2] == <PyObject*>None or a.nd == 0 or at.nd != a.nd or not _indices(at):
        return NotImplemented
    dim = _dim(args[2], a.nd)
    if dim < 0 or a.dimensions[dim] == 0:
        return NotImplemented
    for d in range(a.nd):
        if d != dim and a.dimensions[d] != at.dimensions[d]:
            return NotImplemented
    source = <object>args[0]
    if requires_grad(<Tensor>source):
        # Recorded, the expansion shows in the graph.
        if _expand is None:
            _expand = operator("expand")
        source = call2(_expand, source, tuple([a.dimensions[d] for d in range(a.nd)]))
    return call3(_callee(op), source, dim, _counted(at, a.dimensions[dim]))


cdef Tensor _counted(Fields* at, npy_intp length):
    """Indices counted modulo the length, as tensors of their own."""
    cdef ndarray made = empty(cnp.NPY_INT64, at.nd, at.dimensions)
    cdef int64_t* to = <int64_t*>cnp.PyArray_DATA(made)
    cdef int64_t index
    cdef npy_intp i
    for i in range(cnp.PyArray_SIZE(made)):
        index = (<int64_t*>at.data)[i] % length
        to[i] = index + length if index < 0 else index
    return wrap(made)


cdef Operator _view = None


cdef object _outer(Operator op, keyset_t keys, PyObject** args):
    """outer(self, vec2)."""
    global _view
    cdef Fields* a = _array(args[0])
    if a.nd != 1 or _array(args[1]).nd != 1 or not a.flags & cnp.NPY_ARRAY_C_CONTIGUOUS:
        return NotImplemented
    if _view is None:
        _view = operator("view")
    column = call2(_view, <object>args[0], (a.dimensions[0], 1))
    return call2(_callee(op), column, <object>args[1])


cdef object _einsum(Operator op, keyset_t keys, PyObject** args):
    """einsum(equation, operands): the product of two matrices as they stand, in inference mode.

    Elsewhere the result is a view, of operators that the graph shows.
    """
    cdef tuple operands = <tuple>args[1]
    cdef str equation = <str>args[0]
    if PyTuple_GET_SIZE(operands) != 2 or len(equation) != 9 or not inference_mode_on(tls()):
        return NotImplemented
    # The letters of "ij,jk->ik".
    i, j, k = equation[0], equation[1], equation[4]
    if not (i.isalpha() and j.isalpha() and k.isalpha() and equation.isascii()) or (
            i == j or j == k or i == k) or equation != f"{i}{j},{j}{k}->{i}{k}":
        return NotImplemented
    if _array(PyTuple_GET_ITEM(operands, 0)).nd != 2 or (
            _array(PyTuple_GET_ITEM(operands, 1)).nd != 2) or (
                _array(PyTuple_GET_ITEM(operands, 0)).dimensions[1]
                != _array(PyTuple_GET_ITEM(operands, 1)).dimensions[0]):
        return NotImplemented
    return call2(_callee(op), operands[0], operands[1])


cdef CKernel _new(object (*fn)(Operator, keyset_t, PyObject**), str name, int given=0,
                  bint first=False):
    cdef _Callee callee = _Callee()
    callee.name, callee.given, callee.first = name, given, first
    return CKernel.new(fn, callee, "imode.kernels.layers", False)


mse_loss = _new(_of_pairs, "_mse_loss")
l1_loss = _new(_absolute, "abs")
binary_cross_entropy = _new(_entropy, "_binary_cross_entropy")
binary_cross_entropy_with_logits = _new(_entropy_of_logits, "_binary_cross_entropy_with_logits")
nll_loss = _new(_nll, "_nll_loss")
cross_entropy = _new(_cross_entropy, "_nll_loss")
batch_norm = _new(_batch_norm, "_native_batch_norm", 8, True)
layer_norm = _new(_passed_on, "_native_layer_norm", 5, True)
max_pool2d = _new(_max_pool, "max_pool2d_with_indices", 6, True)
convolution = _new(_convolution, "_convolution", 7)
argsort = _new(_argsort, "sort")
take_along_dim = _new(_take_along, "gather")
outer = _new(_outer, "mul")
einsum = _new(_einsum, "mm")
