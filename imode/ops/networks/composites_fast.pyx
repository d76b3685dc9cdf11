"""Fast cases of composite layers and losses, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.list cimport PyList_GET_ITEM
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact, PyUnicode_READ_CHAR
from imode._core.allocator cimport Fields
from imode._core.channels cimport is_channels_last
from imode._core.dispatch cimport (
    MAX_ARGS, Operator, call, call1, call2, call3, inference_mode_on, tls, unrecorded)
from imode._core.geometry cimport shape_of
from imode._core.iterate cimport in_row_order
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, requires_grad, storage
from imode.kernels.fast_guards cimport (
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyLong_CheckExact, _array, _count, _integer, _same_shape)
from imode.kernels.networks.pool cimport mean_1d
from imode.ops.composites_fast cimport callee, calling, pass_on, unseen
from libc.stdint cimport int64_t
from numpy cimport npy_intp

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


cdef inline bint _constant(PyObject* tensor):
    """Whether a function may be recorded that has no derivative by an argument."""
    return tensor == <PyObject*>None or not requires_grad(<Tensor>tensor)


cdef object _soft_margin(Operator op, keyset_t keys, PyObject** args):
    """soft_margin_loss(input, target, size_average, reduce, reduction)."""
    cdef PyObject* number = _reduction(args, 2, 3, 4)
    if number == NULL or not _constant(args[1]):
        return NotImplemented
    return call3(callee(op, 0), <object>args[0], <object>args[1], <object>number)


cdef object _multi_margin(Operator op, keyset_t keys, PyObject** args):
    """multi_margin_loss(input, target, p, margin, weight, size_average, reduce, reduction)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef PyObject* number = _reduction(args, 5, 6, 7)
    cdef int i
    if number == NULL or not PyLong_CheckExact(args[2]) or not 1 <= <object>args[2] <= 2 or (
            not _constant(args[4]) or args[4] != <PyObject*>None and _array(args[4]).nd != 1):
        return NotImplemented
    for i in range(5):
        values[i] = args[i]
    values[5], values[6] = number, NULL
    return call(callee(op, 0), values)


# ---- layers ----

cdef object _max_pool(Operator op, keyset_t keys, PyObject** args):
    """max_pool2d, max_pool3d(self, ..., return_indices)."""
    return NotImplemented if <object>args[6] is not False else pass_on(op, keys, args)


cdef bint _one(PyObject* sizes, long* size) except -1:
    """Whether a tuple holds one small int, and which."""
    cdef int64_t given
    if not PyTuple_CheckExact(<object>sizes) or PyTuple_GET_SIZE(<object>sizes) != 1 or (
            not _integer(PyTuple_GET_ITEM(<object>sizes, 0), &given)):
        return False
    size[0] = given
    return True


cdef bint _windows_1d(PyObject** args, PyObject* dilation) except -1:
    """Whether windows over one dimension fit: (self, kernel_size, stride, padding, ...)."""
    cdef Fields* x = _array(args[0])
    cdef long k, s, p, d = 1
    if not 2 <= x.nd <= 3 or _count(x, 0, x.nd) == 0 or not _one(args[1], &k) or (
            not _one(args[2], &s) or not _one(args[3], &p)):
        return False
    if dilation != NULL and not _one(dilation, &d):
        return False
    return k > 0 and s > 0 and 0 <= p <= k // 2 and d > 0 and (
        x.dimensions[x.nd - 1] + 2 * p >= d * (k - 1) + 1)


cdef object _flat(Operator op, int unsqueeze, tensor):
    """unsqueeze(tensor, -2), or squeeze."""
    return call2(callee(op, unsqueeze), tensor, _row)


cdef tuple _of_row(PyObject* sizes, object first):
    """The sizes of windows over one dimension, as over two."""
    return first, (<tuple><object>sizes)[0]


