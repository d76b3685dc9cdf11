"""Views in the graph.

A view of a normal tensor records its base and how it was made. An in-place write to it gives the
base a CopySlices node, which routes the gradient of the written part through the write, and the
rest to the base's history. Every other view of the base then sees from the shared version counter
that its grad_fn is out of date, and regenerates it when it is next read.
"""
cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF, Py_XINCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from imode._core.dispatch cimport (
    TLS, Operator, call1, call2, inference_mode_on, operator, tls)
from imode._core.geometry cimport geometry_of
from imode._core.keyset cimport BIT_AUTOGRAD
from imode._core.live cimport alive, born, count_deaths
from imode._core.tensor cimport (
    DEFAULT, INFERENCE_MODE, IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, NO_GRAD_MODE, Tensor, ViewMeta,
    current, grad_fn_of, is_inference, requires_grad, set_autograd, set_grad_fn, typenum,
    version_of)
from imode._core.version cimport VersionCounter, bump, is_saved, name_writer, rename_writer
from imode.autograd.derivative cimport Derivative
from imode.autograd.leaves cimport connect
from imode.autograd.node cimport (
    Node, describe, extras_of, freed, input_nrs, name_of, next_nodes, shown)
from imode.autograd.recorded cimport OpNode, keep, new_node
from imode.autograd.saved cimport before_write
from imode.autograd.task cimport should_compute
from imode._core.user_frames cimport here
from libc.stdint cimport uint64_t

from imode._core.provenance import operator_id, operator_name
from imode import errors


def live_views():
    """How many view records are alive; None unless this is a debug build."""
    return alive()


count_deaths(ViewMeta)


cdef int track(Operator op, PyObject** args, Tensor base, Tensor result, bint multiple) except -1:
    """Record that `result` is a view of `base`, made by `op` in this thread's mode."""
    if is_inference(base):
        return 0
    track_alias(op.id, base, result, multiple)
    if typenum(result) != typenum(base) or (
            base.view is not None and base.view.replay is not None):
        result.view.replay = _replay(op, args, base, result)
    return 0


cdef int track_alias(int maker, Tensor base, Tensor result, bint multiple) except -1:
    """Record that `result` is a view of a normal tensor `base`, of its dtype."""
    cdef ViewMeta view = ViewMeta.__new__(ViewMeta)
    cdef TLS* state = tls()
    cdef int creation
    born()
    if inference_mode_on(state):
        creation = INFERENCE_MODE
    elif state.no_grad:
        creation = NO_GRAD_MODE
    else:
        creation = MULTI_OUTPUT_NODE if multiple else DEFAULT
    view.base = base
    view.creation = creation
    if base.view is not None:
        view.base = base.view.base
        view.replay = base.view.replay
        if creation == DEFAULT or base.view.creation == INFERENCE_MODE:
            view.creation = base.view.creation
    if view.creation == creation and (creation == INFERENCE_MODE or creation == NO_GRAD_MODE):
        result.guard_id, result.maker = state.guard_id, maker   # else it keeps the base's
    view.attr_version = current(version_of(base))
    result.view = view
    result.keys |= BIT_AUTOGRAD
    state.views += 1
    return 0


@cython.final
cdef class _Replay:
    """Makes a view from its root, by an operator; see ViewMeta.replay."""

    cdef Operator op
    cdef object before            # makes what the operator takes from the root; None: the root
    cdef tuple rest               # the operator's arguments after that

    def __call__(self, root):
        cdef int n = self.op.n_positional
        cdef tuple given = (root if self.before is None else self.before(root), *self.rest)
        return self.op(*given[:n], **dict(zip(self.op.names[n:], given[n:])))


cdef _Replay _replayed(Operator op, object before, tuple rest):
    cdef _Replay replay = _Replay.__new__(_Replay)
    replay.op, replay.before, replay.rest = op, before, rest
    return replay


cdef _Replay _replay(Operator op, PyObject** args, Tensor base, Tensor result):
    """What makes the view from its root; for views that change the dtype."""
    cdef tuple rest
    cdef object before = None
    cdef int i
    if base.view is not None:
        before = base.view.replay
        if before is None:
            before = _replayed(operator("as_strided"), None, geometry_of(base))
    if typenum(result) == typenum(base):
        # A view of a view that changed the dtype: its geometry suffices from there on.
        return _replayed(operator("as_strided"), before, geometry_of(result))
    rest = PyTuple_New(op.nargs - 1)
    for i in range(1, op.nargs):
        Py_INCREF(<object>args[i])
        PyTuple_SET_ITEM(rest, i - 1, <object>args[i])
    return _replayed(op, before, rest)


