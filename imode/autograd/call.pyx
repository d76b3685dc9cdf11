"""One call of a custom function: read the arguments, run `forward`, connect its results."""
import inspect
from types import FunctionType

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_SIZE, PyTuple_GetSlice, PyTuple_New, PyTuple_SET_ITEM
from imode._core.dispatch cimport TLS, call1, inference_mode_on, operator, tls
from imode._core.dtype cimport FLOAT8_E4M3FN, code_of, dtype_from_typenum
from imode._core.geometry cimport shape_of
from imode._core.making cimport alias_of
from imode._core.tensor cimport (
    IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, Tensor, current, forget_history, is_inference, is_tensor,
    requires_grad, set_grad_fn, typenum, version_of)
from imode.autograd.custom cimport IS_TENSOR, NEEDS_GRAD, STACK, FunctionNode, items_of
from imode.autograd.leaves cimport connect
from imode.autograd.node cimport describe
from imode.autograd.saved cimport SavedTensor, save_input, save_result
from imode.autograd.views cimport (
    check_inplace, check_write, count_write, rebase_history, track_alias)
from imode._core.user_frames cimport here
from libc.string cimport memcpy

from imode._core.provenance import operator_id
from imode._core.user_frames import warn
from imode.autograd.custom import setup_context

cdef extern from "Python.h":
    object PyObject_Vectorcall(object f, PyObject** args, size_t n, PyObject* names)
    bytes PyBytes_FromStringAndSize(char*, Py_ssize_t)
    char* PyBytes_AS_STRING(object)

cdef extern from *:
    """
    /* A new object of `cls`, a subclass of `base`, without running __init__. */
    static PyObject *imode_new_context(PyObject *base, PyObject *cls) {
        static PyObject *empty;
        if (empty == NULL && (empty = PyTuple_New(0)) == NULL) return NULL;
        if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, (PyTypeObject *)base)) {
            PyErr_SetString(PyExc_TypeError, "_backward_cls is not the class of a context");
            return NULL;
        }
        return ((PyTypeObject *)base)->tp_new((PyTypeObject *)cls, empty, NULL);
    }

    /* A builtin that takes its arguments on the C stack; the class is the first of them. */
    typedef PyObject *(*imode_entry_t)(PyObject *, PyObject **, Py_ssize_t, PyObject *);
    static PyMethodDef imode_apply = {"apply", NULL, METH_FASTCALL | METH_KEYWORDS, NULL};
    static PyObject *imode_new_apply(imode_entry_t entry, PyObject *module, const char *doc) {
        imode_apply.ml_meth = (PyCFunction)(void (*)(void))entry;
        imode_apply.ml_doc = doc;
        return PyCFunction_NewEx(&imode_apply, NULL, module);
    }
    """
    FunctionNode new_context "imode_new_context"(object base, object cls)
    object new_apply "imode_new_apply"(
        object (*entry)(PyObject*, PyObject**, Py_ssize_t, PyObject*), object module, char* doc)

cdef object _setup_context = setup_context


# ---- the call ----

cdef object _apply_entry(PyObject* module, PyObject** args, Py_ssize_t n, PyObject* names):
    cdef bint separate
    cdef tuple bound
    if n == 0 or not isinstance(<object>args[0], type):
        raise TypeError("apply() is a class method of a custom function")
    cls = <object>args[0]
    separate = cls.setup_context is not _setup_context
    if names != NULL or (separate and not _complete(cls.forward, n - 1)):
        keywords = () if names == NULL else <tuple><object>names
        bound = _bound(cls.forward, tuple([<object>args[i] for i in range(1, n)]),
                       {keywords[i]: <object>args[n + i] for i in range(len(keywords))}, separate)
        return _call(cls, items_of(bound), PyTuple_GET_SIZE(bound), separate)
    return _call(cls, args + 1, n - 1, separate)


cdef bytes _APPLY_DOC = b"""apply($cls, /, *args, **kwargs)
--

Run the function: forward's results, connected to the graph if an argument requires grad and
recording is on.

Raises what forward raises; RuntimeError where the results contradict what ctx was told, or where a
tensor to be saved is an inference tensor.
"""
apply = classmethod(new_apply(_apply_entry, __name__, _APPLY_DOC))


