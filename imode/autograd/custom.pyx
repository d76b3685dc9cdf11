"""Custom functions, compiled: the context, one call, one backward.

One call makes one node, the `ctx` that the user's `forward` and `backward` see. `forward` runs
unrecorded; then its results are connected to the node by what they are: new tensors, inputs written
in place, inputs returned as they came, views. Nothing in the node refers to the results, so a graph
that goes out of scope is freed at once.
"""
import functools
import inspect
import warnings
from types import FunctionType

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from imode._core.dispatch cimport TLS, operator, tls
from imode._core.dtype cimport code_of, dtype_from_typenum, is_complex
from imode._core.tensor cimport (
    Tensor, is_inference, is_tensor, requires_grad, typenum, version_of)
from imode._core.version cimport bump
from imode.autograd.node cimport (
    Node, OutputMeta, freed, input_nrs, meta_shape, n_outputs, next_nodes, outputs_of)
from imode.autograd.results cimport finish
from imode.autograd.saved cimport SavedTensor, forget, saved_value, unpack
from libc.string cimport memcpy

from imode._core.words import class_name

cdef extern from "Python.h":
    object PyObject_Vectorcall(object f, PyObject** args, size_t n, PyObject* names)
    bytes PyBytes_FromStringAndSize(char*, Py_ssize_t)
    char* PyBytes_AS_STRING(object)
    Py_ssize_t PyTuple_GET_SIZE(object)
    object PyTuple_New(Py_ssize_t)
    void PyTuple_SET_ITEM(object, Py_ssize_t, object)

