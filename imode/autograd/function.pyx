"""Custom functions: operations whose backward is written by the user.

One call of `Function.apply` makes one node, the `ctx` that the user's `forward` and `backward` see.
`forward` runs unrecorded; then its results are connected to the node by what they are: new tensors,
inputs written in place, inputs returned as they came, views. Nothing in the node refers to the
results, so a graph that goes out of scope is freed at once.
"""
import functools
import inspect
import warnings
from types import FunctionType

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.dispatch cimport call1, call2, operator, tls
from imode._core.dtype cimport code_of, dtype_from_typenum, is_complex
from imode._core.tensor cimport (
    IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, Tensor, bump, current, is_inference, is_tensor,
    requires_grad, storage, typenum, version_of)
from imode.autograd.node cimport Node, OutputMeta, meta_shape
from imode.autograd.saved cimport SavedTensor, save_input, save_result, unpack
from imode.autograd.views cimport check_inplace, check_write, rebase_history

from imode import errors

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction",
           "once_differentiable"]

cdef extern from "Python.h":
    object PyObject_Vectorcall(object f, PyObject** args, size_t n, PyObject* names)
    bytes PyBytes_FromStringAndSize(char*, Py_ssize_t)
    char* PyBytes_AS_STRING(object)
    PyObject* PyTuple_GET_ITEM(object, Py_ssize_t)
    Py_ssize_t PyTuple_GET_SIZE(object)
    object PyTuple_New(Py_ssize_t)
    void PyTuple_SET_ITEM(object, Py_ssize_t, object)

cdef enum:
    STACK = 8                 # arguments of a call that need no allocation


# ---- the context ----

