"""What an operator of a library records, whoever wrote its kernels.

    schema             Autograd                                     ADInplaceOrView
    functional         the node of its derivative, or one that      (fallthrough)
                       says that there is none
    Tensor(a)          a view's derivative follows from its         record the view
                       geometry
    Tensor(a!)         check, give the tensor a node that raises    bump the version
"""
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.allocator cimport root
from imode._core.dispatch cimport (
    MAX_ARGS, TENSOR_LIST, TLS, CKernel, Operator, inplace_target, recording, redispatch, tls)
from imode._core.dtype cimport FLOAT8_E4M3FN, code_of
from imode._core.keyset cimport AD_INPLACE_OR_VIEW, AUTOGRAD, below, keyset_t
from imode._core.layers cimport Signature
from imode._core.tensor cimport (
    DEFAULT, Tensor, current, is_tensor, requires_grad, set_grad_fn, typenum, version_of)
from imode.autograd.custom cimport Error
from imode.autograd.leaves cimport connect
from imode.autograd.node cimport describe
from imode.autograd.views cimport (
    check_inplace, check_write, count_write, rebase_history, track)
from libc.stdint cimport uint64_t

from imode import errors


cdef list _tensors(Operator op, PyObject** args):
    """All tensors among the arguments, those in lists too."""
    cdef list found = []
    cdef PyObject* arg
    cdef int i
    for i in range(op.n_tensors):
        arg = args[op.tensors[i]]
        if is_tensor(arg):
            found.append(<object>arg)
        elif op.kinds[op.tensors[i]] == TENSOR_LIST:
            found.extend(<tuple><object>arg)
    return found


cdef list _written(Operator op, PyObject** args):
    """The tensors that the operator writes to, by its schema."""
    cdef list found = []
    cdef int at
    for at in (<Signature>op.signature).written:
        if is_tensor(args[at]):
            found.append(<object>args[at])
        elif op.kinds[at] == TENSOR_LIST:
            found.extend(<tuple><object>args[at])
    return found


# ---- ADInplaceOrView ----

cdef object _write_or_view(Operator op, keyset_t keys, PyObject** args):
    cdef list written = _written(op, args)
    for tensor in written:
        check_write(op.id, <Tensor>tensor)
    result = redispatch(op, keys & below(AD_INPLACE_OR_VIEW), args)
    for tensor in written:
        count_write(op.id, <Tensor>tensor)
    for at, value, several in _views(op, args, result):
        _track(op, args, at, <Tensor>value, several)
    return result


cdef list _views(Operator op, PyObject** args, object result):
    """(position of the argument, view of it, whether one of several) for each result that is one.
    """
    cdef Signature signature = <Signature>op.signature
    cdef list found = []
    cdef int i, at
    cdef int n = <int>len(signature.results)
    for i in range(n):
        at = signature.alias_of[i]
        if at < 0 or signature.identical[i] or not is_tensor(args[at]):
            continue
        value = result if n == 1 else result[i]
        several = isinstance(value, list)
        for item in value if several else (value,):
            if type(item) is Tensor and <PyObject*>item != args[at] and (
                    root((<Tensor>item).array) == root((<Tensor>args[at]).array)):
                found.append((at, item, several))
    return found


cdef int _track(Operator op, PyObject** args, int at, Tensor view, bint several) except -1:
    if at and typenum(view) != typenum(<Tensor>args[at]):
        raise errors.library.view_of_another_dtype(op)
    return track(op, args, <Tensor>args[at], view, several)


# ---- Autograd ----

