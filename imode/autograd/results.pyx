"""The results of custom functions: what `forward` returned, connected to the graph."""
import warnings

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_SIZE, PyTuple_GetSlice, PyTuple_New, PyTuple_SET_ITEM
from imode._core.dispatch cimport call1, inference_mode_on, operator, tls
from imode._core.dtype cimport FLOAT16, code_of, dtype_from_typenum
from imode._core.geometry cimport shape_of
from imode._core.making cimport alias_of
from imode._core.tensor cimport (
    IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, Tensor, current, is_inference, is_tensor, requires_grad,
    typenum, version_of)
from imode.autograd.custom cimport FunctionNode, items_of
from imode.autograd.saved cimport SavedTensor, save_input, save_result
from imode.autograd.views cimport (
    check_inplace, check_write, count_write, rebase_history, track_alias)
from imode.places cimport here

from imode._core.origins import operator_id


cdef object finish(FunctionNode ctx, PyObject** args, Py_ssize_t n_args, object result,
                   bint recorded, bint separate):
    """Connect the results to the node, and keep what is to be saved."""
    cdef bint several = isinstance(result, tuple)
    cdef PyObject* single = <PyObject*>result
    cdef PyObject** raw = items_of(result) if several else &single
    cdef Py_ssize_t n = PyTuple_GET_SIZE(result) if several else 1
    cdef tuple to_save = _marked(ctx.to_save, "to_save")
    cdef tuple no_gradient = _marked(ctx.non_differentiable, "non_differentiable")
    cdef tuple dirty = _marked(ctx.dirty_tensors, "dirty_tensors")
    cdef tuple blocked = None
    cdef Py_ssize_t i
    cdef int n_differentiable = 0
    if separate:
        blocked = (to_save or ()) + (_marked(ctx.saved_for_forward, "saved_for_forward") or ())
    if recorded:
        if to_save is not None:
            _check_saved(to_save)
        ctx.set_outputs(<int>n)
    ctx.to_save = ctx.saved_for_forward = ctx.non_differentiable = ctx.dirty_tensors = None
    if no_gradient is not None:
        _check_no_gradient(no_gradient)
    if dirty is not None:
        _bump_dirty(ctx, dirty)
    if several:
        wrapped = PyTuple_New(n)
        for i in range(n):
            item = <object>raw[i]
            if is_tensor(raw[i]):
                item = _wrap(ctx, args, n_args, <Tensor>item, i, n, recorded, no_gradient, dirty,
                             blocked, &n_differentiable)
            Py_INCREF(item)
            PyTuple_SET_ITEM(wrapped, i, item)
        if n_differentiable > 1:
            for item in <tuple>wrapped:
                if type(item) is Tensor and (<Tensor>item).view is not None:
                    (<Tensor>item).view.creation = MULTI_OUTPUT_NODE
    elif is_tensor(single):
        wrapped = _wrap(ctx, args, n_args, <Tensor>result, 0, 1, recorded, no_gradient, dirty,
                        blocked, &n_differentiable)
    else:
        wrapped = result
    if dirty is not None:
        for item in dirty:
            if not _among(<Tensor>item, raw, n):
                raise RuntimeError(
                    "Some elements marked as dirty during the forward method were not returned as "
                    "output. The inputs that are modified inplace must all be outputs of the "
                    "Function.")
    if recorded and to_save is not None:
        _save(ctx, to_save, dirty)
    return wrapped


# ---- what the context was told ----

cdef tuple _marked(object value, str what):
    """What the context was told, checked to be a tuple; None for nothing."""
    if value is not None and not isinstance(value, tuple):
        raise RuntimeError(f"{what} attribute is expected to be a tuple but is "
                           f"{type(value).__name__}")
    return value


cdef inline bint _among(Tensor tensor, PyObject** items, Py_ssize_t n) noexcept:
    """Whether a tensor is one of the items: the object itself, not its value."""
    cdef Py_ssize_t i
    for i in range(n):
        if items[i] == <PyObject*>tensor:
            return True
    return False


cdef inline bint _in(Tensor tensor, tuple items) noexcept:
    return items is not None and _among(tensor, items_of(items), PyTuple_GET_SIZE(items))


cdef int _check_saved(tuple to_save) except -1:
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(to_save)):
        item = to_save[i]
        if type(item) is not Tensor and item is not None:
            raise TypeError("save_for_backward can only save variables, but argument "
                            f"{i} is of type {type(item).__name__}. Keep it as an attribute of ctx")
    return 0


cdef int _check_no_gradient(tuple marked) except -1:
    for item in marked:
        if type(item) is not Tensor:
            raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got \n"
                               f"a {type(item).__name__}. Mark the tensors among the results")
    return 0


cdef int _bump_dirty(FunctionNode ctx, tuple dirty) except -1:
    for i, item in enumerate(dirty):
        if type(item) is not Tensor:
            raise RuntimeError("mark_dirty can only accept variables, but argument \n"
                               f"{i} is of type {type(item).__name__}. Mark the inputs that "
                               "forward writes to")
        check_write(operator_id(_forward_name(ctx)), <Tensor>item)
        count_write(operator_id(_forward_name(ctx)), <Tensor>item)
    return 0


