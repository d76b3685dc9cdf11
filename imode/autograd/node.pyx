"""The graph: nodes and their edges.

# Note [Freeing long graphs]
A node owns the nodes it leads to, so freeing the last result of a chain of a million nodes would
recurse a million deep. The nodes' deallocation goes through CPython's trashcan, which bounds the
depth; every cycle of ownership in the graph passes through a node.
"""
cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from imode._core.dispatch cimport TLS, tls
from imode._core.dtype cimport as_device, dtype_from_typenum, new_size
from imode._core.live cimport alive, born, died
from imode._core.tensor cimport Tensor, grad_fn_of, is_tensor, storage, typenum
from imode.autograd.derivative cimport MAX_SAVED, Derivative
from imode.autograd.hooks cimport add_hook, new_table
from imode.autograd.leaves cimport accumulator_of
from imode.autograd.recorded cimport shown
from imode.autograd.saved cimport SavedTensor, drop_stamped, forget
from libc.stdlib cimport calloc
from libc.stdlib cimport free as c_free
from numpy cimport npy_intp

from collections import namedtuple

from imode.errors import graph_freed

cdef extern from "Python.h":
    ctypedef int (*visitproc)(PyObject*, void*) noexcept
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*) noexcept
    ctypedef int (*inquiry)(PyObject*) noexcept
    Py_ssize_t Py_REFCNT(PyObject*) noexcept

cdef extern from *:
    """
    #define IMODE_GET_TRAVERSE(t) (((PyTypeObject*)(t))->tp_traverse)
    #define IMODE_GET_CLEAR(t) (((PyTypeObject*)(t))->tp_clear)
    #define IMODE_SET_TRAVERSE(t, f) (((PyTypeObject*)(t))->tp_traverse = (traverseproc)(f))
    #define IMODE_SET_CLEAR(t, f) (((PyTypeObject*)(t))->tp_clear = (inquiry)(f))
    """
    traverseproc get_traverse "IMODE_GET_TRAVERSE"(object cls)
    inquiry get_clear "IMODE_GET_CLEAR"(object cls)
    void set_traverse "IMODE_SET_TRAVERSE"(object cls, traverseproc f)
    void set_clear "IMODE_SET_CLEAR"(object cls, inquiry f)

InputMetadata = namedtuple("InputMetadata", "shape dtype device is_nested_tensor",
                           defaults=(False,))
ctypedef int (*observer_t)(Node node) except -1
cdef observer_t _observer = NULL


cdef void set_observer(observer_t function) noexcept:
    global _observer
    _observer = function


def live_nodes():
    """How many graph nodes are alive; None unless this is a debug build."""
    return alive()


cdef void _give_up(object saved) noexcept:
    if type(saved) is SavedTensor:
        forget(saved)
    elif type(saved) is tuple:
        for item in <tuple>saved:
            forget(item)


cdef void let_go(PyObject** items, int n):
    """Let go of what a node has saved, when it no longer points there: this may run any code."""
    cdef int i
    for i in range(n):
        if items[i] != NULL and not is_tensor(items[i]) and Py_REFCNT(items[i]) > 1:
            _give_up(<object>items[i])       # somebody holds a SavedTensor, or a tuple of them
    _drop(items, n)


cdef void _drop(PyObject** items, int n):
    """Let go of it where the node itself goes: SavedTensors that others hold stay as they are."""
    cdef int i
    for i in range(n):
        if items[i] != NULL and is_tensor(items[i]):
            drop_stamped(<Tensor>items[i])
    for i in range(n):
        Py_XDECREF(items[i])