cdef object _max_pool1d(Operator op, keyset_t keys, PyObject** args):
    """max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode, return_indices)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int kind = _array(args[0]).descr.type_num, i
    cdef bint recording = requires_grad(<Tensor>args[0]) and not unrecorded(tls())
    for i in range(6):
        values[i] = args[i]
    if args[2] == <PyObject*>None or <object>args[2] == ():
        values[2] = args[1]
    values[6] = NULL
    if <object>args[6] is not False or not _windows_1d(values, args[4]) or (
            not recording and kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE):
        return NotImplemented
    if not recording:
        return call(callee(op, 3), values)
    plane = _flat(op, 0, <object>args[0])
    sizes = [_of_row(values[1], 1), _of_row(values[2], 1), _of_row(values[3], 0),
             _of_row(values[4], 1)]
    values[0] = <PyObject*>plane
    for i in range(4):
        values[1 + i] = PyList_GET_ITEM(sizes, i)
    return _flat(op, 1, (<tuple>call(callee(op, 2), values))[0])


cdef object _avg_pool1d(Operator op, keyset_t keys, PyObject** args):
    """avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad)."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int i
    for i in range(6):
        values[i] = args[i]
    if args[2] == <PyObject*>None or <object>args[2] == ():
        values[2] = args[1]
    if not _windows_1d(values, NULL):
        return NotImplemented
    # Outside inference mode the squeezed result is a view, or has a version.
    if inference_mode_on(tls()) and unseen(op, (<Tensor>args[0]).keys):
        means = mean_1d(storage(<Tensor>args[0]), (<tuple><object>values[1])[0],
                        (<tuple><object>values[2])[0], (<tuple><object>values[3])[0],
                        <object>args[4] is True, <object>args[5] is True)
        if means is not None:
            return wrap(means)
    plane = _flat(op, 0, <object>args[0])
    kernel, stride = _of_row(values[1], 1), _of_row(values[2], 1)
    padding = _of_row(values[3], 0)
    values[0], values[1], values[2] = <PyObject*>plane, <PyObject*>kernel, <PyObject*>stride
    values[3], values[6], values[7] = <PyObject*>padding, <PyObject*>None, NULL
    return _flat(op, 1, call(callee(op, 2), values))


cdef object _adaptive(Operator op, keyset_t keys, PyObject** args):
    """adaptive_max_pool2d(self, output_size, return_indices) and its kin, of means, of volumes."""
    cdef int space = <int>PyUnicode_READ_CHAR(op.name, 17) - 48, k, ones = 0
    cdef int64_t size
    cdef tuple sizes
    if PyLong_CheckExact(args[1]):
        sizes = (<object>args[1],) * space
    elif PyTuple_CheckExact(<object>args[1]):
        sizes = <tuple><object>args[1]
    else:
        return NotImplemented
    if PyTuple_GET_SIZE(sizes) != space or not space < _array(args[0]).nd <= space + 2 or (
            op.nargs > 2 and <object>args[2] is not False):
        return NotImplemented
    for k in range(space):
        if not _integer(PyTuple_GET_ITEM(sizes, k), &size) or size < 1:
            return NotImplemented
        ones += size == 1
    if op.nargs > 2:
        return (<tuple>call2(callee(op, 0), <object>args[0], sizes))[0]
    if ones == space:
        return call3(callee(op, 1), <object>args[0], _innermost[space], _yes)
    return call2(callee(op, 0), <object>args[0], sizes)


cdef object _batch_norm(Operator op, keyset_t keys, PyObject** args):
    """batch_norm(input, ..., running_mean, running_var, ...) of real numbers in channels."""
    cdef Fields* x = _array(args[0])
    if x.nd < 2 or _count(x, 0, x.nd) == 0 or not cnp.PyTypeNum_ISFLOAT(x.descr.type_num):
        return NotImplemented
    return pass_on(op, keys, args)


cdef object _row = -2
cdef object _squared = 2
cdef object _step32 = 1.1920928955078125e-07    # the smallest steps from 1
cdef object _step64 = 2.220446049250313e-16
cdef list _innermost = [None, None, (-1, -2), (-1, -2, -3)]

cdef object _instance_norm(Operator op, keyset_t keys, PyObject** args):
    """instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, ...)."""
    cdef Fields* x = _array(args[0])
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int d
    cdef list kept = []
    if args[3] != <PyObject*>None or args[4] != <PyObject*>None or x.nd < 3 or (
            <object>args[5] is not True or _count(x, 0, x.nd) == 0
            or (x.descr.type_num != cnp.NPY_FLOAT and x.descr.type_num != cnp.NPY_DOUBLE)
            or not in_row_order(x, cnp.PyArray_ITEMSIZE(storage(<Tensor>args[0])))
            or is_channels_last(storage(<Tensor>args[0]))):
        return NotImplemented
    shape = shape_of(<Tensor>args[0])
    rows = (1, x.dimensions[0] * x.dimensions[1]) + (<tuple>shape)[2:]
    flat = call2(callee(op, 0), <object>args[0], rows)
    values[0] = <PyObject*>flat
    for d in range(1, 3):
        values[d] = args[d]
        if args[d] != <PyObject*>None:
            kept.append(call2(callee(op, 1), <object>args[d], (x.dimensions[0],)))
            values[d] = PyList_GET_ITEM(kept, len(kept) - 1)
    for d in range(3, 8):
        values[d] = args[d]
    values[8], values[9] = <PyObject*>_no, NULL
    return call2(callee(op, 0), call(callee(op, 2), values), shape)


