"""Fast cases of composite operators on sequences, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_READ_CHAR
from imode._core.allocator cimport Fields
from imode._core.dispatch cimport (
    MAX_ARGS, Operator, call, call1, call2, call3, tls, unrecorded)
from imode._core.keyset cimport keyset_t
from imode._core.tensor cimport Tensor, requires_grad, storage
from imode.kernels.fast_guards cimport (
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, _array, _count, _integer)
from imode.ops.composites_fast cimport callee, calling
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

cnp.import_array()

cdef object _last = -1
cdef object _before_last = -2
cdef object _no = False
cdef object _yes = True


cdef inline bint _real_kind(Fields* a) noexcept:
    return a.descr.type_num == cnp.NPY_FLOAT or a.descr.type_num == cnp.NPY_DOUBLE


# ---- attention ----------------------------------------------------------------------------------


cdef bint _served(PyObject** args) noexcept:
    """Whether the compiled operator serves the shapes of queries, keys and values."""
    cdef Fields* q = _array(args[0])
    cdef Fields* k = _array(args[1])
    cdef Fields* v = _array(args[2])
    cdef cnp.npy_intp item = cnp.PyArray_ITEMSIZE(storage(<Tensor>args[0]))
    return q.nd == 4 and q.dimensions[0] == k.dimensions[0] == v.dimensions[0] and (
        q.dimensions[1] == k.dimensions[1] == v.dimensions[1]
        and k.dimensions[2] == v.dimensions[2]
        and q.dimensions[3] == k.dimensions[3] == v.dimensions[3]
        and q.strides[3] == item and k.strides[3] == item and v.strides[3] == item)


cdef object _attention(Operator op, keyset_t keys, PyObject** args):
    """scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale,
    enable_gqa)"""
    cdef Fields* q = _array(args[0])
    cdef PyObject* values[MAX_ARGS + 1]
    cdef double scale = 0
    cdef int i, before
    for i in range(3):
        if _array(args[i]).nd != q.nd or _array(args[i]).descr.type_num != q.descr.type_num or (
                _count(_array(args[i]), 0, q.nd) == 0):
            return NotImplemented
    if q.nd < 2 or not _real_kind(q) or args[3] != <PyObject*>None or (
            not PyFloat_CheckExact(args[4]) or PyFloat_AS_DOUBLE(args[4]) != 0
            or <object>args[7] is not False
            or args[6] != <PyObject*>None and not PyFloat_CheckExact(args[6])):
        return NotImplemented
    if _served(args):
        for i in range(4):
            values[i] = args[i]
        values[4], values[5], values[6] = args[5], args[6], NULL
        return (<tuple>call(callee(op, 0), values))[0]
    if <object>args[5] is not False:
        return NotImplemented
    scale = 1 / sqrt(<double>q.dimensions[q.nd - 1]) if args[6] == <PyObject*>None else (
        PyFloat_AS_DOUBLE(args[6]))
    root = sqrt(fabs(scale))
    before = tls().numbers_are_scalars
    tls().numbers_are_scalars = True       # see Note [Numbers in formulas]
    try:
        turned = call2(callee(op, 2), call3(
            callee(op, 1), <object>args[1], _before_last, _last), -root if scale < 0 else root)
        scores = call2(callee(op, 3), call2(callee(op, 2), <object>args[0], root), turned)
    finally:
        tls().numbers_are_scalars = before
    return call2(callee(op, 3), call2(callee(op, 4), scores, _last), <object>args[2])


# ---- cells --------------------------------------------------------------------------------------

cdef list _numbers = [0, 1, 2, 3]     # of the compiled cells: relu, tanh, lstm, gru
cdef int[4] _gates = [1, 1, 4, 3]


cdef inline int _cell_of(Operator op) noexcept:
    """The number of the cell, by the name: rnn_relu_cell, rnn_tanh_cell, lstm_cell, gru_cell."""
    cdef Py_UCS4 first = PyUnicode_READ_CHAR(op.name, 0)
    if first == u"l":
        return 2
    return 3 if first == u"g" else PyUnicode_READ_CHAR(op.name, 4) == u"t"


cdef bint _matrix(PyObject* tensor, int kind, cnp.npy_intp rows, cnp.npy_intp columns) noexcept:
    cdef Fields* a = _array(tensor)
    return a.nd == 2 and a.descr.type_num == kind and a.dimensions[0] == rows and (
        a.dimensions[1] == columns)


cdef object _cell(Operator op, keyset_t keys, PyObject** args):
    """lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh) and its kin: one step of a layer."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int cell = _cell_of(op), i
    cdef Fields* x = _array(args[0])
    cdef Fields* w = _array(args[3])
    cdef bint biased = args[4] != <PyObject*>None, recording = requires_grad(<Tensor>args[0])
    cdef object by_input = <object>args[4], by_state = <object>args[5]
    cdef tuple sizes, made
    cdef PyObject* h = args[1]
    cdef PyObject* c = <PyObject*>None
    if cell == 2:
        if PyTuple_GET_SIZE(<object>args[1]) != 2:
            return NotImplemented
        h, c = PyTuple_GET_ITEM(<object>args[1], 0), PyTuple_GET_ITEM(<object>args[1], 1)
    if x.nd != 2 or w.nd != 2 or not _real_kind(x) or biased != (args[5] != <PyObject*>None) or (
            w.dimensions[0] != _gates[cell] * w.dimensions[1]
            or not _matrix(h, x.descr.type_num, x.dimensions[0], w.dimensions[1])
            or not _matrix(args[2], x.descr.type_num, w.dimensions[0], x.dimensions[1])
            or w.descr.type_num != x.descr.type_num
            or cell == 2 and not _matrix(c, x.descr.type_num, x.dimensions[0], w.dimensions[1])):
        return NotImplemented
    for i in range(2, 6):
        if args[i] == <PyObject*>None:
            continue
        recording = recording or requires_grad(<Tensor>args[i])
        if i > 3 and _array(args[i]).descr.type_num != x.descr.type_num:
            return NotImplemented
    recording = recording or requires_grad(<Tensor>h) or (
        cell == 2 and requires_grad(<Tensor>c))
    if biased and cell != 3:          # both are added to the gates: once is enough
        by_input, by_state = None, call2(callee(op, 2), by_input, by_state)
    gates = call3(callee(op, 1), <object>args[0], <object>args[2], by_input)
    sizes = (x.dimensions[0],)
    values[0], values[1], values[2], values[3] = <PyObject*>gates, h, c, args[3]
    values[4], values[5] = <PyObject*>by_state, <PyObject*>sizes
    number = _numbers[cell]
    values[6], values[7] = <PyObject*>number, <PyObject*>_no
    values[8] = <PyObject*>_yes if recording and not unrecorded(tls()) else <PyObject*>_no
    values[9] = NULL
    made = <tuple>call(callee(op, 0), values)
    return made[1:3] if cell == 2 else made[1]


