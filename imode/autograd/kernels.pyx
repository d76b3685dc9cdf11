"""The generic Autograd and ADInplaceOrView kernels. No operator is named here.

Which of them an operator gets follows from its role (functional, view, in-place, out=); what they
record follows from its derivative.

    role        Autograd                                     ADInplaceOrView
    functional  record the node                              (fallthrough)
    view        record the node                              record the view
    in-place    check, record, rebase the history            bump the version
    out=        refuse arguments that require grad           bump the versions
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from imode._core.dispatch cimport (
    TENSOR_LIST, TLS, CKernel, Operator, call1, operator, recording, redispatch, tls)
from imode._core.dtype cimport (
    FLOAT8_E4M3FN, code_of, dtype, dtype_from_typenum, is_complex, is_integral)
from imode._core.elsewhere cimport place_of
from imode._core.geometry cimport geometry_of, shape_of
from imode._core.keyset cimport AD_INPLACE_OR_VIEW, AUTOGRAD, below, keyset_t
from imode._core.tensor cimport (
    Tensor, current, forget_history, is_tensor, meta_of, requires_grad, set_grad_fn, storage,
    typenum, version_of)
from imode.autograd.derivative cimport (
    FROM_ARGUMENT, FROM_DEVICE, FROM_GEOMETRY, FROM_MATRIX, FROM_RESULT, FROM_SHAPE, Derivative,
    Slot)
from imode.autograd.leaves cimport connect
from imode.autograd.few cimport describe_first, few_edges, one_output
from imode.autograd.node cimport describe, next_nodes
from imode.autograd.recorded cimport OpNode, keep, new_node
from imode.autograd.saved cimport save_input
from imode.autograd.views cimport (
    check_inplace, check_write, count_write, rebase_history, track)
from libc.stdint cimport uint64_t
from numpy cimport import_array, ndarray, npy_intp

from imode.autograd.hooks import backward_hooks
from imode import errors


import_array()

# ---- ADInplaceOrView ----

cdef object _ad_view(Operator op, keyset_t keys, PyObject** args):
    cdef Tensor base = <Tensor>args[op.tensors[0]]
    result = redispatch(op, keys & below(AD_INPLACE_OR_VIEW), args)
    if type(result) is Tensor:
        track(op, args, base, <Tensor>result, False)
    else:
        for item in <tuple>result:
            track(op, args, base, <Tensor>item, True)
    return result


cdef object _ad_inplace(Operator op, keyset_t keys, PyObject** args):
    cdef Tensor target = <Tensor>args[0]
    check_write(op.id, target)
    result = redispatch(op, keys & below(AD_INPLACE_OR_VIEW), args)
    count_write(op.id, target)
    return result


cdef object _ad_out(Operator op, keyset_t keys, PyObject** args):
    cdef object target = <object>args[op.nargs]
    targets = (target,) if type(target) is Tensor else target
    for item in targets:
        check_write(op.id, item)
    result = redispatch(op, keys & below(AD_INPLACE_OR_VIEW), args)
    for item in targets:
        count_write(op.id, item)
    return result


# ---- Autograd ----

cdef inline bint _wants(PyObject* arg, bint is_list) noexcept:
    """Whether an argument is, or holds, a tensor that requires grad."""
    cdef Py_ssize_t i
    if is_tensor(arg):
        return requires_grad(<Tensor>arg)
    if is_list:
        for i in range(PyTuple_GET_SIZE(<object>arg)):
            if is_tensor(PyTuple_GET_ITEM(<object>arg, i)) and (
                    requires_grad(<Tensor>PyTuple_GET_ITEM(<object>arg, i))):
                return True
    return False


cdef inline bint _any_requires_grad(Operator op, Derivative d, PyObject** args) noexcept:
    cdef int i
    for i in range(d.n_inputs):
        if _wants(args[d.inputs[i]], op.kinds[d.inputs[i]] == TENSOR_LIST):
            return True
    return False


cdef inline Derivative _for_numbers(Derivative d, bint numbers_are_scalars, PyObject** args):
    """The derivative where the last operand is a number; see Note [Numbers in formulas]."""
    if d.with_number is not None and (numbers_are_scalars or d.number_always) and (
            not is_tensor(args[d.number_at])):
        return d.with_number
    return d


cdef object _record_functional(Operator op, keyset_t keys, PyObject** args):
    cdef Derivative d = <Derivative>op.derivative
    cdef TLS* state = tls()
    cdef OpNode node
    if state.no_grad or not _any_requires_grad(op, d, args):
        return redispatch(op, keys & below(AUTOGRAD), args)
    if state.numbers_are_scalars:
        d = _for_numbers(d, True, args)
    if d.floats_only and _gives_integers(d, args):
        return redispatch(op, keys & below(AUTOGRAD), args)
    node = _prepare(op, d, args, False)
    result = redispatch(op, keys & below(AUTOGRAD), args)
    if d.real_only is not None:
        _refuse_complex(d.real_only, result)
    _finish(d, node, result)
    return result


cdef object _record_by_inputs(Operator op, keyset_t keys, PyObject** args):
    """Likewise, of an operator whose other tensors must not require grad."""
    cdef Derivative d = <Derivative>op.derivative
    cdef int i, k
    cdef bint known
    for i in range(op.n_tensors if not tls().no_grad else 0):
        known = False
        for k in range(d.n_inputs):
            known = known or d.inputs[k] == op.tensors[i]
        if not known and _wants(args[op.tensors[i]], op.kinds[op.tensors[i]] == TENSOR_LIST):
            raise errors.graph.constant_argument(op.name, op.names[op.tensors[i]])
    return _record_functional(op, keys, args)


cdef bint _gives_integers(Derivative d, PyObject** args) noexcept:
    """Whether the result's dtype, as the arguments state it, is an integer one."""
    return d.dtype_at >= 0 and args[d.dtype_at] != <PyObject*>None and (
        is_integral((<dtype><object>args[d.dtype_at]).code))


