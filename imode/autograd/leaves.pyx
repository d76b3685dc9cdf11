"""Leaves: where the graph ends, and how a gradient becomes a leaf's `.grad`."""
import warnings
import weakref
from _thread import _local as local     # threading.local, at a tenth of the price of an import

cimport cython
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator, call1, call2, operator, tls
from imode._core.iterate cimport empty_like, is_dense
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, bump, is_inference, meta_of, storage, version_of
from imode.autograd.fit cimport same_shape
from imode.autograd.hooks cimport call_hooks
from imode.autograd.node cimport Node
from libc.stdint cimport uint64_t
from numpy cimport PyArray_TYPE, import_array, ndarray

from imode._core.origins import operator_id

import_array()
cdef int _BACKWARD = operator_id("backward")

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject*) noexcept
    int PyErr_CheckSignals() except -1

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

cdef object _layout = local()          # .free: this thread asks for no layout of gradients
cdef bint _warned = False              # of a gradient's layout, once in a process
cdef Operator _op_add = None
cdef Operator _op_detach = None
cdef Operator _op_add_inplace = None


cdef int _find_operators() except -1:
    """Find the operators that leaves call: when the first leaf gets a gradient."""
    global _op_add, _op_detach, _op_add_inplace
    _op_add, _op_detach, _op_add_inplace = operator("add"), operator("detach"), operator("add_")
    return 0


@cython.final
@cython.no_gc_clear           # the leaf's unowned pointer back must be taken away at deallocation
@cython.trashcan(True)
cdef class AccumulateGrad(Node):
    """Where the graph ends at a leaf: adds the gradient to the leaf's `.grad`."""

    def __dealloc__(self):
        if <PyObject*>self.variable == NULL:      # Node.__cinit__ raised: it has no fields yet
            return
        if self.variable is not None and self.variable.meta is not None and (
                self.variable.meta.accumulator == <PyObject*>self):
            self.variable.meta.accumulator = NULL
        if self.aliases is not None:
            for reference in self.aliases:
                alias = reference()
                if alias is not None:
                    _part(<Tensor>alias, <PyObject*>self)

    def name(self):
        """The node's name."""
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
        # A leaf that no longer requires grad receives none, whatever was recorded before.
        if grads[0] != NULL and self.variable.leaf_requires_grad:
            _take_turn(self, grads[0])
        if self.variable.meta.post_hooks is not None:
            if call_hooks(self.variable.meta.post_hooks, self.variable) is not self.variable:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        return 0


cdef int _part(Tensor alias, PyObject* node) except -1:
    if alias.meta is not None and alias.meta.accumulator == node:
        alias.meta.accumulator = NULL
    return 0


cdef int share_accumulator(AccumulateGrad node, Tensor alias) except -1:
    """Make `alias` a leaf whose gradients go where the node's leaf has its own."""
    alias.leaf_requires_grad = True
    meta_of(alias).accumulator = <PyObject*>node
    if node.aliases is None:
        node.aliases = []
    node.aliases = [reference for reference in node.aliases if reference() is not None]
    node.aliases.append(weakref.ref(alias))
    return 0


cdef AccumulateGrad accumulator_of(Tensor leaf):
    cdef AccumulateGrad node
    # A node that waits in the trashcan is still pointed to, and must not come back to life.
    if meta_of(leaf).accumulator != NULL and Py_REFCNT(leaf.meta.accumulator) > 0:
        return <AccumulateGrad>leaf.meta.accumulator
    node = AccumulateGrad.__new__(AccumulateGrad)
    node.variable = leaf
    node.sequence = <uint64_t>-1      # leaves run first
    node.set_outputs(1)
    node.describe(0, leaf)
    leaf.meta.accumulator = <PyObject*>node
    return node


def forget_graphs(Tensor leaf not None):
    """Let graphs recorded so far no longer lead to a leaf, whose memory has been replaced."""
    if leaf.meta is not None:
        leaf.meta.accumulator = NULL


cdef int _take_turn(AccumulateGrad node, PyObject* arrived) except -1:
    """Add to the leaf's gradient when no other thread does."""
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
        node.owner = before           # its own, where a destructor ran backward meanwhile
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
            # What a post-hook will be shown is no longer `.grad` itself.
            leaf.meta.grad = gradient if gradient.grad_fn is None and gradient.view is None and (
                not gradient.leaf_requires_grad) and (
                node.extras is None or node.extras.post_hooks is None) else (
                call1(_op_detach, gradient))
        else:
            leaf.meta.grad = _copy_like(gradient, leaf)
        return 0
    if recording:
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
        warnings.warn("grad and param do not obey the gradient layout contract. This is not an "
                      "error, but may impair performance.\n"
                      f"grad.sizes() = {list(gradient.shape)}, strides() = "
                      f"{list(gradient.stride())}\n"
                      f"param.sizes() = {list(leaf.shape)}, strides() = {list(leaf.stride())}",
                      UserWarning, stacklevel=2)
    return 0


def is_layout_enforced():
    """Whether a leaf's first gradient is laid out in memory as the leaf is, in this thread."""
    return not getattr(_layout, "free", False)


def enforce_layout(enable):
    """Set whether it is; see `enforce_grad_layout_policy`."""
    _layout.free = not enable


cdef bint _may_steal(Tensor gradient, PyObject* arrived) noexcept:
    """Whether nothing but this task holds the gradient: then .grad may be it, uncopied.

    It may be a view of a tensor that others hold, as where the root's gradient went through views
    alone; PyTorch lets .grad share that memory.
    """
    # References: the task's slot and the caller's local.
    return <PyObject*>gradient == arrived and Py_REFCNT(arrived) == 2


cdef bint _same_layout(Tensor gradient, Tensor leaf):
    """Whether the gradient lies in memory as `.grad` must: like the leaf, or contiguous where the
    leaf has holes or overlaps."""
    cdef ndarray array = storage(gradient)
    cdef ndarray like = storage(leaf)
    cdef int i
    if not is_dense(like):
        return PyArray_IS_C_CONTIGUOUS(array)
    for i in range(array.ndim):
        if i >= like.ndim:
            return PyArray_IS_C_CONTIGUOUS(array)      # a hook changed a shape
        if array.shape[i] == 1:
            if array.strides[i] == 0:
                return False      # expanded
        elif array.strides[i] * like.itemsize != like.strides[i] * array.itemsize:
            return False
    return True


cdef object _copy_like(Tensor gradient, Tensor leaf):
    """A copy laid out as `.grad` must be: like a dense leaf, written into new memory, so that its
    version is 1; else in row order."""
    cdef ndarray source = storage(gradient)
    cdef ndarray copy
    cdef Tensor out
    if not is_dense(storage(leaf)):
        return operator("clone")(gradient, memory_format="contiguous_format")
    if tls().no_grad and same_shape(gradient, leaf):
        copy = empty_like(storage(leaf), PyArray_TYPE(source))
        PyArray_CopyInto(copy, source)
        tls().operator_id = _BACKWARD
        out = wrap(copy)
        if not is_inference(out):
            bump(version_of(out))
        return out
    made = operator("new_empty_strided")(gradient, leaf.shape, leaf.stride())
    return call2(operator("copy_"), made, gradient)