# ---- bags ---------------------------------------------------------------------------------------


cdef object _embedding_bag(Operator op, keyset_t keys, PyObject** args):
    """embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
    per_sample_weights, include_last_offset), and perhaps padding_idx."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef Fields* table = _array(args[0])
    cdef int64_t mode = 0, padding = -1
    cdef object padded
    cdef int i
    if not _integer(args[4], &mode) or not 0 <= mode <= 2 or table.nd != 2 or (
            args[6] != <PyObject*>None and mode != 0):
        return NotImplemented
    if op.nargs > 8 and args[8] != <PyObject*>None:
        if not _integer(args[8], &padding) or not (
                -table.dimensions[0] <= padding < table.dimensions[0]):
            return NotImplemented
        padding += table.dimensions[0] if padding < 0 else 0
    for i in range(8):
        values[i] = args[i]
    padded = padding
    values[8], values[9] = <PyObject*>padded, NULL
    result, bag_of, sizes, most = <tuple>call(callee(op, 0), values)
    if mode == 0:          # needs none of them, and PyTorch leaves them out
        if padding < 0 and cnp.PyArray_ITEMSIZE(storage(<Tensor>args[0])) < 8:
            bag_of = call2(callee(op, 1), bag_of, (0,))
        sizes = call1(callee(op, 2), sizes)
    return result, bag_of, sizes, most if mode == 2 else call1(callee(op, 3), sizes)


scaled_dot_product_attention = calling(_attention, [
    "_scaled_dot_product_flash_attention_for_cpu", "transpose", "mul", "matmul", "_safe_softmax"])
lstm_cell = calling(_cell, ["_recurrent_layer", "linear", "add"])
gru_cell = calling(_cell, ["_recurrent_layer", "linear", "add"])
rnn_tanh_cell = calling(_cell, ["_recurrent_layer", "linear", "add"])
rnn_relu_cell = calling(_cell, ["_recurrent_layer", "linear", "add"])
embedding_bag = calling(_embedding_bag, ["_embedding_bag", "new_empty", "zeros_like", "clone"])