cdef int _refuse_complex(str name, object result) except -1:
    for item in result if isinstance(result, tuple) else (result,):
        if type(item) is Tensor and is_complex(code_of[typenum(<Tensor>item)]):
            raise RuntimeError(
                f"{name} does not support automatic differentiation for outputs with complex "
                "dtype. Call it under no_grad, or apply it to the real and the imaginary part.")
    return 0


cdef object _record_inplace(Operator op, keyset_t keys, PyObject** args):
    cdef Derivative d = <Derivative>op.derivative
    cdef Tensor self = <Tensor>args[0]
    cdef OpNode node
    if tls().no_grad or d is None:      # without a derivative nothing is checked, as in PyTorch
        return redispatch(op, keys & below(AUTOGRAD), args)
    d = _for_numbers(d, tls().numbers_are_scalars, args)
    if not _any_requires_grad(op, d, args):
        return redispatch(op, keys & below(AUTOGRAD), args)
    check_write(op.id, self)
    if d.floats_only and code_of[typenum(self)] < FLOAT8_E4M3FN:
        return redispatch(op, keys & below(AUTOGRAD), args)
    check_inplace(op.name, self)
    node = _prepare(op, d, args, True)
    result = redispatch(op, keys & below(AUTOGRAD), args)
    if d.unimplemented and code_of[typenum(self)] < FLOAT8_E4M3FN:
        return result             # integers carry no gradient, and the node would only raise
    node.set_outputs(1)
    describe_first(node, self)
    rebase_history(self, node, 0, 0)
    _save_results(d, node, self)
    return result


cdef object _record_metadata(Operator op, keyset_t keys, PyObject** args):
    """An in-place operator that changes only the geometry (t_, squeeze_): allowed on leaves."""
    cdef Derivative d = <Derivative>op.derivative
    cdef Tensor self = <Tensor>args[0]
    cdef OpNode node
    if tls().no_grad or not _any_requires_grad(op, d, args):
        return redispatch(op, keys & below(AUTOGRAD), args)
    check_inplace(op.name, self, geometry=True)
    node = _prepare(op, d, args, True)
    result = redispatch(op, keys & below(AUTOGRAD), args)
    node.set_outputs(1)
    describe_first(node, self)
    # The elements have not changed: a view's base keeps its history, and a retained gradient
    # remains that of the node before.
    if self.view is not None:
        self.view.attr_version = current(version_of(self))
    set_grad_fn(self, node, 0)
    return result