cdef object _call(object cls, PyObject** args, Py_ssize_t n, bint separate):
    cdef FunctionNode ctx = new_context(FunctionNode, cls._backward_cls)
    cdef TLS* state = tls()
    cdef int no_grad = state.no_grad
    cdef int read = _read_arguments(ctx, args, n, not no_grad)
    cdef bint recorded = read == RECORDED
    cdef PyObject* values[STACK + 1]
    cdef object forward, result, inputs
    if read == HELD:
        from imode._core.overriding import apply_held

        return apply_held(cls.apply, _as_tuple(args, n))
    ctx.clear_on_access = _flag(cls.clear_saved_tensors_on_access, "clear_saved_tensors_on_access")
    ctx.boxed = _flag(cls.boxed_grads_call, "boxed_grads_call")
    forward = cls.forward
    state.no_grad = 1
    try:
        if separate or n > STACK:
            inputs = _as_tuple(args, n)
            if separate:
                result = forward(*inputs)
                cls.setup_context(ctx, inputs, result)
            else:
                result = forward(ctx, *inputs)
        else:
            values[0] = <PyObject*>ctx
            memcpy(values + 1, args, n * sizeof(PyObject*))
            result = PyObject_Vectorcall(forward, values, n + 1, NULL)
    finally:
        state.no_grad = no_grad
    return _finish(ctx, args, n, result, recorded, separate)


cdef inline bint _flag(object value, str name) except -1:
    if value is False:
        return False
    if value is not True:
        raise RuntimeError(f"{name} must be a bool, got {type(value).__name__}")
    return True


cdef tuple _as_tuple(PyObject** items, Py_ssize_t n):
    cdef Py_ssize_t i
    cdef object result = PyTuple_New(n)
    for i in range(n):
        Py_INCREF(<object>items[i])
        PyTuple_SET_ITEM(result, i, <object>items[i])
    return result


cdef enum:
    RECORDED = 1
    HELD = 2                      # an argument is an object of a subclass of Tensor


cdef int _read_arguments(FunctionNode ctx, PyObject** args, Py_ssize_t n,
                         bint recording) except -1:
    """Note which arguments are tensors and which require grad, and connect the edges; return
    whether the call is RECORDED, or HELD."""
    cdef Py_ssize_t i
    cdef int n_tensors = 0
    cdef char any_flag = 0
    cdef char small[STACK]
    cdef char* flags = small
    if n > STACK:
        ctx.arguments = PyBytes_FromStringAndSize(NULL, n)
        flags = PyBytes_AS_STRING(ctx.arguments)
    for i in range(n):
        flags[i] = 0
        if is_tensor(args[i]):
            flags[i] = IS_TENSOR | NEEDS_GRAD if requires_grad(<Tensor>args[i]) else IS_TENSOR
            n_tensors += 1
            any_flag |= flags[i]
        elif hasattr(type(<object>args[i]), "_imode_tensor"):
            return HELD
    if n <= STACK:
        ctx.arguments = PyBytes_FromStringAndSize(small, n)
    if not recording or not any_flag & NEEDS_GRAD:
        return 0
    ctx.set_edges(n_tensors)
    n_tensors = 0
    for i in range(n):
        if is_tensor(args[i]):
            connect(ctx, n_tensors, <Tensor>args[i])
            n_tensors += 1
    tls().nodes += 1
    return RECORDED


# ---- arguments by keyword, and defaults ----

cdef bint _complete(object forward, Py_ssize_t n):
    """Whether n arguments by position leave none of the parameters to a default."""
    if type(forward) is not FunctionType or forward.__dict__:
        return False
    code = forward.__code__
    return not code.co_kwonlyargcount and not code.co_flags & inspect.CO_VARKEYWORDS and (
        n >= code.co_argcount if code.co_flags & inspect.CO_VARARGS else n == code.co_argcount)


