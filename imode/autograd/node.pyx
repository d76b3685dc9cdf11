"""The graph: nodes and their edges.

# Note [Freeing long graphs]
A node owns the nodes it leads to, so freeing the last result of a chain of a million nodes would
recurse a million deep. The nodes' deallocation goes through CPython's trashcan, which bounds the
depth; every cycle of ownership in the graph passes through a node.
"""
cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from imode._core.dispatch cimport TLS, tls
from imode._core.dtype cimport as_device, dtype_from_typenum, new_size
from imode._core.keyset cimport NORMAL_KEYS
from imode._core.live cimport alive, born, died
from imode._core.making cimport alias_of, new_tensor
from imode._core.tensor cimport Tensor, grad_fn_of, is_tensor, storage, typenum
from imode.autograd.derivative cimport (
    FROM_ARGUMENT, FROM_RESULT, GRAD, GRADS, MAX_SAVED, Derivative, Formula, Slot)
from imode.autograd.hooks cimport add_hook, new_table
from imode.autograd.leaves cimport accumulator_of
from imode.autograd.recorded cimport shown
from imode.autograd.saved cimport (
    SavedTensor, add_stamped, drop_stamped, forget, of_stamped, save_input, save_result,
    saved_value, stamp, stamp_t, unpack, unpack_stamped)
from imode.autograd.task cimport should_compute
from libc.stdlib cimport calloc
from libc.stdlib cimport free as c_free
from numpy cimport npy_intp

from collections import namedtuple

import numpy as np

from imode.errors import graph_freed, result_missing

cdef extern from "Python.h":
    ctypedef int (*visitproc)(PyObject*, void*) noexcept
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*) noexcept
    ctypedef int (*inquiry)(PyObject*) noexcept
    Py_ssize_t Py_REFCNT(PyObject*) noexcept
    object PyObject_Vectorcall(PyObject* f, PyObject** args, size_t n, PyObject* names)

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
cdef tuple _NUMBERS = (bool, int, float, complex)
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


