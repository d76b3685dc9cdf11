"""Fast cases of composite layers and losses, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.list cimport PyList_GET_ITEM
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact, PyUnicode_READ_CHAR
from imode._core.allocator cimport Fields
from imode._core.dispatch cimport MAX_ARGS, Operator, call, call1, call2, call3
from imode._core.keyset cimport keyset_t
from imode._core.tensor cimport Tensor, requires_grad
from imode.kernels.fast_guards cimport (
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyLong_CheckExact, _array, _count, _same_shape)
from imode.ops.composites_fast cimport callee, calling, pass_on

cnp.import_array()

cdef object _none = 0             # PyTorch's numbers of the reductions
cdef object _mean = 1
cdef object _sum = 2


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
    return call3(callee(op, 0), <object>args[0], <object>args[1], <object>number)


cdef object _absolute(Operator op, keyset_t keys, PyObject** args):
    """l1_loss(input, target, size_average, reduce, reduction, weight)."""
    cdef PyObject* number = _reduction(args, 2, 3, 4)
    if number == NULL or args[5] != <PyObject*>None or not _alike(args[0], args[1]):
        return NotImplemented
    losses = call1(callee(op, 1), call2(callee(op, 0), <object>args[0], <object>args[1]))
    if number == <PyObject*>_none:
        return losses
    return call1(callee(op, 2 if number == <PyObject*>_mean else 3), losses)


cdef object _entropy(Operator op, keyset_t keys, PyObject** args):
    """binary_cross_entropy(input, target, weight, size_average, reduce, reduction)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef PyObject* number = _reduction(args, 3, 4, 5)
    if number == NULL or args[2] != <PyObject*>None or not _alike(args[0], args[1]):
        return NotImplemented
    values[0], values[1], values[2], values[3] = args[0], args[1], args[2], number
    values[4] = NULL
    return call(callee(op, 0), values)


cdef object _entropy_of_logits(Operator op, keyset_t keys, PyObject** args):
    """binary_cross_entropy_with_logits(input, target, weight, ..., reduction, pos_weight)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef PyObject* number = _reduction(args, 3, 4, 5)
    if number == NULL or args[2] != <PyObject*>None or args[6] != <PyObject*>None or (
            not _alike(args[0], args[1])):
        return NotImplemented
    values[0], values[1], values[2], values[3] = args[0], args[1], args[2], args[6]
    values[4], values[5] = number, NULL
    return call(callee(op, 0), values)


cdef object _classes(Operator op, PyObject* logs, PyObject** args, PyObject* number):
    """nll_loss of (classes) or (n, classes) by the private operator."""
    cdef PyObject* values[MAX_ARGS + 1]
    values[0], values[1], values[2], values[3], values[4] = logs, args[1], args[2], number, args[4]
    values[5] = NULL
    return (<tuple>call(callee(op, 0), values))[0]


cdef inline bint _weighted_with_grad(PyObject** args):
    """Whether the weights of the classes require grad, which the operator itself refuses."""
    return args[2] != <PyObject*>None and requires_grad(<Tensor>args[2])


cdef object _nll(Operator op, keyset_t keys, PyObject** args):
    """nll_loss(input, target, weight, size_average, ignore_index, reduce, reduction)."""
    cdef PyObject* number = _reduction(args, 3, 5, 6)
    if number == NULL or not 1 <= _array(args[0]).nd <= 2 or _weighted_with_grad(args):
        return NotImplemented
    return _classes(op, args[0], args, number)


cdef object _cross_entropy(Operator op, keyset_t keys, PyObject** args):
    """cross_entropy(input, ..., reduction, label_smoothing) of class numbers."""
    cdef PyObject* number = _reduction(args, 3, 5, 6)
    cdef Fields* x = _array(args[0])
    cdef object logs
    if number == NULL or not 1 <= x.nd <= 2 or _array(args[1]).nd != x.nd - 1 or (
            not PyFloat_CheckExact(args[7]) or PyFloat_AS_DOUBLE(args[7]) > 0) or (
            _weighted_with_grad(args)):
        return NotImplemented
    logs = call2(callee(op, 1), <object>args[0], x.nd - 1)
    return _classes(op, <PyObject*>logs, args, number)


# ---- layers ----

cdef object _max_pool(Operator op, keyset_t keys, PyObject** args):
    """max_pool2d, max_pool3d(self, ..., return_indices)."""
    return NotImplemented if <object>args[6] is not False else pass_on(op, keys, args)


cdef object _batch_norm(Operator op, keyset_t keys, PyObject** args):
    """batch_norm(input, ..., running_mean, running_var, ...) of real numbers in channels."""
    cdef Fields* x = _array(args[0])
    cdef int i
    if x.nd < 2 or _count(x, 0, x.nd) == 0 or not cnp.PyTypeNum_ISFLOAT(x.descr.type_num):
        return NotImplemented
    for i in range(3, 5):                  # not differentiable by them
        if args[i] != <PyObject*>None and requires_grad(<Tensor>args[i]):
            return NotImplemented
    return pass_on(op, keys, args)


cdef dict _sampled = {"bilinear": 0, "nearest": 1, "bicubic": 2}
cdef dict _outside = {"zeros": 0, "border": 1, "reflection": 2}


cdef object _grid_sample(Operator op, keyset_t keys, PyObject** args):
    """grid_sample(input, grid, mode, padding_mode, align_corners)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int nd = _array(args[0]).nd
    if not PyUnicode_CheckExact(<object>args[2]) or not PyUnicode_CheckExact(<object>args[3]):
        return NotImplemented
    values[0], values[1] = args[0], args[1]
    values[2] = PyDict_GetItem(_sampled, <object>args[2])
    values[3] = PyDict_GetItem(_outside, <object>args[3])
    values[4], values[5] = args[4], NULL
    if values[2] == NULL or values[3] == NULL or not 4 <= nd <= 5 or (
            <object>args[4] is not True and <object>args[4] is not False):
        return NotImplemented
    return call(callee(op, nd - 4), values)