cdef tuple _bound(object forward, tuple args, dict keywords, bint separate):
    """The arguments by position: keywords resolved, and defaults filled in where `forward` takes no
    context."""
    if separate:
        found = inspect.signature(forward).bind(*args, **keywords)
        found.apply_defaults()
        args, keywords = found.args, found.kwargs
        if not keywords:
            return args
    code = forward.__code__
    names = code.co_varnames[0 if separate else 1:code.co_argcount]
    values = list(args)
    last = -1
    for name in keywords:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
        last = max(last, names.index(name))
    for position in range(len(args), last + 1):
        if names[position] not in keywords:
            raise TypeError(f"forward() missing required argument: '{names[position]}' (position "
                            f"{position})")
        values.append(keywords[names[position]])
    return tuple(values)


# ---- the results ----


cdef object _finish(FunctionNode ctx, PyObject** args, Py_ssize_t n_args, object result,
                    bint recorded, bint separate):
    """Connect the results to the node, and save what `ctx` was told to save."""
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


# ---- the marks that forward left on the context ----

cdef tuple _marked(object value, str what):
    """The tensors given to a method of `ctx`, checked to be a tuple; None: not called."""
    if value is not None and not isinstance(value, tuple):
        raise RuntimeError(f"{what} attribute is expected to be a tuple but is "
                           f"{type(value).__name__}")
    return value


cdef inline bint _among(Tensor tensor, PyObject** items, Py_ssize_t n) noexcept:
    """Whether a tensor is one of the items, compared by identity."""
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
    cdef object all_saved = PyTuple_New(PyTuple_GET_SIZE(to_save))
    cdef object saved
    cdef Tensor tensor
    cdef Py_ssize_t i
    cdef int line = here()
    for i in range(PyTuple_GET_SIZE(to_save)):
        saved = to_save[i]
        if saved is not None:
            tensor = <Tensor>saved
            if tensor.grad_fn is ctx or (tensor.grad_fn is not None and _in(tensor, dirty)):
                # A view that was written has its own node, which leads here: saving the view
                # itself would make a reference cycle.
                saved = save_result(tensor, tensor.output_nr if tensor.grad_fn is ctx else 0)
                (<SavedTensor>saved).view_node = None    # unpacked, its grad_fn is this node
            elif not is_inference(tensor):
                saved = save_input(tensor, None)
            else:
                # Raises. What forward wrote to already has ctx as its history, which therefore
                # keeps what was saved so far.
                ctx.all_saved = PyTuple_GetSlice(all_saved, 0, i)
                save_input(tensor, _forward_name(ctx))
            (<SavedTensor>saved).saved_at = line
        Py_INCREF(saved)
        PyTuple_SET_ITEM(all_saved, i, saved)
    ctx.all_saved = all_saved
    return 0


cdef Tensor _wrap(FunctionNode ctx, PyObject** args, Py_ssize_t n_args, Tensor tensor,
                  Py_ssize_t output, Py_ssize_t n, bint recorded, tuple no_gradient, tuple dirty,
                  tuple blocked, int* n_differentiable):
    """What `apply` returns in place of a tensor that `forward` returned."""
    cdef bint is_input = _among(tensor, args, n_args)
    cdef bint modified = _in(tensor, dirty)
    cdef Tensor out = tensor
    if not recorded or code_of[typenum(tensor)] < FLOAT8_E4M3FN or _in(tensor, no_gradient):
        if recorded:
            _remember_blank(ctx, output, n, tensor)
        if not requires_grad(tensor):
            if is_input and not modified:
                _refuse_saved(tensor, blocked)
                out = _view_as_self(tensor)
        elif is_input:
            out = call1(operator("detach"), tensor)
        elif tensor.view is None and not inference_mode_on(tls()):
            forget_history(tensor)
        # A view of a tensor that requires grad stays as it is, like a view made under no_grad.
    else:
        n_differentiable[0] += 1
        describe(ctx, <int>output, tensor)
        if modified:
            _rewrite(ctx, args, n_args, tensor, output, n)
        else:
            if is_input:
                _refuse_saved(tensor, blocked)
                out = _view_as_self(tensor)
            if out.view is not None:
                out.view.attr_version = current(version_of(out))
            set_grad_fn(out, ctx, <int>output)
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
    """Make `ctx` the history of a tensor that `forward` wrote to."""
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
        warn(said)
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