# ---- in-place writes ----

cdef int _refuse(Tensor self, str writer, bint geometry=False) except -1:
    """Raise for a view whose creation forbids writes; writer: None if the base was written.

    geometry: the operator writes no elements.
    """
    cdef int creation = self.view.creation
    name = name_of(self.grad_fn)
    if creation == INFERENCE_MODE or creation == NO_GRAD_MODE or not name:
        raise errors.views.made_in_mode(
            "inference" if creation == INFERENCE_MODE else "no_grad", writer,
            (self.output_nr, name) if name else None, self.shape, self.guard_id, self.maker)
    if creation == IN_CUSTOM_FUNCTION:
        raise errors.views.custom_function(self.output_nr, name, writer, self.shape)
    raise errors.views.multi_output(
        self.output_nr, name, writer, self.shape, None if geometry else _part(self))


cdef str _part(Tensor self):
    """The call that makes one of several views alone."""
    cdef Derivative derivative = (<Node>self.grad_fn).derivative
    if derivative is None or derivative.alone is None:
        return "narrow(dim, start, length)"                # a view of one of them
    return derivative.alone(self.grad_fn, self.output_nr)


cdef int check_write(int writer, Tensor target) except -1:
    """The immutable invariant: outside the mode an inference tensor is never written."""
    if is_inference(target) and not inference_mode_on(tls()):
        raise errors.inference.write(target.guard_id, target.maker, operator_name(writer))
    if tls().saving != NULL:
        before_write(target)
    return 0


cdef int check_inplace(str writer, Tensor self, bint geometry=False) except -1:
    if self.view is not None:
        if self.view.creation != DEFAULT:
            _refuse(self, writer, geometry)
        if requires_grad(self) and grad_fn_of(self.view.base) is None:
            raise errors.views.leaf(writer, self.shape, view=True)
    if requires_grad(self) and grad_fn_of(self) is None:
        raise errors.views.leaf(writer, self.shape)
    return 0


def write_as(str writer, write, Tensor target not None, *rest, bint whole=True):
    """Return `write(target, *rest)`, a step of a composite operator, in whose name it writes.

    whole: the target is all of what the user writes to.
    """
    cdef VersionCounter counter = target.version
    check_write(operator_id(writer), target)
    if requires_grad(target) and not tls().no_grad:
        check_inplace(writer, target, geometry=not whole)
    result = write(target, *rest)
    if counter is not None and is_saved(counter):
        rename_writer(counter, operator_id(writer))
    return result


cdef int count_write(int writer, Tensor target) except -1:
    cdef VersionCounter counter
    if not is_inference(target):
        counter = version_of(target)
        bump(counter)
        tls().bumps += 1
        if is_saved(counter):
            name_writer(counter, writer, here())
    return 0


cdef int rebase_history(Tensor self, Node node, int output_nr, int edge) except -1:
    cdef CopySlices slices
    cdef Tensor base
    cdef int i, n
    if self.view is None:
        _move_retained(self, node, output_nr)
        set_grad_fn(self, node, output_nr)
        return 0
    base = self.view.base
    slices = CopySlices.__new__(CopySlices)
    slices.function = node
    slices.base_geometry = geometry_of(base)
    slices.view_geometry = geometry_of(self)
    slices.replay = self.view.replay
    slices.set_outputs(1)
    describe(slices, 0, base)
    n = node.n_edges
    slices.base_edge = edge if 0 <= edge < n else n
    slices.set_edges(n if 0 <= edge < n else n + 1)
    for i in range(n):
        if i != edge:
            next_nodes(slices)[i] = next_nodes(node)[i]
            input_nrs(slices)[i] = input_nrs(node)[i]
            Py_XINCREF(next_nodes(node)[i])
    connect(slices, slices.base_edge, base)
    _move_retained(base, slices, 0)
    set_grad_fn(base, slices, 0)
    tls().nodes += 1
    self.view.attr_version = <uint64_t>-1     # outdated, even if a check has just renewed it
    _regenerate(self)
    return 0