@cython.trashcan(True)        # Note [Freeing long graphs]
cdef class Node:
    """One recorded operation: what `tensor.grad_fn` shows.

    Not made from Python.
    """

    def __init__(self):
        raise TypeError(f"cannot create '{type(self).__name__}' instances: nodes are made by "
                        "recording operations")

    def __cinit__(self):
        cdef TLS* state = tls()
        born()
        self.sequence = state.sequence
        state.sequence += 1
        if _observer != NULL:
            _observer(self)

    def __dealloc__(self):
        cdef int i
        died()
        self._drop_saved()
        self._drop_edges()
        for i in range(n_outputs(self)):
            if outputs_of(self)[i].nd > MAX_SHAPE:
                c_free(outputs_of(self)[i].shape.many)
        if n_outputs(self) > 1:
            c_free(self.output.shape.many)

    cdef void _drop_saved(self):
        cdef PyObject* items[MAX_SAVED]
        cdef PyObject** saved = saved_values(self)
        cdef int n = self.n_saved
        cdef int i
        self.n_saved = 0
        for i in range(n):
            items[i] = saved[i]
        if n > SMALL:
            c_free(saved)
        _drop(items, n)

    cdef void _drop_edges(self):
        cdef PyObject* few[SMALL]
        cdef PyObject** nodes = next_nodes(self)
        cdef int n = self.n_edges
        cdef int i
        self.n_edges = 0
        if n <= SMALL:
            for i in range(n):
                few[i] = nodes[i]
            nodes = few
        for i in range(n):
            Py_XDECREF(nodes[i])
        if n > SMALL:
            c_free(nodes)

    cdef int set_edges(self, int n) except -1:
        cdef PyObject** many
        if n > SMALL:
            many = <PyObject**>calloc(n, sizeof(PyObject*) + sizeof(int))
            if many == NULL:
                raise MemoryError()
            self.next.many = many
        self.n_edges = n
        return 0

    cdef int set_outputs(self, int n) except -1:
        cdef OutputMeta* many
        cdef int i
        if n > 1:
            many = <OutputMeta*>calloc(n, sizeof(OutputMeta))
            if many == NULL:
                raise MemoryError()
            self.output.shape.many = <npy_intp*>many
        self.output.n_outputs = n
        for i in range(n):
            outputs_of(self)[i].typenum = -1
        return 0

    cdef int describe(self, int output, Tensor tensor) except -1:
        cdef OutputMeta* meta = &outputs_of(self)[output]
        cdef int nd = storage(tensor).ndim
        cdef npy_intp* many
        cdef int i
        if nd > MAX_SHAPE:
            many = <npy_intp*>calloc(nd, sizeof(npy_intp))
            if many == NULL:
                raise MemoryError()
        if meta.nd > MAX_SHAPE:
            c_free(meta.shape.many)
        if nd > MAX_SHAPE:
            meta.shape.many = many
        meta.nd = <short>nd
        meta.typenum = <short>typenum(tensor)
        for i in range(nd):
            meta_shape(meta)[i] = storage(tensor).shape[i]
        return 0

    cdef void connect(self, int edge, Tensor tensor):
        cdef Edge found
        node_edge(tensor, &found)
        next_nodes(self)[edge] = found.node
        input_nrs(self)[edge] = found.input_nr

    cdef int apply(self, PyObject** grads, PyObject** out) except -1:
        raise NotImplementedError()   # each class has its own

    cdef void release(self):
        pass                          # for what has saved nothing

    def name(self):
        """The node's name, such as "AddBackward0"."""
        return type(self).__name__

    @property
    def next_functions(self):
        """Where the gradients go: a tuple of (node or None, input number)."""
        return tuple([(None if next_nodes(self)[i] == NULL else shown(<object>next_nodes(self)[i]),
                       input_nrs(self)[i]) for i in range(self.n_edges)])

    @property
    def metadata(self):
        """A dict for the user's own notes about this node."""
        if extras_of(self).metadata is None:
            self.extras.metadata = {}
        return self.extras.metadata

    def _sequence_nr(self):
        """The number of the recording; later nodes have greater ones."""
        return self.sequence

    def _set_sequence_nr(self, uint64_t number):
        """Change the place in the order of execution: greater ones run first."""
        self.sequence = number

    @property
    def requires_grad(self):
        """True."""
        return True

    @property
    def _input_metadata(self):
        """What the gradient of each result looks like: shape, dtype, device; None where it has
        none."""
        return [None if outputs_of(self)[i].typenum < 0 else InputMetadata(
            list(self._shape(i)), dtype_from_typenum(outputs_of(self)[i].typenum), as_device(None))
            for i in range(n_outputs(self))]

    cdef object _shape(self, int output):
        cdef OutputMeta* meta = &outputs_of(self)[output]
        return new_size(meta.nd, meta_shape(meta))

    def register_hook(self, hook):
        """Call `hook(grad_inputs, grad_outputs)` after this node ran; it may return new
        grad_inputs. Returns a handle with `remove()`."""
        if extras_of(self).post_hooks is None:
            self.extras.post_hooks = new_table()
        return add_hook(self.extras.post_hooks, hook)

    def register_prehook(self, hook):
        """Call `hook(grad_outputs)` before this node runs; it may return new grad_outputs.
        Returns a handle with `remove()`."""
        if extras_of(self).pre_hooks is None:
            self.extras.pre_hooks = new_table()
        return add_hook(self.extras.pre_hooks, hook)

    def __call__(self, *grads):
        """The gradients of the inputs, from those of the results; None for what has none."""
        cdef PyObject** given
        cdef PyObject** out
        cdef int i
        if len(grads) != n_outputs(self):
            raise TypeError(f"expected {n_outputs(self)} arguments, got {len(grads)} instead")
        for i, gradient in enumerate(grads):
            if gradient is not None and type(gradient) is not Tensor:
                raise TypeError(f"argument {i} is not a Variable")
        given = <PyObject**>calloc(n_outputs(self) + self.n_edges + 1, sizeof(PyObject*))
        if given == NULL:
            raise MemoryError()
        out = given + n_outputs(self)
        try:
            for i, gradient in enumerate(grads):
                if gradient is not None:
                    given[i] = <PyObject*>gradient
            self.apply(given, out)
            found = tuple([None if out[i] == NULL else <object>out[i]
                           for i in range(self.n_edges)])
        finally:
            for i in range(self.n_edges):
                Py_XDECREF(out[i])
            c_free(given)
        return found[0] if len(found) == 1 else found

    def __getattr__(self, str name):
        raise no_attribute(self, name)

    def __reduce__(self):
        raise TypeError(f"cannot pickle {bare_name(self)!r} object. It is part of a graph that "
                        "lives in this process: pickle a detach() of the tensor.")

    def __repr__(self):
        return f"<{bare_name(self)} object at {<size_t><PyObject*>self:#x}>"