class FunctionCtx:
    """What `forward` and `setup_context` tell a custom function about its call."""

    def save_for_backward(self, *tensors):
        """Keep tensors (or None) for `backward`, which finds them in `ctx.saved_tensors`.

        To be called once. Inputs and results belong here and not into attributes of `ctx`: this
        way they are checked for in-place writes, make no reference cycle, and saved-tensor hooks
        apply to them. TypeError is raised after `forward` for anything that is no tensor.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors (or None) for `jvp`; imode has no forward mode, so nothing reads them."""
        for tensor in tensors:
            if tensor is not None and type(tensor) is not Tensor:
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    "non-tensors as attributes on ctx.")
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        """Say which inputs `forward` writes in place. Each must be among the results."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args):
        """Say which results have no gradient; `backward` still takes an argument for each."""
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs):
        """Does nothing: tensors that share storage are tracked without it."""
        warnings.warn("`mark_shared_storage` is deprecated. Tensors with shared storages are "
                      "automatically tracked.", FutureWarning, stacklevel=2)

    def set_materialize_grads(self, value):
        """Say whether `backward` gets zeros (True, the default) or None for a result that no
        gradient reached."""
        self.materialize_grads = value


cdef class FunctionNode(Node):
    """The context of one call, and its node in the graph."""

    def __cinit__(self):
        self.materialize = True

    @property
    def materialize_grads(self):
        """Whether `backward` gets zeros for a result that no gradient reached."""
        return self.materialize

    @materialize_grads.setter
    def materialize_grads(self, value):
        if type(value) is not bool:
            raise TypeError("set_materialize_grads received an invalid combination of arguments - "
                            f"got ({type(value).__name__}), but expected (bool)")
        self.materialize = value

    @property
    def saved_tensors(self):
        """What `save_for_backward` kept: a tuple of tensors and None.

        RuntimeError once a backward freed them, or if one was written to in place since.
        """
        if self.cleared:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Keep the tuple that the first access gave, or "
                "leave clear_saved_tensors_on_access at False.")
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        if self.released:
            raise errors.graph_freed(self.name())
        if self.kept is None:
            return ()
        found = tuple([None if item is None else unpack(<SavedTensor>item, self)
                       for item in self.kept])
        if self.clear_on_access:
            self.kept = None
            self.cleared = True
        return found

    @property
    def saved_variables(self):
        """The old name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning,
                      stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self):
        """The SavedTensor objects behind `saved_tensors`."""
        if self.released:
            raise errors.graph_freed(self.name())
        return self.kept or ()

    @property
    def requires_grad(self):
        """True."""
        return True

    def maybe_clear_saved_tensors(self):
        """Free the saved tensors before the node has run."""
        self.release()

    cdef void release(self):
        self.kept = None
        self.released = True

    cdef int apply(self, PyObject** grads, PyObject** out) except -1:
        cdef PyObject* values[STACK + 1]
        cdef list gradients
        cdef object result
        cdef object backward = _backward_of(type(self)._forward_cls)
        cdef int i
        cdef int n = self.n_outputs
        gradients = [self._gradient(i, grads[i]) for i in range(n)]
        if self.boxed:
            result = backward(self, gradients)
        elif n <= STACK:
            values[0] = <PyObject*>self
            for i in range(n):
                values[i + 1] = <PyObject*>gradients[i]
            result = PyObject_Vectorcall(backward, values, n + 1, NULL)
        else:
            result = backward(self, *gradients)
        return self._deliver(result if isinstance(result, tuple) else (result,), out)

    cdef object _gradient(self, int output, PyObject* grad):
        """The gradient of a result as `backward` gets it."""
        cdef OutputMeta* meta
        cdef int d
        if grad != NULL:
            return <object>grad
        if not self.materialize:
            return None
        meta = &self.outputs[output]
        if meta.typenum >= 0:
            shape = tuple([meta_shape(meta)[d] for d in range(meta.nd)])
            dtype = dtype_from_typenum(meta.typenum)
        elif self.blanks is None or self.blanks[output] is None:
            return None
        else:
            shape, dtype = self.blanks[output]
        return operator("zeros")(shape, dtype=dtype)

    cdef int _deliver(self, tuple result, PyObject** out) except -1:
        """Check what `backward` returned, and put the gradients on their edges."""
        cdef Py_ssize_t expected = len(self.is_tensor)
        cdef Py_ssize_t got = len(result)
        cdef Py_ssize_t i
        cdef int edge = 0
        cdef OutputMeta* meta
        cdef PyObject* gradient
        while got > expected and result[got - 1] is None:
            got -= 1                     # more than were asked for, but None
        if got != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{expected}, got {len(result)})")
        for i in range(expected):
            gradient = PyTuple_GET_ITEM(result, i)
            if not self.is_tensor[i]:
                if gradient != <PyObject*>None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at "
                        f"position {i + 1}, but the corresponding forward input was not a Variable")
                continue
            edge += 1
            if gradient == <PyObject*>None:
                continue
            if not is_tensor(gradient):
                raise RuntimeError(
                    f"expected Variable or None (got {type(<object>gradient).__name__}). "
                    f"{self.name()} must return one of them per argument of forward")
            if self.edges[edge - 1].node == NULL:
                continue
            meta = &(<Node>self.edges[edge - 1].node).outputs[self.edges[edge - 1].input_nr]
            if meta.typenum >= 0 and is_complex(code_of[typenum(<Tensor>gradient)]) and (
                    not is_complex(code_of[meta.typenum])):
                raise RuntimeError(
                    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                    "grad_is_complex) to be true, but got false. "
                    f"{self.name()} returned a complex gradient for a real argument at position "
                    f"{i + 1}; return its real part")
            Py_INCREF(<object>gradient)
            out[edge - 1] = gradient
        return 0


class BackwardCFunction(FunctionNode, FunctionCtx):
    """The base of the classes of contexts: `MyFunctionBackward` for a custom `MyFunction`."""

    def __init__(self):
        pass

    def apply(self, *args):
        """Call the custom function's `backward` with gradients of its results."""
        backward = _backward_of(type(self)._forward_cls)
        return backward(self, list(args)) if type(self)._forward_cls.boxed_grads_call else (
            backward(self, *args))


# ---- the class that users derive from ----

