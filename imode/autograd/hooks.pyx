"""Hooks: register_hook, retain_grad, register_post_accumulate_grad_hook, and calling them.

A hook on a result belongs to the node that computed the result, so that it still sees the gradient
of the same value after the tensor is written to in place. A hook on a leaf belongs to the leaf.
"""
import weakref
from collections import OrderedDict

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from imode._core.dispatch cimport call2, operator
from imode._core.tensor cimport (
    AutogradMeta, Tensor, grad_fn_of, meta_of, requires_grad)
from imode.autograd.handles cimport add_hook, call_hooks, checked
from imode.autograd.leaves cimport AccumulateGrad
from imode.autograd.node cimport Node, extras_of, n_outputs

from imode._core.internals import origin_of
from imode._core.type_names import class_name
from imode import errors


# ---- registering ----

cdef int _refuse_without_grad(Tensor self) except -1:
    if not requires_grad(self):
        raise errors.graph.without_grad(
            "cannot register a hook on a tensor that doesn't require gradient", origin_of(self))
    return 0


def register_hook(Tensor self not None, hook):
    """Call `hook(grad)` whenever the gradient of this tensor is computed.

    The hook may return a Tensor of the same shape and dtype to use in its place. Returns a handle
    with `remove()`. Raises RuntimeError if the tensor does not require grad.

    >>> import imode
    >>> x = imode.ones(2, requires_grad=True)
    >>> handle = x.register_hook(lambda grad: grad * 2)
    >>> x.sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """
    _refuse_without_grad(self)
    grad_fn = grad_fn_of(self)
    if grad_fn is None:
        if meta_of(self).hooks is None:
            self.meta.hooks = OrderedDict()
        return add_hook(self.meta.hooks, hook)
    extras = extras_of(<Node>grad_fn)
    if extras.tensor_hooks is None:
        extras.tensor_hooks = {}
    table = extras.tensor_hooks.get(self.output_nr)
    if table is None:
        table = extras.tensor_hooks[self.output_nr] = OrderedDict()
    return add_hook(table, hook)


def backward_hooks(Tensor self not None):
    """The hooks that `register_hook` put on the tensor's value, by handle id; None: none yet."""
    if self.grad_fn is None:
        return None if self.meta is None else self.meta.hooks
    extras = (<Node>self.grad_fn).extras
    return None if extras is None else (extras.tensor_hooks or {}).get(self.output_nr)


def post_accumulate_grad_hooks(Tensor self not None):
    """The hooks of `register_post_accumulate_grad_hook` on a leaf, by handle id; None: none yet."""
    return None if self.meta is None else self.meta.post_hooks


def register_post_accumulate_grad_hook(Tensor self not None, hook):
    """Call `hook(tensor)` after backward has added to a leaf's `.grad`.

    Returns a handle with `remove()`. Raises RuntimeError unless the tensor is a leaf that requires
    grad.

    >>> import imode
    >>> x = imode.ones(2, requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda x: print(x.grad))
    >>> x.sum().backward()
    tensor([1., 1.])
    """
    _refuse_without_grad(self)
    if grad_fn_of(self) is not None:
        raise RuntimeError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors")
    if meta_of(self).post_hooks is None:
        self.meta.post_hooks = OrderedDict()
    return add_hook(self.meta.post_hooks, hook)


def retain_grad(Tensor self not None):
    """Keep the gradient of a non-leaf in its `.grad`; for a leaf, do nothing.

    Raises RuntimeError if the tensor does not require grad.

    >>> y = imode.ones(2, requires_grad=True) * 2
    >>> y.retain_grad()
    >>> y.sum().backward()
    >>> y.grad
    tensor([1., 1.])
    """
    if not requires_grad(self):
        raise errors.graph.without_grad(
            "can't retain_grad on Tensor that has requires_grad=False", origin_of(self))
    # Not grad_fn_of, which may raise for a view whose base was written: here nothing is to do.
    if self.grad_fn is None or meta_of(self).retains_grad:
        return
    extras = extras_of(<Node>grad_fn_of(self))
    if extras.retained is None:
        extras.retained = {}
    extras.retained[self.output_nr] = weakref.ref(self)
    self.meta.retains_grad = True


# ---- calling ----

cdef int _set(PyObject** slot, object value) except -1:
    """Replace a gradient by another, or by none for None."""
    cdef PyObject* before = slot[0]
    if value is None:
        slot[0] = NULL
    else:
        Py_INCREF(value)
        slot[0] = <PyObject*>value
    Py_XDECREF(before)
    return 0


cdef object _get(PyObject** slot):
    return None if slot[0] == NULL else <object>slot[0]


cdef int run_tensor_hooks(Node node, PyObject** grads) except -1:
    cdef AutogradMeta meta
    if type(node) is AccumulateGrad:
        meta = (<AccumulateGrad>node).variable.meta
        if meta is not None and meta.hooks is not None:
            _set(&grads[0], call_hooks(meta.hooks, _get(&grads[0])))
        return 0
    if node.extras is None:
        return 0
    if node.extras.tensor_hooks is not None:
        for number, table in list(node.extras.tensor_hooks.items()):
            _set(&grads[<int>number], call_hooks(table, _get(&grads[<int>number])))
    if node.extras.retained is not None:
        _keep_grads(node, grads)
    return 0


cdef int _keep_grads(Node node, PyObject** grads) except -1:
    """Add gradients to the `.grad` of the results for which retain_grad was called."""
    cdef Tensor tensor
    for number, reference in list(node.extras.retained.items()):
        tensor = reference()
        if tensor is not None and grads[<int>number] != NULL:
            gradient = <object>grads[<int>number]
            while True:
                before = meta_of(tensor).grad
                total = (operator("clone")(gradient, memory_format="contiguous_format")
                         if before is None else call2(operator("add"), before, gradient))
                if tensor.meta.grad is before:       # no other thread has changed it
                    tensor.meta.grad = total
                    break
    return 0


cdef tuple _as_tuple(PyObject** grads, int n):
    return tuple([_get(&grads[i]) for i in range(n)])


cdef tuple _checked_all(tuple before, object values, object hook):
    """What a hook returned to replace a tuple of gradients, checked."""
    if not isinstance(values, tuple):
        raise TypeError(f"expected tuple, but hook returned '{class_name(values)}'. "
                        "A node's hook returns one gradient for each that it was given, or None")
    if len(values) != len(before):
        name = getattr(hook, "__name__", "<unknown>")
        raise RuntimeError(f"hook '{name}' has returned an incorrect number of values "
                           f"(got {len(values)}, but expected {len(before)})")
    return tuple([None if value is None else checked(old, value, hook)
                  for old, value in zip(before, values)])


cdef int run_pre_hooks(Node node, PyObject** grads) except -1:
    cdef int i
    values = given = _as_tuple(grads, n_outputs(node))
    for hook in list(node.extras.pre_hooks.values()):
        result = hook(values)
        if result is not None:
            values = _checked_all(values, result, hook)
    if values is not given:
        for i in range(n_outputs(node)):
            _set(&grads[i], values[i])
    return 0


cdef int run_post_hooks(Node node, PyObject** grads, PyObject** out) except -1:
    cdef int i
    values = given = _as_tuple(out, node.n_edges)
    arrived = _as_tuple(grads, n_outputs(node))
    for hook in list(node.extras.post_hooks.values()):
        result = hook(values, arrived)
        if result is not None:
            values = _checked_all(values, result, hook)
    if values is not given:
        for i in range(node.n_edges):
            _set(&out[i], values[i])
    return 0