cdef object _forget_history(Operator op, keyset_t keys, PyObject** args):
    """An in-place operator that makes its tensor a leaf without gradient (detach_)."""
    cdef Tensor self = <Tensor>args[0]
    if self.view is not None:
        raise errors.views.detach()
    if self.grad_fn is not None:      # its hooks pass to the leaf that it may become
        hooks = backward_hooks(self)
        if hooks is not None or self.meta is not None:
            meta_of(self).hooks = hooks
    forget_history(self)
    return redispatch(op, keys & below(AUTOGRAD), args)


cdef object _refuse_out(Operator op, keyset_t keys, PyObject** args):
    cdef object target = <object>args[op.nargs]
    cdef Derivative d = <Derivative>op.derivative
    cdef bint refused
    if not tls().no_grad:
        refused = d is not None and _any_requires_grad(op, d, args)
        for item in (target,) if type(target) is Tensor else target:
            refused |= requires_grad(<Tensor>item)
        if refused:
            if d is not None and d.unimplemented:
                raise errors.out.requires_grad(f"aten::{op.name}")
            raise errors.out.requires_grad(op.accepts.name or op.name, op.name)
    return redispatch(op, keys & below(AUTOGRAD), args)


cdef OpNode _prepare(Operator op, Derivative d, PyObject** args, bint in_place):
    """A node with its edges, in which the arguments that the formulas read are saved."""
    cdef OpNode node = new_node(d)
    cdef PyObject* arg
    cdef Slot* slot
    cdef int i, edge, n
    cdef Py_ssize_t k
    if d.unimplemented:
        node.sequence = <uint64_t>-1      # as a leaf's: it runs first
    if d.list_input < 0:
        n = d.n_inputs
        if d.refused:                 # an edge only for a tensor that requires grad
            n = 0
            for i in range(d.n_inputs):
                n += _wants(args[d.inputs[i]], False)
        few_edges(node, n)
        edge = 0
        for i in range(d.n_inputs):
            if d.refused:
                if _wants(args[d.inputs[i]], False):
                    connect(node, edge, <Tensor>args[d.inputs[i]])
                    edge += 1
            elif is_tensor(args[d.inputs[i]]):
                connect(node, i, <Tensor>args[d.inputs[i]])
    else:
        arg = args[d.inputs[d.list_input]]
        node.set_edges(d.n_inputs - 1 + <int>PyTuple_GET_SIZE(<object>arg))
        edge = 0
        for i in range(d.n_inputs):
            arg = args[d.inputs[i]]
            if i == d.list_input:
                for k in range(PyTuple_GET_SIZE(<object>arg)):
                    if is_tensor(PyTuple_GET_ITEM(<object>arg, k)):
                        connect(node, edge, <Tensor>PyTuple_GET_ITEM(<object>arg, k))
                    edge += 1
            else:
                if is_tensor(arg):
                    connect(node, edge, <Tensor>arg)
                edge += 1
    if d.n_slots:
        node.set_saved(d.n_slots)
        for i in range(d.n_slots):
            slot = &d.slots[i]
            if slot.source == FROM_RESULT or (
                    d.n_formulas > 1 and not slot.not_tensor and not _needed(node, d, slot)):
                continue
            arg = args[slot.index]
            if slot.source != FROM_ARGUMENT or slot.listed:
                keep(node, i, _kept(op, slot, arg))
            elif not is_tensor(arg):
                keep(node, i, <object>arg)
            elif in_place and slot.self_argument:
                node.keep_input(i, <Tensor>call1(operator("clone"), <object>arg), op.name)
            else:
                node.keep_input(i, <Tensor>arg, op.name)
    return node


cdef bint _needed(OpNode node, Derivative d, Slot* slot):
    """Whether a slot is saved. If a single formula reads it: where an input of that formula needs a
    gradient. If several read it, or none, where it is only shown: always."""
    cdef int i
    if slot.formulas & (slot.formulas - 1) or not slot.formulas:
        return True
    for i in range(d.n_inputs):
        if slot.formulas >> d.formula_of[i] & 1:
            if d.list_input >= 0 or next_nodes(node)[i] != NULL:
                return True
    return False


cdef object _kept(Operator op, Slot* slot, PyObject* arg):
    """What a slot keeps of an argument, unless that is the argument itself."""
    cdef tuple kept
    cdef Py_ssize_t k
    if op.kinds[slot.index] == TENSOR_LIST:
        kept = PyTuple_New(PyTuple_GET_SIZE(<object>arg))
        for k in range(PyTuple_GET_SIZE(kept)):
            item = _kept_of(op, slot, PyTuple_GET_ITEM(<object>arg, k))
            Py_INCREF(item)
            PyTuple_SET_ITEM(kept, k, item)
        return kept
    return _kept_of(op, slot, arg)