class FunctionMeta(type):
    """Gives each custom function the class of its contexts."""

    def __init__(cls, name, bases, attrs):
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {
            "_forward_cls": cls, "__module__": __name__})
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """An operation with a backward of its own; to be derived from and called by `apply`.

    `forward(ctx, *args)` computes the results from tensors and anything else, unrecorded;
    `backward(ctx, *grads)` takes a gradient per result and returns one, or None, per argument.
    `backward` is recorded under `create_graph`, so what it computes from `ctx.saved_tensors` can be
    differentiated again. Alternatively `forward(*args)` does without `ctx`, and
    `setup_context(ctx, inputs, output)` follows it.

    >>> import imode
    >>> class Exp(imode.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         result = x.exp()
    ...         ctx.save_for_backward(result)
    ...         return result
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (result,) = ctx.saved_tensors
    ...         return grad * result
    >>> x = imode.zeros(2, requires_grad=True)
    >>> Exp.apply(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """

    generate_vmap_rule = False                # imode has no vmap: nothing reads it
    clear_saved_tensors_on_access = False     # the first reading of saved_tensors frees them
    boxed_grads_call = False                  # backward(ctx, [grads]): a list that it may empty

    def __init__(self, *args, **kwargs):
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself.", DeprecationWarning,
            stacklevel=2)

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Make forward "
            f"and backward static methods, and call {type(self).__name__}.apply(...)")

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the results; to be overridden."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Fill `ctx` after a `forward` that takes none; to be overridden with such a one."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Compute the gradients of the arguments; to be overridden."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD.")

    vjp = backward                            # another name for it; one of the two is overridden

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Forward mode, which imode does not have: nothing calls it."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD. imode has no forward mode AD: nothing calls it.")

    @staticmethod
    def vmap(info, in_dims, *args):
        """Batching, which imode does not have: nothing calls it."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod "
            "or set generate_vmap_rule=True. imode has no vmap: nothing calls it.")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run the function: `forward`'s results, connected to the graph if an argument requires
        grad and recording is on.

        Raises what `forward` raises; RuntimeError where the results contradict what `ctx` was
        told, or where a tensor to be saved is an inference tensor.
        """
        cdef bint separate = cls.setup_context is not _setup_context
        if kwargs or (separate and not _complete(cls.forward, len(args))):
            args = _bound(cls.forward, args, kwargs, separate)
        return _call(cls, args, separate)


class InplaceFunction(Function):
    """A Function that knows whether to work in place; for old scripts."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


cdef object _setup_context = Function.setup_context
cdef object _no_backward = Function.backward


cdef object _backward_of(object cls):
    """The function that a custom function's class gives for its backward."""
    backward = cls.backward
    vjp = cls.vjp
    if vjp is _no_backward:
        return backward
    if backward is not _no_backward:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            "should only implement one of them.")
    return vjp


# ---- arguments ----

cdef bint _complete(object forward, Py_ssize_t n):
    """Whether n arguments by position leave none of the parameters to a default."""
    if type(forward) is not FunctionType or forward.__dict__:
        return False
    code = forward.__code__
    return not code.co_kwonlyargcount and not code.co_flags & inspect.CO_VARKEYWORDS and (
        n >= code.co_argcount if code.co_flags & inspect.CO_VARARGS else n == code.co_argcount)


cdef tuple _bound(object forward, tuple args, dict kwargs, bint separate):
    """The arguments by position: keywords put in their places, defaults filled in where `forward`
    takes no context."""
    if separate:
        bound = inspect.signature(forward).bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
    code = forward.__code__
    names = code.co_varnames[0 if separate else 1:code.co_argcount]
    values = list(args)
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    for position in range(len(args), 1 + max([names.index(name) for name in kwargs], default=-1)):
        if names[position] not in kwargs:
            raise TypeError(f"forward() missing required argument: '{names[position]}' (position "
                            f"{position})")
        values.append(kwargs[names[position]])
    return tuple(values)


# ---- one call ----