cdef str _forward_name(FunctionNode ctx):
    """The custom function's name, for messages."""
    return type(ctx)._forward_cls.__name__


cdef int _save(FunctionNode ctx, tuple to_save, tuple dirty) except -1:
    cdef object kept = PyTuple_New(PyTuple_GET_SIZE(to_save))
    cdef object saved
    cdef Tensor tensor
    cdef Py_ssize_t i
    cdef int place = here()
    for i in range(PyTuple_GET_SIZE(to_save)):
        saved = to_save[i]
        if saved is not None:
            tensor = <Tensor>saved
            if tensor.grad_fn is ctx or (tensor.grad_fn is not None and _in(tensor, dirty)):
                # A written view has a node of its own, which leads here: to keep it were a cycle.
                saved = save_result(tensor, tensor.output_nr if tensor.grad_fn is ctx else 0)
                (<SavedTensor>saved).view_node = None    # unpacked, it shows this node
            elif not is_inference(tensor):
                saved = save_input(tensor, None)
            else:
                # Refused. What forward wrote to has its history, with what was saved so far.
                ctx.kept = PyTuple_GetSlice(kept, 0, i)
                save_input(tensor, _forward_name(ctx))
            (<SavedTensor>saved).place = place
        Py_INCREF(saved)
        PyTuple_SET_ITEM(kept, i, saved)
    ctx.kept = kept
    return 0


cdef Tensor _wrap(FunctionNode ctx, PyObject** args, Py_ssize_t n_args, Tensor tensor,
                  Py_ssize_t output, Py_ssize_t n, bint recorded, tuple no_gradient, tuple dirty,
                  tuple blocked, int* n_differentiable):
    """The result that `apply` returns for one that `forward` returned."""
    cdef bint is_input = _among(tensor, args, n_args)
    cdef bint modified = _in(tensor, dirty)
    cdef Tensor out = tensor
    if not recorded or code_of[typenum(tensor)] < FLOAT16 or _in(tensor, no_gradient):
        if recorded:
            _remember_blank(ctx, output, n, tensor)
        if not requires_grad(tensor):
            if is_input and not modified:
                _refuse_saved(tensor, blocked)
                out = _view_as_self(tensor)
        elif is_input:
            out = call1(operator("detach"), tensor)
        elif tensor.view is None and not inference_mode_on(tls()):
            tensor.grad_fn, tensor.output_nr, tensor.leaf_requires_grad = None, 0, False
        # A view of something that requires grad stays as it is, as one made under no_grad does.
    else:
        n_differentiable[0] += 1
        ctx.describe(<int>output, tensor)
        if modified:
            _rewrite(ctx, args, n_args, tensor, output, n)
        else:
            if is_input:
                _refuse_saved(tensor, blocked)
                out = _view_as_self(tensor)
            out.grad_fn = ctx
            out.output_nr = <int>output
            if out.view is not None:
                out.view.attr_version = current(version_of(out))
    if out.view is not None and not (is_input and modified):
        out.view.creation = IN_CUSTOM_FUNCTION
    return out


cdef int _remember_blank(FunctionNode ctx, Py_ssize_t output, Py_ssize_t n,
                         Tensor tensor) except -1:
    if ctx.blanks is None:
        ctx.blanks = [None] * n
    ctx.blanks[output] = shape_of(tensor), dtype_from_typenum(typenum(tensor))
    return 0


cdef int _refuse_saved(Tensor tensor, tuple blocked) except -1:
    if _in(tensor, blocked):
        raise RuntimeError(
            "An input that has been returned as-is as output is being saved for backward. This is "
            "not supported if you override setup_context. Return and save a view of it, "
            "x.view_as(x), or fill ctx in forward itself.")
    return 0


cdef Tensor _view_as_self(Tensor tensor):
    """`tensor.view_as(tensor)`, unrecorded."""
    cdef Tensor view = alias_of(tensor)
    if not is_inference(tensor):
        track_alias(tls().operator_id, tensor, view, False)
    return view


cdef int _rewrite(FunctionNode ctx, PyObject** args, Py_ssize_t n_args, Tensor tensor,
                  Py_ssize_t output, Py_ssize_t n) except -1:
    """Make the node the history of a tensor that `forward` wrote to."""
    cdef int edge = 0
    cdef Py_ssize_t i = 0
    if requires_grad(tensor) and tensor.grad_fn is None:
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation. "
            f"{_forward_name(ctx)} marks it as dirty: give it a .clone(), or call it under "
            "no_grad.")
    while i < n_args and args[i] != <PyObject*>tensor:
        edge += is_tensor(args[i])
        i += 1
    if i == n_args:
        edge = -1
        said = (
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
            "have been mutated should be passed to ctx.mark_dirty().")
        if tensor.view is not None:
            raise RuntimeError(said)
        warnings.warn(said, UserWarning, stacklevel=1)
    if tensor.view is not None and n > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor. Give it a .clone() of the view, or split "
            "it in two: one that writes and returns that tensor alone, one for the rest.")
    check_inplace(f"{_forward_name(ctx)}.apply", tensor)
    if tensor.meta is not None:
        tensor.meta.grad = tensor.meta.hooks = None
    rebase_history(tensor, ctx, <int>output, edge)
    return 0