cdef object _kept_of(Operator op, Slot* slot, PyObject* arg):
    if slot.source == FROM_ARGUMENT:
        return save_input(<Tensor>arg, op.name) if is_tensor(arg) else <object>arg
    if slot.source == FROM_SHAPE:
        return shape_of(<Tensor>arg) if is_tensor(arg) else ()
    if slot.source == FROM_GEOMETRY:
        return geometry_of(<Tensor>arg)
    if slot.source == FROM_MATRIX:
        return _matrix(<Tensor>arg)
    if slot.source == FROM_DEVICE:
        return place_of(<Tensor>arg) if is_tensor(arg) else None
    return dtype_from_typenum(typenum(<Tensor>arg)) if is_tensor(arg) else None


cdef inline object _matrix(Tensor tensor):
    """The geometry of a factor of a product; as a single number for a matrix without gaps.

    rows * 2**32 + columns if stored row by row, -1 minus that if stored column by column.
    """
    cdef ndarray array = storage(tensor)
    cdef npy_intp* shape = array.shape
    cdef npy_intp* strides = array.strides
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(array)
    cdef long long sizes
    if array.ndim == 2 and shape[0] < 1 << 30 and shape[1] < <long long>1 << 32:
        sizes = <long long>shape[0] << 32 | shape[1]
        if strides[0] == item and strides[1] == shape[0] * item:
            return -1 - sizes
        if strides[1] == item and strides[0] == shape[1] * item:
            return sizes
    return geometry_of(tensor)


cdef int _finish(Derivative d, OpNode node, object result) except -1:
    """Make the node the history of the results, and save those that the formulas read."""
    cdef int i
    cdef int n
    cdef int output = 0
    if type(result) is Tensor:
        one_output(node)
        _set_history(d, node, 0, <Tensor>result)
    elif isinstance(result, tuple):
        n = <int>len(<tuple>result) if d.reads_all else 1
        for i in range(n if d.constant else 0):
            output += d.constant >> i & 1
        node.set_outputs(n - output)
        output = 0
        for i in range(n):
            if d.constant >> i & 1:
                continue
            if type((<tuple>result)[i]) is Tensor:
                _set_history(d, node, output, <Tensor>(<tuple>result)[i])
            output += 1
    return _save_results(d, node, result) if d.keeps_results else 0


cdef inline int _set_history(Derivative d, OpNode node, int output, Tensor result) except -1:
    if code_of[typenum(result)] < FLOAT8_E4M3FN:      # integers and bools carry no gradient
        if d.floats_only or d.unimplemented:
            return 0
        raise errors.graph.integer_result(d.name, result.dtype)
    if output:
        describe(node, output, result)
    else:
        describe_first(node, result)
    set_grad_fn(result, node, output)
    return 0


cdef int _save_results(Derivative d, OpNode node, object result) except -1:
    cdef int i
    cdef Slot* slot
    for i in range(d.n_slots):
        slot = &d.slots[i]
        if slot.source == FROM_RESULT:
            item = result if type(result) is Tensor else (<tuple>result)[slot.index]
            if type(item) is Tensor:
                node.keep_result(i, <Tensor>item, (<Tensor>item).output_nr)
            else:
                keep(node, i, None)
    return 0


# ---- what the operator table registers ----

RECORD_FUNCTIONAL = recording(_record_functional, f"{__name__}:_record_functional")
RECORD_BY_INPUTS = recording(_record_by_inputs, f"{__name__}:_record_by_inputs")
RECORD_INPLACE = recording(_record_inplace, f"{__name__}:_record_inplace")
FORGET_HISTORY = recording(_forget_history, f"{__name__}:_forget_history")
RECORD_METADATA = recording(_record_metadata, f"{__name__}:_record_metadata")
REFUSE_OUT = recording(_refuse_out, f"{__name__}:_refuse_out")
TRACK_VIEW = CKernel.new(_ad_view, None, NULL, f"{__name__}:_ad_view")
BUMP_INPLACE = CKernel.new(_ad_inplace, None, NULL, f"{__name__}:_ad_inplace")
BUMP_OUT = CKernel.new(_ad_out, None, NULL, f"{__name__}:_ad_out")