cdef object _call(object cls, tuple args, bint separate):
    cdef object backward_cls = cls._backward_cls
    cdef FunctionNode ctx = FunctionNode.__new__(backward_cls)
    cdef Py_ssize_t n = PyTuple_GET_SIZE(args)
    cdef int no_grad = tls().no_grad
    cdef bint recorded = _read_arguments(ctx, args, not no_grad)
    cdef PyObject* values[STACK + 1]
    cdef Py_ssize_t i
    cdef object result
    ctx.clear_on_access = _flag(cls.clear_saved_tensors_on_access, "clear_saved_tensors_on_access")
    ctx.boxed = _flag(cls.boxed_grads_call, "boxed_grads_call")
    tls().no_grad = 1
    try:
        if separate:
            result = cls.forward(*args)
            cls.setup_context(ctx, args, result)
        elif n <= STACK:
            values[0] = <PyObject*>ctx
            for i in range(n):
                values[i + 1] = PyTuple_GET_ITEM(args, i)
            result = PyObject_Vectorcall(cls.forward, values, n + 1, NULL)
        else:
            result = cls.forward(ctx, *args)
    finally:
        tls().no_grad = no_grad
    return _finish(ctx, args, result, recorded, separate)


cdef bint _flag(object value, str name) except -1:
    if type(value) is not bool:
        raise RuntimeError(f"{name} must be a bool, got {type(value).__name__}")
    return value is True


cdef bint _read_arguments(FunctionNode ctx, tuple args, bint recording) except -1:
    """Note which arguments are tensors and which require grad, and lead the edges to them; whether
    the call is recorded."""
    cdef Py_ssize_t n = PyTuple_GET_SIZE(args)
    cdef Py_ssize_t i
    cdef int n_tensors = 0
    cdef bint any_needs = False
    cdef bint needs_it
    cdef PyObject* arg
    cdef object needs = PyTuple_New(n)
    cdef char flags[STACK]
    cdef char* flag = flags
    if n > STACK:
        ctx.is_tensor = PyBytes_FromStringAndSize(NULL, n)
        flag = PyBytes_AS_STRING(ctx.is_tensor)
    for i in range(n):
        arg = PyTuple_GET_ITEM(args, i)
        flag[i] = is_tensor(arg)
        n_tensors += flag[i]
        needs_it = flag[i] and requires_grad(<Tensor>arg)
        any_needs |= needs_it
        value = True if needs_it else False
        Py_INCREF(value)
        PyTuple_SET_ITEM(needs, i, value)
    if n <= STACK:
        ctx.is_tensor = PyBytes_FromStringAndSize(flags, n)
    ctx.needs_input_grad = needs
    if not any_needs or not recording:
        return False
    ctx.set_edges(n_tensors)
    n_tensors = 0
    for i in range(n):
        if is_tensor(PyTuple_GET_ITEM(args, i)):
            ctx.connect(n_tensors, <Tensor>PyTuple_GET_ITEM(args, i))
            n_tensors += 1
    tls().nodes += 1
    return True


# ---- the results ----

cdef tuple _marked(object value, str what):
    """What a `mark_...` was given, checked; () for nothing."""
    if value is None:
        return ()
    if not isinstance(value, tuple):
        raise RuntimeError(f"{what} attribute is expected to be a tuple but is "
                           f"{type(value).__name__}")
    return <tuple>value


cdef bint _among(Tensor tensor, tuple items) noexcept:
    """Whether a tensor is one of the items: the object itself, not its value."""
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(items)):
        if PyTuple_GET_ITEM(items, i) == <PyObject*>tensor:
            return True
    return False


cdef object _finish(FunctionNode ctx, tuple args, object result, bint recorded, bint separate):
    """Connect the results to the node, and keep what is to be saved."""
    cdef bint one = not isinstance(result, tuple)
    cdef tuple raw = (result,) if one else <tuple>result
    cdef tuple to_save = _marked(ctx.to_save, "to_save")
    cdef tuple blocked = ()
    cdef tuple wrapped
    if separate:
        blocked = to_save + _marked(ctx.saved_for_forward, "saved_for_forward")
    if recorded:
        _check_saved(to_save)
    ctx.to_save = None
    wrapped = _wrap_results(ctx, args, raw, recorded, blocked)
    if recorded and to_save:
        _save(ctx, to_save, wrapped)
    ctx.saved_for_forward = None
    return wrapped[0] if one else wrapped