cdef object _affine_grid(Operator op, keyset_t keys, PyObject** args):
    """affine_grid(theta, size, align_corners)."""
    cdef int i, n
    if not PyTuple_CheckExact(<object>args[1]) or (
            <object>args[2] is not True and <object>args[2] is not False):
        return NotImplemented
    size = <tuple><object>args[1]
    n = <int>len(size)
    if not 4 <= n <= 5 or _array(args[0]).nd != 3 or (
            not cnp.PyTypeNum_ISFLOAT(_array(args[0]).descr.type_num)
            or _array(args[0]).dimensions[1] != n - 2
            or _array(args[0]).dimensions[2] != n - 1):
        return NotImplemented
    for i in range(n):
        if not PyLong_CheckExact(<PyObject*>size[i]) or not 1 < size[i] < 1 << 20:
            if i > 1 or size[i] != 1:
                return NotImplemented
    return call(callee(op, 0), args)


cdef object _yes = True
cdef object _no = False
cdef list _unused = [None, (0,), (0, 0), (0, 0, 0)]      # output_padding where nothing grows


cdef bint _plain_batch(Operator op, PyObject** args, int n) noexcept:
    """Whether a convolution over n dimensions is of a batch of real numbers, the bias alike."""
    cdef int kind = _array(args[0]).descr.type_num
    return _array(args[0]).nd == n + 2 and not cnp.PyTypeNum_ISCOMPLEX(kind) and (
        args[2] == <PyObject*>None or _array(args[2]).descr.type_num == kind)


cdef object _convolution(Operator op, keyset_t keys, PyObject** args):
    """conv1d, conv2d, conv3d(input, weight, bias, stride, padding, dilation, groups)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int i, n = <int>PyUnicode_READ_CHAR(op.name, 4) - 48
    if not _plain_batch(op, args, n):
        return NotImplemented
    for i in range(6):
        values[i] = args[i]
    values[6], values[7] = <PyObject*>_no, PyList_GET_ITEM(_unused, n)
    values[8], values[9] = args[6], NULL
    return call(callee(op, 0), values)


cdef object _transposed_convolution(Operator op, keyset_t keys, PyObject** args):
    """conv_transpose1d, ...(input, weight, bias, stride, padding, output_padding, groups, ...)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int i
    if not _plain_batch(op, args, <int>PyUnicode_READ_CHAR(op.name, 14) - 48):
        return NotImplemented
    for i in range(5):
        values[i] = args[i]
    values[5], values[6], values[7] = args[7], <PyObject*>_yes, args[5]
    values[8], values[9] = args[6], NULL
    return call(callee(op, 0), values)


mse_loss = calling(_of_pairs, ["_mse_loss"])
l1_loss = calling(_absolute, ["sub", "abs", "mean", "sum"])
binary_cross_entropy = calling(_entropy, ["_binary_cross_entropy"])
binary_cross_entropy_with_logits = calling(
    _entropy_of_logits, ["_binary_cross_entropy_with_logits"])
nll_loss = calling(_nll, ["_nll_loss"])
cross_entropy = calling(_cross_entropy, ["_nll_loss", "log_softmax"])
batch_norm = calling(_batch_norm, ["native_batch_norm"])
max_pool2d = calling(_max_pool, ["max_pool2d_with_indices"])
max_pool3d = calling(_max_pool, ["max_pool3d_with_indices"])
affine_grid = calling(_affine_grid, ["affine_grid_generator"])
grid_sample = calling(_grid_sample, ["grid_sampler_2d", "grid_sampler_3d"])
convolution = calling(_convolution, ["convolution"])
transposed_convolution = calling(_transposed_convolution, ["convolution"])