cdef object _rms_norm(Operator op, keyset_t keys, PyObject** args):
    """rms_norm(input, normalized_shape, weight, eps) of float32 or float64."""
    cdef Fields* x = _array(args[0])
    cdef Py_ssize_t n = PyTuple_GET_SIZE(<object>args[1]), k
    cdef int64_t size
    cdef int before
    cdef object eps = <object>args[3]
    if not 1 <= n <= x.nd or n > 3 or (
            x.descr.type_num != cnp.NPY_FLOAT and x.descr.type_num != cnp.NPY_DOUBLE):
        return NotImplemented
    for k in range(n):
        if not _integer(PyTuple_GET_ITEM(<object>args[1], k), &size) or (
                size != x.dimensions[x.nd - n + k]):
            return NotImplemented
    if args[2] != <PyObject*>None and (_array(args[2]).descr.type_num != x.descr.type_num or (
            _array(args[2]).nd != n
            or not _same_shape(_array(args[2]), x, <int>(x.nd - n), <int>n))):
        return NotImplemented
    if eps is None:
        eps = _step32 if x.descr.type_num == cnp.NPY_FLOAT else _step64
    dims = tuple([x.nd - 1 - k for k in range(n)])
    before = tls().numbers_are_scalars
    tls().numbers_are_scalars = True       # see Note [Numbers in formulas]
    try:
        made = call3(callee(op, 1), call2(callee(op, 0), <object>args[0], _squared), dims, _yes)
        made = call2(callee(op, 4), <object>args[0], call1(callee(op, 3), call2(
            callee(op, 2), made, eps)))
        if args[2] != <PyObject*>None:
            made = call2(callee(op, 4), made, <object>args[2])
    finally:
        tls().numbers_are_scalars = before
    return made if _array(<PyObject*>made).flags & cnp.NPY_ARRAY_C_CONTIGUOUS else (
        call1(callee(op, 5), made))


cdef object _bilinear(Operator op, keyset_t keys, PyObject** args):
    """bilinear(input1, input2, weight, bias)."""
    cdef Fields* a = _array(args[0])
    cdef Fields* b = _array(args[1])
    cdef Fields* w = _array(args[2])
    cdef npy_intp count
    if a.nd < 1 or a.nd != b.nd or w.nd != 3 or not _same_shape(a, b, 0, a.nd - 1) or (
            a.descr.type_num != b.descr.type_num or a.descr.type_num != w.descr.type_num
            or a.dimensions[a.nd - 1] != w.dimensions[1]
            or b.dimensions[a.nd - 1] != w.dimensions[2]
            or args[3] != <PyObject*>None and (
                _array(args[3]).nd < 1 or _array(args[3]).dimensions[0] != w.dimensions[0])):
        return NotImplemented
    count = _count(a, 0, a.nd - 1)
    rows = call2(callee(op, 0), <object>args[0], (count, w.dimensions[1]))
    others = call2(callee(op, 0), <object>args[1], (count, w.dimensions[2]))
    shape = (<tuple>shape_of(<Tensor>args[0]))[:a.nd - 1] + (w.dimensions[0],)
    made = call2(callee(op, 0), call3(callee(op, 1), rows, <object>args[2], others), shape)
    return made if args[3] == <PyObject*>None else call2(callee(op, 2), made, <object>args[3])


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
max_pool1d = calling(
    _max_pool1d, ["unsqueeze", "squeeze.dim", "max_pool2d_with_indices", "_max_pool1d"])
avg_pool1d = calling(_avg_pool1d, ["unsqueeze", "squeeze.dim", "avg_pool2d"])
adaptive_avg_pool2d = calling(_adaptive, ["_adaptive_avg_pool2d", "mean.dim"])
adaptive_avg_pool3d = calling(_adaptive, ["_adaptive_avg_pool3d", "mean.dim"])
adaptive_max_pool2d = calling(_adaptive, ["_adaptive_max_pool2d"])
adaptive_max_pool3d = calling(_adaptive, ["_adaptive_max_pool3d"])
instance_norm = calling(_instance_norm, ["view", "repeat", "batch_norm"])
rms_norm = calling(_rms_norm, ["pow", "mean.dim", "add", "rsqrt", "mul", "contiguous"])
bilinear = calling(_bilinear, ["reshape", "_trilinear", "add"])
soft_margin_loss = calling(_soft_margin, ["_soft_margin_loss"])
multi_margin_loss = calling(_multi_margin, ["_multi_margin_loss"])
affine_grid = calling(_affine_grid, ["affine_grid_generator"])
grid_sample = calling(_grid_sample, ["grid_sampler_2d", "grid_sampler_3d"])
convolution = calling(_convolution, ["convolution"])
transposed_convolution = calling(_transposed_convolution, ["convolution"])