cdef int _check_saved(tuple to_save) except -1:
    for i, item in enumerate(to_save):
        if item is not None and type(item) is not Tensor:
            raise TypeError("save_for_backward can only save variables, but argument "
                            f"{i} is of type {type(item).__name__}. Keep it as an attribute of ctx")
    return 0


cdef int _save(FunctionNode ctx, tuple to_save, tuple results) except -1:
    cdef list kept = []
    cdef str saver = None
    for item in to_save:
        if item is None:
            kept.append(None)
        elif (<Tensor>item).grad_fn is ctx and _among(<Tensor>item, results):
            kept.append(save_result(<Tensor>item, (<Tensor>item).output_nr))
        else:
            if saver is None:
                saver = type(ctx)._forward_cls.__name__
            kept.append(save_input(<Tensor>item, saver))
    ctx.kept = tuple(kept)
    return 0


cdef tuple _wrap_results(FunctionNode ctx, tuple args, tuple raw, bint recorded, tuple blocked):
    cdef tuple no_gradient = _marked(ctx.non_differentiable, "non_differentiable")
    cdef tuple dirty = _marked(ctx.dirty_tensors, "dirty_tensors")
    cdef Py_ssize_t n = PyTuple_GET_SIZE(raw)
    cdef Py_ssize_t i
    cdef int n_differentiable = 0
    cdef bint differentiable
    cdef Tensor tensor, out
    cdef list wrapped = list(raw)
    ctx.non_differentiable = ctx.dirty_tensors = None
    for item in no_gradient:
        if type(item) is not Tensor:
            raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got "
                               + type(item).__name__)
    for i, item in enumerate(dirty):
        if type(item) is not Tensor:
            raise RuntimeError(f"mark_dirty can only accept variables, but argument {i} is of "
                               f"type {type(item).__name__}")
    for item in dirty:
        check_write(ctx.name(), <Tensor>item)
        if not is_inference(<Tensor>item):
            bump(version_of(<Tensor>item))
            tls().bumps += 1
    if recorded:
        ctx.set_outputs(<int>n)
    for i in range(n):
        if type(raw[i]) is not Tensor:
            continue
        tensor = <Tensor>raw[i]
        differentiable = recorded and code_of[typenum(tensor)] >= 6 and (
            not _among(tensor, no_gradient))
        n_differentiable += differentiable
        if differentiable:
            ctx.describe(<int>i, tensor)
        elif recorded:
            _remember_blank(ctx, i, n, tensor)
        out = _connect(ctx, args, tensor, i, n, differentiable, _among(tensor, dirty), blocked)
        wrapped[i] = out
        if out.view is not None and not (_among(tensor, args) and _among(tensor, dirty)):
            out.view.creation = IN_CUSTOM_FUNCTION
    if n_differentiable > 1:
        for item in wrapped:
            if type(item) is Tensor and (<Tensor>item).view is not None:
                (<Tensor>item).view.creation = MULTI_OUTPUT_NODE
    for item in dirty:
        if not _among(<Tensor>item, raw):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function.")
    return tuple(wrapped)


cdef int _remember_blank(FunctionNode ctx, Py_ssize_t i, Py_ssize_t n, Tensor tensor) except -1:
    if ctx.blanks is None:
        ctx.blanks = [None] * n
    ctx.blanks[i] = _shape(tensor), dtype_from_typenum(typenum(tensor))
    return 0


cdef tuple _shape(Tensor tensor):
    cdef int d
    return tuple([storage(tensor).shape[d] for d in range(storage(tensor).ndim)])


cdef Tensor _connect(FunctionNode ctx, tuple args, Tensor tensor, Py_ssize_t output, Py_ssize_t n,
                     bint differentiable, bint modified, tuple blocked):
    """The result that `apply` returns for one that `forward` returned."""
    cdef bint is_input = _among(tensor, args)
    if not differentiable:
        if not requires_grad(tensor):
            if is_input and not modified:
                _refuse_saved(tensor, blocked)
                return _view_as_self(tensor)
        elif is_input:
            return call1(operator("detach"), tensor)
        elif tensor.view is None:
            tensor.grad_fn, tensor.output_nr, tensor.leaf_requires_grad = None, 0, False
        # A view of something that requires grad stays as it is, as one made under no_grad does.
        return tensor
    if modified:
        _rewrite(ctx, args, tensor, output, n, is_input)
        return tensor
    if is_input:
        _refuse_saved(tensor, blocked)
        tensor = _view_as_self(tensor)
    tensor.grad_fn = ctx
    tensor.output_nr = <int>output
    if tensor.view is not None:
        tensor.view.attr_version = current(version_of(tensor))
    return tensor