cdef str bare_name(Node node):
    return node.name().rpartition("::")[2]


cdef object no_attribute(Node node, str name):
    return AttributeError(f"{bare_name(node)!r} object has no attribute {name!r}")


@cython.final
cdef class Extras:
    """What only some nodes have; not visible from Python."""


cdef Extras extras_of(Node node):
    if node.extras is None:
        node.extras = Extras.__new__(Extras)
    return node.extras


cdef object freed(Node node):
    return graph_freed(node.name(), node.notes.released_at)


cdef bint node_edge(Tensor tensor, Edge* edge) except -1:
    cdef object grad_fn = tensor.grad_fn if tensor.view is None else grad_fn_of(tensor)
    cdef Node node
    if grad_fn is not None:
        edge.input_nr = tensor.output_nr
        edge.node = <PyObject*>grad_fn
        Py_INCREF(grad_fn)
        return True
    if not tensor.leaf_requires_grad:
        # Also a view, made where nothing is recorded, of a base that requires grad: it says that
        # it requires grad too, but no gradient goes on from it.
        edge.node = NULL
        edge.input_nr = 0
        return False
    node = accumulator_of(tensor)
    edge.input_nr = 0
    edge.node = <PyObject*>node
    Py_INCREF(node)
    return True


# ---- garbage collection: the C arrays of a node hold Python objects ----

cdef traverseproc _node_traverse = get_traverse(Node)
cdef inquiry _node_clear = get_clear(Node)


cdef int _visit_arrays(PyObject* self, visitproc visit, void* arg) noexcept:
    cdef Node node = <Node>self
    cdef PyObject* item
    cdef int i, result
    for i in range(node.n_edges):
        if next_nodes(node)[i] != NULL:
            result = visit(next_nodes(node)[i], arg)
            if result:
                return result
    for i in range(node.n_saved):
        item = saved_values(node)[i]
        if item != NULL:
            result = visit(item, arg)
            if result:
                return result
    return 0


# Classes in other modules reach these through Node's slots.
cdef int _traverse(PyObject* self, visitproc visit, void* arg) noexcept:
    return _visit_arrays(self, visit, arg) or _node_traverse(self, visit, arg)


cdef int _clear(PyObject* self) noexcept:
    cdef Derivative derivative = (<Node>self).derivative
    (<Node>self)._drop_saved()
    (<Node>self)._drop_edges()
    _node_clear(self)
    (<Node>self).derivative = derivative     # part of no cycle: what is looked at still has it
    return 0


set_traverse(Node, _traverse)
set_clear(Node, _clear)
