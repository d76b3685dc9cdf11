"""Leaves: where the graph ends, and how a gradient becomes a leaf's `.grad`."""
import weakref
from _thread import _local as local     # threading.local; importing threading costs ten times more

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.dispatch cimport Operator, call1, call2, operator, tls
from imode._core.geometry cimport same_shape
from imode._core.iterate cimport empty_like, is_dense
from imode._core.keyset cimport BIT_CPU, BIT_SPARSE
from imode._core.making cimport wrap
from imode._core.tensor cimport (
    AutogradMeta, Tensor, bump, grad_fn_of, is_inference, meta_of, set_leaf, storage, version_of)
from imode.autograd.few cimport describe_first
from imode.autograd.handles cimport call_hooks
from imode.autograd.node cimport Edge, Node, begin, ended, input_nrs, next_nodes
from libc.stdint cimport uint64_t
from numpy cimport PyArray_TYPE, import_array, ndarray

from imode._core.provenance import operator_id
from imode._core.user_frames import warn

import_array()
cdef int _BACKWARD = operator_id("backward")

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    void PyObject_GC_UnTrack(PyObject*) noexcept
    Py_ssize_t Py_REFCNT(PyObject*) noexcept

cdef extern from "recycled.h":
    ctypedef void (*destructor)(PyObject*)
    bint has_weak_references "imode_has_weak_references"(PyObject*) noexcept
    object revive "imode_revive"(PyObject*)
    destructor swap_dealloc "imode_swap_dealloc"(object, destructor)

cdef extern from *:
    """
    #ifdef _WIN32
    #include <windows.h>
    static void imode_pause(int microseconds) { (void)microseconds; Sleep(0); }
    #else
    #include <time.h>
    static void imode_pause(int microseconds) {
        struct timespec t = {0, 1000L * microseconds};
        nanosleep(&t, NULL);
    }
    #endif
    """
    void pause "imode_pause"(int microseconds) noexcept nogil

cdef extern from "numpy/ndarraytypes.h":
    bint PyArray_IS_C_CONTIGUOUS(ndarray) noexcept
    int PyArray_CopyInto(ndarray target, ndarray source) except -1

cdef object _layout = local()          # .free: gradients may have any layout, in this thread
cdef bint _warned = False              # about a gradient's layout: once per process
cdef Operator _op_add = None
cdef Operator _op_detach = None
cdef Operator _op_add_inplace = None


cdef int _find_operators() except -1:
    """Look up the operators that leaves call, when the first leaf gets a gradient."""
    global _op_add, _op_detach, _op_add_inplace
    _op_add, _op_detach, _op_add_inplace = operator("add"), operator("detach"), operator("add_")
    return 0


@cython.binding(False)
@cython.final
@cython.no_gc_clear           # __dealloc__ needs `variable`, whose meta points here
cdef class AccumulateGrad(Node):
    """Where the graph ends at a leaf: adds the gradient to the leaf's `.grad`."""

    def __dealloc__(self):
        if <PyObject*>self.variable == NULL:      # Node.__cinit__ raised: there are no fields yet
            return
        if self.variable is not None and self.variable.meta is not None and (
                self.variable.meta.accumulator == <PyObject*>self):
            self.variable.meta.accumulator = NULL
        if self.aliases is not None:
            for reference in self.aliases:
                alias = reference()
                if alias is not None:
                    if (<Tensor>alias).meta is not None and (
                            (<Tensor>alias).meta.accumulator == <PyObject*>self):
                        (<Tensor>alias).meta.accumulator = NULL

    cdef str label(self):
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self):
        """The leaf."""
        return self.variable

    cdef int apply(self, PyObject** grads, PyObject** out) except -1:
        if self.variable.grad_fn is not None:
            raise RuntimeError(
                "leaf variable has been moved into the graph interior. It was written to in place, "
                "while it did not require grad, after this graph was recorded: write to a clone().")
        # A leaf that no longer requires grad gets no gradient, even from a graph recorded before.
        if grads[0] != NULL and self.variable.leaf_requires_grad:
            _take_turn(self, grads[0])
        if self.variable.meta.post_hooks is not None:
            if call_hooks(self.variable.meta.post_hooks, self.variable) is not self.variable:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        return 0