cdef int _move_retained(Tensor self, Node node, int output_nr) except -1:
    """Let the newest node retain a tensor's gradient, if the tensor asked for that."""
    cdef Node before
    if self.meta is None or not self.meta.retains_grad or self.grad_fn is None:
        return 0
    before = <Node>self.grad_fn
    reference = None if before.extras is None or before.extras.retained is None else (
        before.extras.retained.pop(self.output_nr, None))
    if reference is not None:
        extras = extras_of(node)
        if extras.retained is None:
            extras.retained = {}
        extras.retained[output_nr] = reference
    return 0


@cython.binding(False)
@cython.final
@cython.trashcan(True)        # Note [Freeing long graphs]
cdef class CopySlices(Node):
    """The base's node after an in-place write to a view of it."""

    cdef str label(self):
        return "torch::autograd::CopySlices"

    cdef int apply(self, PyObject** grads, PyObject** out) except -1:
        cdef PyObject* slice_grad[1]
        cdef object part
        cdef object gradient
        cdef Node function = self.function     # a reference: another thread may release it
        if grads[0] == NULL:
            return 0
        if self.released:
            raise freed(self)
        size, stride, _ = self.base_geometry
        # A copy with the base's geometry; the view's part of it is the gradient of the write.
        whole = operator("new_empty_strided")(<object>grads[0], size, stride)
        whole = call2(operator("copy_"), whole, <object>grads[0])
        if self.replay is not None:
            part = self.replay(whole)
        else:
            size, stride, offset = self.view_geometry
            part = operator("as_strided")(whole, size, stride, offset - self.base_geometry[2])
        copied = call2(operator("clone"), part, "contiguous_format")
        slice_grad[0] = <PyObject*>copied
        function.apply(slice_grad, out)
        if not should_compute(next_nodes(self)[self.base_edge]):
            Py_XDECREF(out[self.base_edge])       # the write computes it even if it is not needed
            out[self.base_edge] = NULL
            return 0
        if out[self.base_edge] == NULL:
            call1(operator("zero_"), part)
        else:
            gradient = <object>out[self.base_edge]
            call2(operator("copy_"), part, gradient)
        _replace(&out[self.base_edge], whole)
        return 0

    cdef void release(self):
        cdef object function = self.function
        self.released = True
        self.function = None
        del function              # last: frees what the write saved, which may run other code


cdef extern from *:
    """
    static inline void imode_replace(PyObject** slot, PyObject* value) {
        Py_INCREF(value);
        Py_XSETREF(*slot, value);
    }
    """
    void _replace "imode_replace"(PyObject** slot, object value)


# ---- grad_fn of a view whose base was written ----

cdef object _regenerate(Tensor self):
    cdef ViewMeta view = self.view
    cdef Tensor again
    cdef Node node
    cdef int no_grad
    if self.grad_fn is None and not requires_grad(view.base):
        return None
    if current(self.version) == view.attr_version:
        return self.grad_fn
    if view.creation != DEFAULT:
        _refuse(self, None)
    if view.replay is None:
        node = _strided_node(self, view.base)
    else:
        no_grad = tls().no_grad
        excluded = tls().excluded
        tls().no_grad = 0
        tls().excluded = 0
        try:
            again = view.replay(view.base)
        finally:
            tls().no_grad = no_grad
            tls().excluded = excluded
        node = <Node>again.grad_fn
    if node is not None:
        _move_retained(self, node, 0)
    view.attr_version = current(self.version)
    set_grad_fn(self, node, 0)
    return node


cdef OpNode _strided_node(Tensor self, Tensor base):
    """The node of base.as_strided(geometry of self), made without touching the memory. Its edge
    leads nowhere if the base no longer requires grad."""
    cdef Derivative d = <Derivative>operator("as_strided").derivative
    cdef OpNode node = new_node(d)
    cdef int i
    size, stride, offset = geometry_of(self)
    values = {"self_geometry": geometry_of(base), "size": size, "stride": stride,
              "storage_offset": offset}
    node.set_edges(1)
    connect(node, 0, base)
    node.set_outputs(1)
    describe(node, 0, self)
    node.set_saved(d.n_slots)
    for i in range(d.n_slots):
        keep(node, i, values[d.slot_names[i]])
    return node


set_autograd(shown, _regenerate)
