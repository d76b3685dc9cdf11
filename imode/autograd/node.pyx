"""The graph: nodes and their edges.

# Note [Freeing long graphs]
A node owns the nodes it leads to, so freeing the last result of a chain of a million nodes would
recurse a million levels deep. Therefore nodes are deallocated by CPython's trashcan, which bounds
the depth; every chain of ownership in the graph passes through nodes. Their tp_dealloc is written
here: Cython's would save and restore the current exception around `__dealloc__`, which takes longer
than all else that ends a node. What runs here leaves that exception alone. Tensors that own more
than memory and a node end that way, too (`_core/making.pyx`).
"""
cimport cython
from cpython.mem cimport PyMem_Calloc as calloc  # quicker than glibc's for a few bytes
from cpython.mem cimport PyMem_Free as c_free
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from imode._core.allocator cimport Fields, copy_dims, fields
from imode._core.dispatch cimport TLS, tls
from imode._core.device cimport as_device
from imode._core.dtype cimport dtype_from_typenum
from imode._core.size cimport new_size
from imode._core.live cimport alive, born, died
from imode._core.tensor cimport Tensor
from imode.autograd.derivative cimport Derivative
from imode.autograd.handles cimport add_hook
from numpy cimport import_array, npy_intp

from collections import OrderedDict, namedtuple

from imode import errors

import_array()

cdef extern from "Python.h":
    ctypedef int (*visitproc)(PyObject*, void*) noexcept
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*) noexcept
    ctypedef int (*inquiry)(PyObject*) noexcept
    void PyObject_ClearWeakRefs(PyObject*) noexcept

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
    # For anomaly mode, a module above this one: all nodes, wherever created, pass through here.
    global _observer
    _observer = function


def live_nodes():
    """How many graph nodes are alive; None unless this is a debug build."""
    return alive()


@cython.binding(False)
cdef class Node:
    """One recorded operation: what `tensor.grad_fn` shows.

    Not made from Python.
    """

    def __init__(self):
        raise TypeError(f"cannot create '{type(self).__name__}' instances: nodes are made by "
                        "recording operations")

    def __cinit__(self):
        begin(self)

    cdef void _drop_saved(self) noexcept:
        pass                          # only an OpNode has saved values

    cdef void _drop_edges(self) noexcept:
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

    cdef int apply(self, PyObject** grads, PyObject** out) except -1:
        raise NotImplementedError()   # each class overrides it

    cdef void release(self):
        pass                          # by default nothing is saved

    cdef object show(self):
        return self

    cdef str label(self):
        return type(self).__name__

    def name(self):
        """The node's name, such as "AddBackward0"."""
        return self.label()

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
        """The number of this node in the order of recording; later nodes have greater ones."""
        return self.sequence

    def _set_sequence_nr(self, uint64_t number):
        """Change the order of execution: nodes with greater numbers run first."""
        self.sequence = number

    @property
    def requires_grad(self):
        """True."""
        return True

    @property
    def _input_metadata(self):
        """Shape, dtype and device of each result's gradient; None for a result without one."""
        return [None if outputs_of(self)[i].typenum < 0 else InputMetadata(
            list(self._shape(i)), dtype_from_typenum(outputs_of(self)[i].typenum), as_device(None))
            for i in range(n_outputs(self))]

    cdef object _shape(self, int output):
        cdef OutputMeta* meta = &outputs_of(self)[output]
        return new_size(meta.nd, meta_shape(meta))

    def register_hook(self, hook):
        """Call `hook(grad_inputs, grad_outputs)` after this node has run; it may return new
        grad_inputs. Returns a handle with `remove()`."""
        if extras_of(self).post_hooks is None:
            self.extras.post_hooks = OrderedDict()
        return add_hook(self.extras.post_hooks, hook)

    def register_prehook(self, hook):
        """Call `hook(grad_outputs)` before this node runs; it may return new grad_outputs.
        Returns a handle with `remove()`."""
        if extras_of(self).pre_hooks is None:
            self.extras.pre_hooks = OrderedDict()
        return add_hook(self.extras.pre_hooks, hook)

    def __call__(self, *grads):
        """Compute the gradients of the inputs from those of the results; None: no gradient."""
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


