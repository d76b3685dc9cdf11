"""Custom functions, compiled: the context and its backward. A call runs in call.pyx.

Each call makes one node, the `ctx` that the user's `forward` and `backward` see. `forward` runs
unrecorded; then its results are connected to the node, each according to its kind: a new tensor, an
input written in place, an input returned unchanged, a view. Nothing in the node refers to the
results, so a graph that goes out of scope is freed at once.
"""
import functools

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from imode._core.dispatch cimport operator, tls
from imode._core.dtype cimport code_of, dtype_from_typenum, is_complex
from imode._core.elsewhere cimport place_of
from imode._core.tensor cimport (
    Tensor, is_inference, is_tensor, requires_grad, set_grad_fn, typenum, version_of)
from imode._core.version cimport bump
from imode.autograd.leaves cimport connect
from imode.autograd.node cimport (
    Node, OutputMeta, describe, freed, input_nrs, meta_shape, n_outputs, next_nodes, outputs_of)
from imode.autograd.saved cimport SavedTensor, forget, saved_value, unpack

from imode._core.type_names import class_name
from imode._core.user_frames import warn

cdef extern from "Python.h":
    object PyObject_Vectorcall(object f, PyObject** args, size_t n, PyObject* names)
    char* PyBytes_AS_STRING(object)
    Py_ssize_t PyTuple_GET_SIZE(object)
    object PyTuple_New(Py_ssize_t)
    void PyTuple_SET_ITEM(object, Py_ssize_t, object)


# ---- the context ----

class FunctionCtx:
    """What `forward` and `setup_context` tell a custom function about its call."""

    def save_for_backward(self, *tensors):
        """Keep tensors (or None) for `backward`, which finds them in `ctx.saved_tensors`.

        To be called once. Save inputs and results here, not as attributes of `ctx`: then they are
        checked for in-place writes, make no reference cycle, and saved-tensor hooks apply to them.
        Anything that is not a tensor raises TypeError after `forward`.
        """
        if isinstance(self, FunctionNode):
            (<FunctionNode>self).to_save = tensors      # the usual case, without a look-up by name
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
        warn("`mark_shared_storage` is deprecated. Tensors with shared storages are "
             "automatically tracked.", FutureWarning)

    def set_materialize_grads(self, value):
        """Say whether `backward` gets zeros (True, the default) or None for a result that no
        gradient reached."""
        self.materialize_grads = value