# Note [Recycled leaves]
# A leaf has its node only while a graph leads to it, so a statement that records makes one for each
# leaf in it, and drops it with the result. A node that dies as it was made, without hooks, aliases
# and weak references, is kept, to be the next leaf's.
cdef enum:
    SPARES = 256

cdef PyObject* _spares[SPARES]    # dead nodes without a variable
cdef int _n_spares = 0


cdef AccumulateGrad _new():
    global _n_spares
    cdef AccumulateGrad node
    if _n_spares:
        _n_spares -= 1
        node = <AccumulateGrad>revive(_spares[_n_spares])
        begin(node)
    else:
        node = AccumulateGrad.__new__(AccumulateGrad)
        node.set_outputs(1)
    return node


cdef void _recycle(PyObject* o) noexcept:
    """AccumulateGrad's tp_dealloc."""
    global _n_spares
    cdef Tensor leaf
    if <PyObject*>(<AccumulateGrad>o).variable == NULL or (
            (<AccumulateGrad>o).aliases is not None or (<AccumulateGrad>o).extras is not None
            or has_weak_references(o) or _n_spares == SPARES):
        _free(o)
        return
    PyObject_GC_UnTrack(o)
    ended()
    leaf = (<AccumulateGrad>o).variable
    if leaf is not None:
        if leaf.meta is not None and leaf.meta.accumulator == o:
            leaf.meta.accumulator = NULL
        (<AccumulateGrad>o).variable = None
    _spares[_n_spares] = o
    _n_spares += 1
    # Here the leaf may die, which may run any code.


cdef destructor _free = swap_dealloc(AccumulateGrad, _recycle)      # really frees the object


cdef int share_accumulator(AccumulateGrad node, Tensor alias) except -1:
    """Make `alias` a leaf whose gradient goes into the `.grad` of the node's leaf."""
    set_leaf(alias, True)
    meta_of(alias).accumulator = <PyObject*>node
    if node.aliases is None:
        node.aliases = []
    node.aliases = [reference for reference in node.aliases if reference() is not None]
    node.aliases.append(weakref.ref(alias))
    return 0


cdef AccumulateGrad accumulator_of(Tensor leaf):
    cdef AccumulateGrad node
    cdef AutogradMeta meta = meta_of(leaf)
    if meta.accumulator != NULL:
        return <AccumulateGrad>meta.accumulator
    node = _new()
    node.variable = leaf
    node.sequence = <uint64_t>-1      # leaves run first
    describe_first(node, leaf)
    meta.accumulator = <PyObject*>node
    return node


cdef bint node_edge(Tensor tensor, Edge* edge) except -1:
    cdef AccumulateGrad leaf
    if tensor.view is not None:
        grad_fn_of(tensor)            # renews it
    edge.input_nr = 0
    if tensor.grad_fn is not None:
        edge.node, edge.input_nr = <PyObject*>tensor.grad_fn, tensor.output_nr
    elif tensor.leaf_requires_grad:
        leaf = accumulator_of(tensor)
        edge.node = <PyObject*>leaf
    else:
        # Also the case of a view, made without recording, of a base that requires grad: the view
        # has requires_grad=True as well, but its gradient goes nowhere.
        edge.node = NULL
        return False
    Py_INCREF(<object>edge.node)
    return True


cdef int connect(Node node, int edge, Tensor tensor) except -1:
    cdef Edge found
    node_edge(tensor, &found)
    next_nodes(node)[edge] = found.node
    input_nrs(node)[edge] = found.input_nr
    return 0


def forget_graphs(Tensor leaf not None):
    """Cut a leaf off from the graphs recorded so far, because its memory has been replaced."""
    if leaf.meta is not None:
        leaf.meta.accumulator = NULL


cdef int _take_turn(AccumulateGrad node, PyObject* arrived) except -1:
    """Add to the leaf's gradient once no other thread is doing so."""
    cdef TLS* before = node.owner
    cdef TLS* state = tls()
    while node.owner != NULL and node.owner != state:
        with nogil:
            pause(20)
        PyErr_CheckSignals()
        before = node.owner
    node.owner = state
    try:
        _accumulate(node, arrived)
    finally:
        node.owner = before           # this thread where calls nest: a destructor ran backward
    return 0