cdef int describe(Node node, int output, Tensor tensor) except -1:
    cdef OutputMeta* meta = &outputs_of(node)[output]
    cdef Fields* array = fields(tensor.array)
    cdef int nd = array.nd
    cdef npy_intp* many
    if nd != meta.nd:                 # else there is room
        if nd > MAX_SHAPE:
            many = <npy_intp*>calloc(nd, sizeof(npy_intp))
            if many == NULL:
                raise MemoryError()
        if meta.nd > MAX_SHAPE:
            c_free(meta.shape.many)
        if nd > MAX_SHAPE:
            meta.shape.many = many
    meta.nd = <short>nd
    meta.typenum = <short>array.descr.type_num
    copy_dims(meta_shape(meta), array.dimensions, nd)
    return 0


cdef int begin(Node node) except -1:
    cdef TLS* state = tls()
    born()
    node.sequence = state.sequence
    state.sequence += 1
    if _observer != NULL:
        _observer(node)
    return 0


cdef void ended() noexcept:
    died()


cdef str name_of(object node):
    return None if node is None else (<Node>node).label()


cdef str bare_name(Node node):
    return node.label().rpartition("::")[2]


cdef object no_attribute(Node node, str name):
    return errors.no_attribute(bare_name(node), name)


@cython.final
cdef class Extras:
    """Fields that few nodes need; not visible from Python."""


cdef Extras extras_of(Node node):
    if node.extras is None:
        node.extras = Extras.__new__(Extras)
    return node.extras


cdef object freed(Node node):
    return errors.graph.freed(node.label(), node.notes.released_at)


cdef object shown(object node):
    return None if node is None else (<Node>node).show()


# ---- the end of a node: Note [Freeing long graphs] ----

cdef extern from "recycled.h":
    ctypedef void (*destructor)(PyObject*)
    bint has_weak_references "imode_has_weak_references"(PyObject*) noexcept
    destructor swap_dealloc "imode_swap_dealloc"(object, destructor)
    void end_bounded "imode_end_bounded"(PyObject*, destructor, destructor) noexcept


cdef void drop_outputs(PyObject* o) noexcept:
    cdef OutputMeta* outputs = outputs_of(<Node>o)
    cdef int n = n_outputs(<Node>o)
    cdef int i
    for i in range(n):
        if outputs[i].nd > MAX_SHAPE:
            c_free(outputs[i].shape.many)
    if n > 1:
        c_free(outputs)


cdef void end_node(PyObject* o) noexcept:
    if has_weak_references(o):        # first: their callbacks may look at other nodes
        PyObject_ClearWeakRefs(o)
    died()
    if (<Node>o).n_saved:
        (<Node>o)._drop_saved()
    if (<Node>o).n_edges:
        (<Node>o)._drop_edges()
    drop_outputs(o)
    _free(o)


cdef void _end_bounded(PyObject* o) noexcept:
    """Node's tp_dealloc."""
    end_bounded(o, <destructor>_end_bounded, <destructor>end_node)


cdef destructor _free = swap_dealloc(Node, <destructor>_end_bounded)   # really frees the object


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


# Installed in Node's type slots: subclasses in other modules call these.
cdef int _traverse(PyObject* self, visitproc visit, void* arg) noexcept:
    return _visit_arrays(self, visit, arg) or _node_traverse(self, visit, arg)


cdef int _clear(PyObject* self) noexcept:
    cdef Derivative derivative = (<Node>self).derivative
    (<Node>self)._drop_saved()
    (<Node>self)._drop_edges()
    _node_clear(self)
    (<Node>self).derivative = derivative     # is in no cycle, and a cleared node is still read
    return 0


set_traverse(Node, _traverse)
set_clear(Node, _clear)