cdef void _drop(PyObject** items, int n):
    """Let go of what a node has saved, when it no longer points there: this may run any code."""
    cdef int i
    for i in range(n):
        if items[i] == NULL:
            continue
        if is_tensor(items[i]):
            drop_stamped(<Tensor>items[i])
        elif Py_REFCNT(items[i]) > 1:
            _give_up(<object>items[i])       # somebody holds a SavedTensor, or a tuple of them
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

    cdef int set_saved(self, int n) except -1:
        cdef PyObject** many
        if n > SMALL:
            many = <PyObject**>calloc(n, sizeof(PyObject*))
            if many == NULL:
                raise MemoryError()
            self.saved.many = many
        self.n_saved = n
        return 0

    cdef void keep(self, int slot, object value):
        Py_INCREF(value)
        saved_values(self)[slot] = <PyObject*>value

    cdef int keep_input(self, int slot, Tensor tensor, str saver) except -1:
        """Save an input; `saver`: the operator, for messages."""
        cdef stamp_t noted = stamp(tensor, -1) if has_stamp(self, slot) else 0
        if noted:
            return self._hold(slot, tensor, noted)
        self.keep(slot, save_input(tensor, saver))
        return 0

    cdef int keep_result(self, int slot, Tensor tensor, int output_nr) except -1:
        cdef stamp_t noted = stamp(tensor, output_nr) if has_stamp(self, slot) else 0
        if noted:
            return self._hold(slot, alias_of(tensor), noted)
        self.keep(slot, save_result(tensor, output_nr))
        return 0

    cdef int _hold(self, int slot, Tensor tensor, stamp_t noted) except -1:
        self.keep(slot, tensor)
        self.notes.stamps[slot] = noted
        add_stamped(tensor)
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

    cdef void release(self):
        """Free the saved tensors. Shapes and numbers stay, to be looked at; a node that has nothing
        else may run again."""
        cdef PyObject* items[MAX_SAVED]
        cdef PyObject** saved = saved_values(self)
        cdef int n = 0
        cdef int i
        for i in range(self.n_saved):
            if saved[i] != NULL and self._saves_tensors(i):
                self.released |= 1 << i
                items[n] = saved[i]
                saved[i] = NULL
                n += 1
        _drop(items, n)

    cdef bint _saves_tensors(self, int slot):
        value = <object>saved_values(self)[slot]
        if type(value) is Tensor or type(value) is SavedTensor:
            return True
        if self.derivative is not None and self.derivative.slots[slot].operand and (
                not self.derivative.plain_numbers):
            return True                   # a number in a tensor's place
        if type(value) is tuple:
            for item in <tuple>value:
                if type(item) is SavedTensor:
                    return True
        return False

    cdef int apply(self, PyObject** grads, PyObject** out) except -1:
        """Run the operator's formulas on the gradients of its results."""
        cdef Derivative d = self.derivative
        cdef PyObject* saved[MAX_SAVED]
        cdef Formula* formula
        cdef object value
        cdef int number, k
        cdef int n = 0
        cdef int missing = -1
        if self.released:
            raise freed(self)
        try:
            # Each once, in the order of slots, which hooks can tell: and what was written to is
            # refused also where it is not needed.
            while n < d.n_slots:
                value = self._unpacked(n) if d.slots[n].formulas else None
                Py_INCREF(value)
                saved[n] = <PyObject*>value
                if self._saved(n) == NULL and d.slots[n].source == FROM_RESULT:
                    missing = n
                n += 1
            if d.unimplemented or self._any_grad(grads):
                if missing >= 0:
                    raise result_missing(self.name(), d.slot_names[missing])
                for number in range(d.n_formulas):
                    formula = &d.formulas[number]
                    if d.unimplemented or self._wanted(formula):
                        self._compute(formula, saved, grads, out)
        finally:
            for k in range(n):
                Py_DECREF(<object>saved[k])
        return 0

    cdef int _compute(self, Formula* formula, PyObject** saved, PyObject** grads,
                      PyObject** out) except -1:
        """Run one formula; nothing where the gradient that it reads is not there."""
        cdef PyObject* values[MAX_SAVED]
        cdef object arrived, needs
        cdef TLS* state = tls()
        cdef int k, slot
        for k in range(formula.n_parameters):
            slot = formula.parameters[k]
            if slot >= 0:
                values[k] = saved[slot]
            elif slot == GRAD:
                if grads[0] == NULL and not self.derivative.unimplemented:
                    return 0
                values[k] = <PyObject*>None if grads[0] == NULL else grads[0]
            elif slot == GRADS:
                arrived = tuple([None if grads[i] == NULL else <object>grads[i]
                                 for i in range(n_outputs(self))])
                values[k] = <PyObject*>arrived
            else:
                needs = self._needs(formula)
                values[k] = <PyObject*>needs
        state.plain_numbers = self.derivative.plain_numbers
        try:
            value = PyObject_Vectorcall(formula.function, values, formula.n_parameters, NULL)
        finally:
            state.plain_numbers = False
        if formula.n_inputs == 1 and self.derivative.list_input < 0:
            self._put(formula.inputs[0], value, out)
        else:
            self._distribute(formula, value, out)
        return 0

    cdef bint _any_grad(self, PyObject** grads) noexcept:
        cdef int i
        for i in range(n_outputs(self)):
            if grads[i] != NULL:
                return True
        return False

    cdef PyObject* _saved(self, int slot) noexcept:
        return saved_values(self)[slot] if slot < self.n_saved else NULL   # else it was cleared

    cdef object _unpacked(self, int slot):
        cdef PyObject* item
        if self.released >> slot & 1:     # also by another thread, in the middle of a run
            raise freed(self)
        item = self._saved(slot)
        if item == NULL:
            return None
        if is_tensor(item):
            return unpack_stamped(<Tensor>item, self.notes.stamps[slot], self)
        if type(<object>item) is SavedTensor:
            return unpack(<SavedTensor>item, self)
        if self.derivative.slots[slot].source == FROM_ARGUMENT and type(<object>item) is tuple:
            return tuple([unpack(<SavedTensor>x, self) if type(x) is SavedTensor else x
                          for x in <tuple>item])
        return <object>item

    cdef int _first_edge(self, int input) noexcept:
        """The first edge of a differentiable input, of how many there are; a list has one edge per
        tensor, anything else has one."""
        cdef Derivative d = self.derivative
        if d.list_input < 0 or input <= d.list_input:
            return input
        return self.n_edges - (d.n_inputs - input)

    cdef bint _wanted(self, Formula* formula) noexcept:
        cdef int k, edge
        for k in range(formula.n_inputs):
            if self.derivative.list_input < 0:
                if should_compute(next_nodes(self)[formula.inputs[k]]):
                    return True
                continue
            for edge in range(self._first_edge(formula.inputs[k]),
                              self._first_edge(formula.inputs[k] + 1)):
                if should_compute(next_nodes(self)[edge]):
                    return True
        return False

    cdef tuple _needs(self, Formula* formula):
        cdef int k, i
        needs = []
        for k in range(formula.n_inputs):
            i = formula.inputs[k]
            needed = tuple([should_compute(next_nodes(self)[edge]) for edge in
                            range(self._first_edge(i), self._first_edge(i + 1))])
            needs.append(needed if i == self.derivative.list_input else needed[0])
        return tuple(needs)

    cdef int _distribute(self, Formula* formula, object value, PyObject** out) except -1:
        """Put a formula's gradients where they belong."""
        cdef int k, i, n, edge
        if formula.n_inputs == 1:
            value = (value,)
        elif value is None:
            return 0
        for k, gradient in zip(range(formula.n_inputs), value):
            if gradient is None:
                continue
            i = formula.inputs[k]
            edge = self._first_edge(i)
            if i == self.derivative.list_input:
                gradient = tuple(gradient)
                n = self._first_edge(i + 1) - edge
                if len(gradient) != n:        # a hook changed the shape
                    raise RuntimeError(
                        f"{self.derivative.name}: its formula returned {len(gradient)} gradients "
                        f"for {n} tensors")
                for item in gradient:
                    self._put(edge, item, out)
                    edge += 1
            elif should_compute(next_nodes(self)[edge]):
                self._put(edge, gradient, out)
        return 0

    cdef int _put(self, int edge, object gradient, PyObject** out) except -1:
        if gradient is None:
            return 0
        if type(gradient) is not Tensor:
            raise TypeError(f"{self.derivative.name}: its formula returned a "
                            f"{type(gradient).__name__} where a Tensor was expected")
        Py_INCREF(gradient)
        out[edge] = <PyObject*>gradient
        return 0

    def name(self):
        """The node's name, such as "AddBackward0"."""
        return type(self).__name__ if self.derivative is None else self.derivative.name

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

    # ---- what was saved ----

    cdef object _shown(self, int slot):
        """What `_saved_...` gives."""
        value = self._unpacked(slot)
        if self.derivative.slots[slot].operand and not self.derivative.plain_numbers and (
                isinstance(value, _NUMBERS)):
            return new_tensor(np.asarray(value), NORMAL_KEYS)     # it was there before the mode
        return _plain(value)

    cdef object _computed(self, str name):
        """What `_saved_...` gives where that follows from what is saved."""
        function, parameters = self.derivative.computed[name]
        values = []
        for parameter in parameters:
            if parameter == "needs":
                values.append([next_nodes(self)[i] != NULL for i in range(self.n_edges)])
            else:
                values.append(self._unpacked(self.derivative.slot_names.index(parameter)))
        return _plain(function(*values))

    cdef object _raw(self, int slot):
        """What `_raw_saved_...` gives: a SavedTensor, or a tuple of them."""
        cdef PyObject* item
        if self.released >> slot & 1:
            if self.derivative.slots[slot].listed:
                raise freed(self)
            value = saved_value(None)
            value.freed = True
            return value
        item = self._saved(slot)
        if item != NULL and is_tensor(item):
            self.keep(slot, of_stamped(<Tensor>item, self.notes.stamps[slot]))
            _drop(&item, 1)
            item = self._saved(slot)
        if item != NULL and type(<object>item) is SavedTensor:
            return <object>item
        if item != NULL and type(<object>item) is tuple:
            return tuple([x if type(x) is SavedTensor else saved_value(None)
                          for x in <tuple>item])
        return saved_value(self._shown(slot))

    cdef bint _holds_tensors(self, int slot) noexcept:
        cdef Slot* kept = &self.derivative.slots[slot]
        if kept.source == FROM_ARGUMENT:
            return not kept.plain and not (kept.operand and self.derivative.plain_numbers)
        return kept.source == FROM_RESULT

    def __getattr__(self, str name):
        cdef Derivative d = self.derivative
        cdef int slot
        if d is not None and name.startswith("_saved_") and name[7:] in d.shown_names:
            return self._shown(d.shown_names.index(name[7:]))
        if d is not None and name.startswith("_saved_") and name[7:] in d.computed:
            return self._computed(name[7:])
        if d is not None and name.startswith("_raw_saved_") and name[11:] in d.shown_names:
            slot = d.shown_names.index(name[11:])
            if self._holds_tensors(slot):
                return self._raw(slot)
        raise AttributeError(f"{bare_name(self)!r} object has no attribute {name!r}")

    def __dir__(self):
        cdef Derivative d = self.derivative
        names = object.__dir__(self)
        for slot, name in enumerate(() if d is None else d.shown_names):
            if name is not None:
                names.append(f"_saved_{name}")
                if self._holds_tensors(slot):
                    names.append(f"_raw_saved_{name}")
        names += [f"_saved_{name}" for name in (() if d is None else d.computed)]
        return names

    def __reduce__(self):
        raise TypeError(f"cannot pickle {bare_name(self)!r} object. It is part of a graph that "
                        "lives in this process: pickle a detach() of the tensor.")

    def __repr__(self):
        return f"<{bare_name(self)} object at {<size_t><PyObject*>self:#x}>"


cdef object _plain(object value):
    """A Size as the tuple that nodes show."""
    return tuple(value) if isinstance(value, tuple) and type(value) is not tuple else value


cdef str bare_name(Node node):
    return node.name().rpartition("::")[2]


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
    (<Node>self)._drop_saved()
    (<Node>self)._drop_edges()
    return _node_clear(self)


set_traverse(Node, _traverse)
set_clear(Node, _clear)