cdef int _accumulate(AccumulateGrad node, PyObject* arrived) except -1:
    cdef Tensor leaf = node.variable
    cdef Tensor gradient = <Tensor>arrived
    cdef bint recording = not tls().no_grad
    if _op_add is None:
        _find_operators()
    before = meta_of(leaf).grad
    if before is None:
        if not recording and _may_steal(gradient, arrived) and (
                _same_layout(gradient, leaf) or not is_layout_enforced()):
            # A post-hook sees the gradient, so .grad must be another tensor then.
            leaf.meta.grad = gradient if gradient.grad_fn is None and gradient.view is None and (
                not gradient.leaf_requires_grad) and (
                node.extras is None or node.extras.post_hooks is None) else (
                call1(_op_detach, gradient))
        else:
            leaf.meta.grad = _copy_like(gradient, leaf)
        return 0
    if (<Tensor>before).keys & ~gradient.keys & BIT_SPARSE:
        leaf.meta.grad = before = call2(_op_add, gradient, before)
    elif recording:
        leaf.meta.grad = before = call2(_op_add, before, gradient)
    else:
        call2(_op_add_inplace, before, gradient)
    if not _same_layout(<Tensor>before, leaf):
        _warn_of_layout(<Tensor>before, leaf)
    return 0


cdef int _warn_of_layout(Tensor gradient, Tensor leaf) except -1:
    global _warned
    if not _warned and is_layout_enforced():
        _warned = True
        warn("grad and param do not obey the gradient layout contract. This is not an "
             "error, but may impair performance.\n"
             f"grad.sizes() = {list(gradient.shape)}, strides() = "
             f"{list(gradient.stride())}\n"
             f"param.sizes() = {list(leaf.shape)}, strides() = {list(leaf.stride())}")
    return 0


def is_layout_enforced():
    """Whether a leaf's first gradient must have the leaf's memory layout, in this thread."""
    return not getattr(_layout, "free", False)


def enforce_layout(enable):
    """Set it; see `enforce_grad_layout_policy`."""
    _layout.free = not enable


cdef bint _may_steal(Tensor gradient, PyObject* arrived) noexcept:
    """Whether only this task refers to the gradient, which may then become .grad uncopied.

    It may be a view of a tensor that others refer to, as when the root's gradient passed only
    through views; PyTorch, too, lets .grad share that memory.
    """
    # References: the task's slot and the caller's local.
    return <PyObject*>gradient == arrived and Py_REFCNT(arrived) == 2


cdef bint _same_layout(Tensor gradient, Tensor leaf):
    """Whether the gradient has the layout that `.grad` must have: the leaf's, or contiguous where
    the leaf has gaps or overlaps."""
    cdef ndarray array = storage(gradient)
    cdef ndarray like = storage(leaf)
    cdef int i
    if gradient.keys & BIT_SPARSE:
        return True
    if not is_dense(like):
        return PyArray_IS_C_CONTIGUOUS(array)
    for i in range(array.ndim):
        if i >= like.ndim:
            return PyArray_IS_C_CONTIGUOUS(array)      # a hook changed a shape
        if array.shape[i] == 1:
            if array.strides[i] == 0:
                return False      # an expanded dimension
        elif array.strides[i] * like.itemsize != like.strides[i] * array.itemsize:
            return False
    return True


cdef object _copy_like(Tensor gradient, Tensor leaf):
    """A copy with the layout that `.grad` must have: that of a dense leaf, written into new memory,
    so that its version is 1; else row by row."""
    cdef ndarray source = storage(gradient)
    cdef ndarray copy
    cdef Tensor out
    if gradient.keys & BIT_SPARSE:
        return call1(operator("clone"), gradient)
    if not is_dense(storage(leaf)):
        return operator("clone")(gradient, memory_format="contiguous_format")
    if tls().no_grad and same_shape(gradient, leaf) and gradient.keys & BIT_CPU:
        copy = empty_like(storage(leaf), PyArray_TYPE(source))
        PyArray_CopyInto(copy, source)
        tls().operator_id = _BACKWARD
        out = wrap(copy)
        if not is_inference(out):
            bump(version_of(out))
        return out
    out = operator("new_empty_strided")(gradient, leaf.shape, leaf.stride())
    return call2(operator("copy_"), out, gradient)