cdef extern from *:
    """
    /* A new object of `cls`, a subclass of `base`, past __init__. */
    static PyObject *imode_new_context(PyObject *base, PyObject *cls) {
        static PyObject *empty;
        if (empty == NULL && (empty = PyTuple_New(0)) == NULL) return NULL;
        if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, (PyTypeObject *)base)) {
            PyErr_SetString(PyExc_TypeError, "_backward_cls is not the class of a context");
            return NULL;
        }
        return ((PyTypeObject *)base)->tp_new((PyTypeObject *)cls, empty, NULL);
    }

    /* A builtin that is called with its arguments on the C stack; the class comes first. */
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

cdef enum:
    STACK = 8                 # arguments of a call that need no allocation
    IS_TENSOR = 1             # flags of an argument
    NEEDS_GRAD = 2


# ---- the context ----

class FunctionCtx:
    """What `forward` and `setup_context` tell a custom function about its call."""

    def save_for_backward(self, *tensors):
        """Keep tensors (or None) for `backward`, which finds them in `ctx.saved_tensors`.

        To be called once. Inputs and results belong here and not into attributes of `ctx`: this
        way they are checked for in-place writes, make no reference cycle, and saved-tensor hooks
        apply to them. TypeError is raised after `forward` for anything that is no tensor.
        """
        if isinstance(self, FunctionNode):
            (<FunctionNode>self).to_save = tensors      # not by name: the one that every call makes
        else:
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
        self.materialize = self._materialize_non_diff_grads = True

    @property
    def needs_input_grad(self):
        """For each argument of the call, whether it is a tensor that requires grad: a tuple."""
        if self.needs is None and self.arguments is not None:
            self.needs = tuple([flags & NEEDS_GRAD != 0 for flags in self.arguments])
        return self.needs

    @needs_input_grad.setter
    def needs_input_grad(self, value):
        self.needs = value

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
        cdef tuple kept = self.kept
        cdef Py_ssize_t i
        if self.cleared:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Keep the tuple that the first access gave, or "
                "leave clear_saved_tensors_on_access at False.")
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        if self.released:
            raise freed(self)
        if kept is None:
            return ()
        found = PyTuple_New(PyTuple_GET_SIZE(kept))
        for i in range(PyTuple_GET_SIZE(kept)):
            item = kept[i]
            if item is not None:
                item = unpack(<SavedTensor>item, self)
            Py_INCREF(item)
            PyTuple_SET_ITEM(found, i, item)
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
            raise freed(self)
        return tuple([saved_value(None) if item is None else item for item in self.kept or ()])

    def maybe_clear_saved_tensors(self):
        """Free the saved tensors."""
        self.release()

    cdef void release(self):
        if self.kept is not None:
            for saved in self.kept:
                forget(saved)
        self.kept = None
        self.released = True

    cdef int apply(self, PyObject** grads, PyObject** out) except -1:
        cdef PyObject* values[STACK + 1]
        cdef PyObject* missing[STACK]
        cdef list gradients
        cdef object result
        cdef object backward = backward_of(self)
        cdef Py_ssize_t i, k
        cdef Py_ssize_t n = n_outputs(self)
        cdef Py_ssize_t n_missing = 0
        if self.boxed or n > STACK:
            gradients = [self._blank(i) if grads[i] == NULL else <object>grads[i]
                         for i in range(n)]
            result = backward(self, gradients) if self.boxed else backward(self, *gradients)
            return self._deliver(result, out)
        values[0] = <PyObject*>self
        try:
            for i in range(n):
                values[i + 1] = grads[i]
                if grads[i] == NULL:
                    blank = self._blank(i)
                    Py_INCREF(blank)
                    values[i + 1] = missing[n_missing] = <PyObject*>blank
                    n_missing += 1
            result = PyObject_Vectorcall(backward, values, n + 1, NULL)
        finally:
            for k in range(n_missing):
                Py_DECREF(<object>missing[k])
        return self._deliver(result, out)

    cdef object _blank(self, Py_ssize_t output):
        """What `backward` gets for a result that no gradient reached."""
        cdef OutputMeta* meta = &outputs_of(self)[output]
        cdef int d
        if not self.materialize:
            return None
        if meta.typenum >= 0:
            shape = tuple([meta_shape(meta)[d] for d in range(meta.nd)])
            dtype = dtype_from_typenum(meta.typenum)
        elif (self.blanks is None or self.blanks[output] is None
                or not self._materialize_non_diff_grads):
            return None
        else:
            shape, dtype = self.blanks[output]
        zeros = operator("zeros")(shape, dtype=dtype)
        if not is_inference(zeros):
            bump(version_of(zeros))       # they were written
        return zeros

    cdef int _deliver(self, object result, PyObject** out) except -1:
        """Check what `backward` returned, and put the gradients on their edges."""
        cdef PyObject* single = <PyObject*>result
        cdef PyObject** gradients = &single
        cdef char* flags = PyBytes_AS_STRING(self.arguments)
        cdef Py_ssize_t expected = len(self.arguments)
        cdef Py_ssize_t given = 1
        cdef Py_ssize_t i, got
        cdef int edge = 0
        cdef OutputMeta* meta
        if isinstance(result, tuple):
            gradients = items_of(result)
            given = PyTuple_GET_SIZE(result)
        got = given
        while got > expected and gradients[got - 1] == <PyObject*>None:
            got -= 1                     # more than were asked for, but None
        if got != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{expected}, got {given})")
        for i in range(expected):
            if not flags[i] & IS_TENSOR:
                if gradients[i] != <PyObject*>None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at "
                        f"position {i + 1}, but the corresponding forward input was not a Variable")
                continue
            edge += 1
            if gradients[i] == <PyObject*>None:
                continue
            if not is_tensor(gradients[i]):
                raise RuntimeError(
                    f"expected Variable or None (got {class_name(<object>gradients[i])}). "
                    f"{self.name()} must return one of them per argument of forward")
            Py_INCREF(<object>gradients[i])
            out[edge - 1] = gradients[i]
            if next_nodes(self)[edge - 1] == NULL:
                continue             # shown to hooks all the same
            meta = &outputs_of(<Node>next_nodes(self)[edge - 1])[input_nrs(self)[edge - 1]]
            if meta.typenum >= 0 and is_complex(code_of[typenum(<Tensor>gradients[i])]) and (
                    not is_complex(code_of[meta.typenum])):
                raise RuntimeError(
                    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                    "grad_is_complex) to be true, but got false. "
                    f"{self.name()} returned a complex gradient for a real argument at position "
                    f"{i + 1}; return its real part")
        return 0


def setup_context(ctx, inputs, output):
    """Fill `ctx` after a `forward` that takes none; to be overridden with such a one."""
    raise NotImplementedError("setup_context is not implemented.")


def backward(ctx, *grad_outputs):
    """Compute the gradients of the arguments; to be overridden."""
    raise NotImplementedError(
        "You must implement either the backward or vjp method for your custom autograd.Function to "
        "use it with backward mode AD.")


cdef object _setup_context = setup_context
cdef object _backward = backward


cpdef object backward_of(FunctionNode ctx):
    """The function that the class of a custom function gives for its backward."""
    cls = type(ctx)._forward_cls
    given = cls.backward
    vjp = cls.vjp
    if vjp is _backward:
        return given
    if given is not _backward:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            "should only implement one of them.")
    return vjp


# ---- one call ----

cdef object _apply_entry(PyObject* module, PyObject** args, Py_ssize_t n, PyObject* names):
    cdef object cls
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
    cdef bint recorded = _read_arguments(ctx, args, n, not no_grad)
    cdef PyObject* values[STACK + 1]
    cdef object forward, result, inputs
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
    return finish(ctx, args, n, result, recorded, separate)


cdef inline bint _flag(object value, str name) except -1:
    if value is False:
        return False
    if value is not True:
        raise RuntimeError(f"{name} must be a bool, got {type(value).__name__}")
    return True


cdef tuple _as_tuple(PyObject** items, Py_ssize_t n):
    cdef Py_ssize_t i
    cdef object made = PyTuple_New(n)
    for i in range(n):
        Py_INCREF(<object>items[i])
        PyTuple_SET_ITEM(made, i, <object>items[i])
    return made


cdef bint _read_arguments(FunctionNode ctx, PyObject** args, Py_ssize_t n,
                          bint recording) except -1:
    """Note which arguments are tensors and which require grad, and lead the edges to them; whether
    the call is recorded."""
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
    if n <= STACK:
        ctx.arguments = PyBytes_FromStringAndSize(small, n)
    if not recording or not any_flag & NEEDS_GRAD:
        return False
    ctx.set_edges(n_tensors)
    n_tensors = 0
    for i in range(n):
        if is_tensor(args[i]):
            ctx.connect(n_tensors, <Tensor>args[i])
            n_tensors += 1
    tls().nodes += 1
    return True


# ---- arguments by keyword, and defaults ----

cdef bint _complete(object forward, Py_ssize_t n):
    """Whether n arguments by position leave none of the parameters to a default."""
    if type(forward) is not FunctionType or forward.__dict__:
        return False
    code = forward.__code__
    return not code.co_kwonlyargcount and not code.co_flags & inspect.CO_VARKEYWORDS and (
        n >= code.co_argcount if code.co_flags & inspect.CO_VARARGS else n == code.co_argcount)


cdef tuple _bound(object forward, tuple args, dict keywords, bint separate):
    """The arguments by position: keywords put in their places, defaults filled in where `forward`
    takes no context."""
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


# ---- once_differentiable ----

cdef class Error(Node):
    """A gradient that cannot be differentiated again."""

    def name(self):
        """The node's name."""
        return "torch::autograd::Error"

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