@cython.binding(False)
cdef class FunctionNode(Node):
    """The context of one call, and its node in the graph."""

    def __cinit__(self):
        self.materialize = self._materialize_non_diff_grads = True

    @property
    def needs_input_grad(self):
        """A tuple: for each argument of the call, whether it is a tensor that requires grad."""
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

        RuntimeError once backward has freed them, or if one was written to in place since.
        """
        cdef tuple all_saved = self.all_saved
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
        if all_saved is None:
            return ()
        found = PyTuple_New(PyTuple_GET_SIZE(all_saved))
        for i in range(PyTuple_GET_SIZE(all_saved)):
            item = all_saved[i]
            if item is not None:
                item = unpack(<SavedTensor>item, self)
            Py_INCREF(item)
            PyTuple_SET_ITEM(found, i, item)
        if self.clear_on_access:
            self.all_saved = None
            self.cleared = True
        return found

    @property
    def saved_variables(self):
        """The old name of `saved_tensors`."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self):
        """The SavedTensor objects behind `saved_tensors`."""
        if self.released:
            raise freed(self)
        return tuple([saved_value(None) if item is None else item for item in self.all_saved or ()])

    def maybe_clear_saved_tensors(self):
        """Free the saved tensors."""
        self.release()

    cdef void release(self):
        cdef tuple all_saved = self.all_saved
        self.released = True
        self.all_saved = None
        for saved in all_saved or ():      # last: this may run other code, which looks here
            forget(saved)

    def __call__(self, *grads):
        # Unlike other nodes: a call that was not recorded has no edges to put gradients on.
        raise TypeError(f"{type(self).__name__!r} object is not callable. Call its apply().")

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
            gradients = [self._blank(i, grads) if grads[i] == NULL else <object>grads[i]
                         for i in range(n)]
            result = backward(self, gradients) if self.boxed else backward(self, *gradients)
            return self._deliver(result, out)
        values[0] = <PyObject*>self
        try:
            for i in range(n):
                values[i + 1] = grads[i]
                if grads[i] == NULL:
                    blank = self._blank(i, grads)
                    Py_INCREF(blank)
                    values[i + 1] = missing[n_missing] = <PyObject*>blank
                    n_missing += 1
            result = PyObject_Vectorcall(backward, values, n + 1, NULL)
        finally:
            for k in range(n_missing):
                Py_DECREF(<object>missing[k])
        return self._deliver(result, out)

    cdef object _blank(self, Py_ssize_t output, PyObject** grads):
        """What `backward` gets for a result that no gradient reached: on the device of others."""
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
        place = None
        for d in range(<int>n_outputs(self)):
            if grads[d] != NULL and is_tensor(grads[d]):
                place = place_of(<Tensor>grads[d])
        zeros = operator("zeros")(shape, dtype=dtype, device=place)
        if not is_inference(zeros):
            bump(version_of(zeros))       # in PyTorch, too, their version is 1
        return zeros

    cdef int _deliver(self, object result, PyObject** out) except -1:
        """Check what `backward` returned, and put each gradient on its edge."""
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
            got -= 1                     # surplus values are allowed if they are None
        if got != expected:
            raise RuntimeError(
                f"function {self.label()} returned an incorrect number of gradients (expected "
                f"{expected}, got {given})")
        for i in range(expected):
            if not flags[i] & IS_TENSOR:
                if gradients[i] != <PyObject*>None:
                    raise RuntimeError(
                        f"function {self.label()} returned a gradient different than None at "
                        f"position {i + 1}, but the corresponding forward input was not a Variable")
                continue
            edge += 1
            if gradients[i] == <PyObject*>None:
                continue
            if not is_tensor(gradients[i]):
                raise RuntimeError(
                    f"expected Variable or None (got {class_name(<object>gradients[i])}). "
                    f"{self.label()} must return one of them per argument of forward")
            Py_INCREF(<object>gradients[i])
            out[edge - 1] = gradients[i]
            if next_nodes(self)[edge - 1] == NULL:
                continue             # goes nowhere, but hooks see it
            meta = &outputs_of(<Node>next_nodes(self)[edge - 1])[input_nrs(self)[edge - 1]]
            if meta.typenum >= 0 and is_complex(code_of[typenum(<Tensor>gradients[i])]) and (
                    not is_complex(code_of[meta.typenum])):
                raise RuntimeError(
                    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                    "grad_is_complex) to be true, but got false. "
                    f"{self.label()} returned a complex gradient for a real argument at position "
                    f"{i + 1}; return its real part")
        return 0


def setup_context(ctx, inputs, output):
    """Fill `ctx` after a `forward` that does not take it; to be overridden together with that."""
    raise NotImplementedError("setup_context is not implemented.")


def backward(ctx, *grad_outputs):
    """Compute the gradients of the arguments; to be overridden."""
    raise NotImplementedError(
        "You must implement either the backward or vjp method for your custom autograd.Function to "
        "use it with backward mode AD.")


cdef object _backward = backward


cpdef object backward_of(FunctionNode ctx):
    """The backward that a custom function's class defines: `backward` or `vjp`."""
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


# ---- once_differentiable ----

@cython.binding(False)
cdef class Error(Node):
    """A gradient that cannot be differentiated again."""

    cdef str label(self):
        return "torch::autograd::Error"

    cdef int apply(self, PyObject** grads, PyObject** out) except -1:
        raise RuntimeError(self.message)


def once_differentiable(function):
    """Decorate a `backward` whose own computation is not recorded.

    Under `create_graph` its results require grad, but differentiating them raises RuntimeError.
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
    """Aliases of the tensors, with a history that raises in backward."""
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
        connect(node, i, leaf)
        describe(node, i, out)
        set_grad_fn(out, node, i)
        aliases.append(out)
    tls().nodes += 1
    return tuple(aliases)