cdef int _refuse_saved(Tensor tensor, tuple blocked) except -1:
    if _among(tensor, blocked):
        raise RuntimeError(
            "A input that has been returned as-is as output is being saved for backward. This is "
            "not supported if you override setup_context. Return and save a view of it, "
            "x.view_as(x), or fill ctx in forward itself.")
    return 0


cdef Tensor _view_as_self(Tensor tensor):
    cdef int no_grad = tls().no_grad
    tls().no_grad = 1
    try:
        return call2(operator("view"), tensor, _shape(tensor))
    finally:
        tls().no_grad = no_grad


cdef int _rewrite(FunctionNode ctx, tuple args, Tensor tensor, Py_ssize_t output, Py_ssize_t n,
                  bint is_input) except -1:
    """Make the node the history of an input that `forward` wrote to."""
    cdef int edge = 0
    cdef Py_ssize_t i
    if requires_grad(tensor) and tensor.grad_fn is None:
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation. "
            f"{type(ctx)._forward_cls.__name__} marks it as dirty: give it a .clone(), or call it "
            "under no_grad.")
    if not is_input:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
            "have been mutated should be passed to ctx.mark_dirty().", UserWarning, stacklevel=2)
    if tensor.view is not None and n > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor. Give it a .clone() of the view, or split "
            "it in two: one that writes and returns that tensor alone, one for the rest.")
    check_inplace(ctx.name(), tensor)
    if tensor.meta is not None:
        tensor.meta.grad = tensor.meta.hooks = None
    for i in range(PyTuple_GET_SIZE(args)):
        if PyTuple_GET_ITEM(args, i) == <PyObject*>tensor:
            break
        edge += is_tensor(PyTuple_GET_ITEM(args, i))
    rebase_history(tensor, ctx, <int>output, edge if is_input else -1)
    return 0


# ---- once_differentiable ----

cdef class Error(Node):
    """A gradient that cannot be differentiated again."""

    cdef int apply(self, PyObject** grads, PyObject** out) except -1:
        raise RuntimeError(self.message)


def once_differentiable(function):
    """Decorate a `backward` whose own computation is not recorded.

    Under `create_graph` its results say that they require grad, but to differentiate them raises
    RuntimeError.
    """
    @functools.wraps(function)
    def wrapper(ctx, *args, **kwargs):
        cdef int no_grad = tls().no_grad
        tls().no_grad = 1
        try:
            outputs = function(ctx, *args, **kwargs)
        finally:
            tls().no_grad = no_grad
        if no_grad or not any([type(arg) is Tensor and requires_grad(<Tensor>arg)
                               for arg in args]):
            return outputs
        if isinstance(outputs, tuple):
            return _undifferentiable(outputs)
        return _undifferentiable((outputs,))[0]

    return wrapper


cdef tuple _undifferentiable(tuple outputs):
    """Aliases of the tensors whose history raises."""
    cdef Error node = Error.__new__(Error)
    cdef Tensor leaf, out
    cdef int n = <int>len(outputs)
    cdef int i
    cdef list aliases = []
    node.message = ("trying to differentiate twice a function that was marked with "
                    "@once_differentiable")
    node.set_edges(n)
    node.set_outputs(n)
    for i in range(n):
        if outputs[i] is None:
            aliases.append(None)
            continue
        leaf = outputs[i].detach()
        leaf.requires_grad = True
        out = leaf.data
        node.connect(i, leaf)
        node.describe(i, out)
        out.grad_fn = node
        out.output_nr = i
        aliases.append(out)
    tls().nodes += 1
    return tuple(aliases)