cdef object _record_outside(Operator op, keyset_t keys, PyObject** args):
    cdef TLS* state = tls()
    cdef PyObject* arg
    cdef bint wanted = False
    cdef Py_ssize_t k
    cdef int i
    if not state.no_grad:
        for i in range(op.n_tensors):
            arg = args[op.tensors[i]]
            if is_tensor(arg):
                wanted |= requires_grad(<Tensor>arg)
            elif op.kinds[op.tensors[i]] == TENSOR_LIST:
                for k in range(PyTuple_GET_SIZE(<object>arg)):
                    wanted |= requires_grad(<Tensor>PyTuple_GET_ITEM(<object>arg, k))
    if not wanted:
        return redispatch(op, keys & below(AUTOGRAD), args)
    if (<Signature>op.signature).functional:
        return _record_formula(op, keys, tuple([<object>args[i] for i in range(op.nargs)]))
    return _record_write_or_view(op, keys, args)


cdef object _record = None        # recording.record, imported by the first call that is recorded


cdef object _record_formula(Operator op, keyset_t keys, tuple args):
    global _record
    if _record is None:
        from imode.library.recording import record

        _record = record
    return _record(op, keys & below(AUTOGRAD), args)


def run_below(Operator op not None, uint64_t keys, tuple args not None):
    """Run the kernel of the highest of `keys` on arguments that are bound already."""
    cdef PyObject* values[MAX_ARGS + 1]
    cdef int i
    if len(args) != op.nargs:
        raise TypeError(f"run_below(): expected {op.nargs} arguments, got {len(args)}")
    for i in range(op.nargs):
        values[i] = PyTuple_GET_ITEM(args, i)
    values[op.nargs] = inplace_target(op, values)
    return redispatch(op, keys, values)


cdef object _record_write_or_view(Operator op, keyset_t keys, PyObject** args):
    cdef list written = _written(op, args)
    cdef Error node = Error.__new__(Error)
    cdef Tensor tensor
    cdef int i, n
    for item in written:
        check_write(op.id, <Tensor>item)
        check_inplace(op.qualified_name, <Tensor>item)
    inputs = [item for item in _tensors(op, args) if requires_grad(<Tensor>item)]
    edges = {}
    node.message = errors.library.no_formula(op)
    node.set_edges(<int>len(inputs))
    for i in range(len(inputs)):
        connect(node, i, <Tensor>inputs[i])
        edges.setdefault(id(inputs[i]), i)
    result = redispatch(op, keys & below(AUTOGRAD), args)
    outputs = [item for item in written if code_of[typenum(<Tensor>item)] >= FLOAT8_E4M3FN]
    n = <int>len(outputs)
    outputs += _unwritten(op, args, result)
    if not outputs:
        return result
    node.set_outputs(<int>len(outputs))
    for i in range(len(outputs)):
        tensor = <Tensor>outputs[i]
        describe(node, i, tensor)
        if i < n:
            rebase_history(tensor, node, i, edges.get(id(tensor), -1))
            continue
        if tensor.view is not None:
            tensor.view.attr_version = current(version_of(tensor))
        set_grad_fn(tensor, node, i)
    tls().nodes += 1
    return result


cdef list _unwritten(Operator op, PyObject** args, object result):
    """The results that become results of the node: not integers, no argument, and no view whose
    derivative follows from its geometry."""
    cdef list found = []
    cdef list given = _tensors(op, args)
    cdef Tensor tensor
    for value in result if isinstance(result, tuple) else (result,):
        for item in value if isinstance(value, list) else (value,):
            if type(item) is not Tensor or code_of[typenum(<Tensor>item)] < FLOAT8_E4M3FN:
                continue
            if any([item is other for other in given]):
                continue
            tensor = <Tensor>item
            if tensor.view is not None and tensor.view.creation == DEFAULT:
                tensor.view.attr_version = <uint64_t>-1       # regenerated when it is first read
            elif tensor.grad_fn is None and not tensor.leaf_requires_grad:
                found.append(item)
    return found


WRITE_OR_VIEW = CKernel.new(_write_or_view, None, NULL, f"{__name__}:_write_or_view")
RECORD_OUTSIDE = recording(_record_outside, f"{__name__}:_record_outside")
