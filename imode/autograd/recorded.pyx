"""The nodes of operators from the table: what they save, how they run, and their classes."""
cimport cython
from cpython.mem cimport PyMem_Calloc as calloc  # quicker than glibc's for a few bytes
from cpython.mem cimport PyMem_Free as c_free
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from imode._core.dispatch cimport TLS, tls
from imode._core.keyset cimport NORMAL_KEYS
from imode._core.making cimport alias_of, new_tensor
from imode._core.slab cimport use_slabs
from imode._core.tensor cimport Tensor, _type_is, is_tensor, requires_grad
from imode.autograd.derivative cimport (
    FROM_ARGUMENT, FROM_RESULT, GRAD, GRADS, MAX_SAVED, Derivative, Formula, Slot)
from imode.autograd.node cimport (
    MAX_SHAPE, N_STAMPS, SMALL, Node, bare_name, begin, drop_outputs, end_node, ended, freed,
    has_stamp, n_outputs, next_nodes, no_attribute, saved_values, stamp_t)
from imode.autograd.saved cimport (
    SavedTensor, drop_stamped, forget, of_stamped, save_input, save_result,
    saved_value, stamp, unpack, unpack_stamped)
from imode.autograd.task cimport should_compute

import numpy as np

from imode import errors

cdef extern from "Python.h":
    object PyObject_Vectorcall(PyObject* f, PyObject** args, size_t n, PyObject* names)
    Py_ssize_t Py_REFCNT(PyObject*) noexcept

cdef extern from *:
    """
    static void imode_share_memory(PyObject *cls, PyObject *base) {
        ((PyTypeObject *)cls)->tp_alloc = ((PyTypeObject *)base)->tp_alloc;
        ((PyTypeObject *)cls)->tp_free = ((PyTypeObject *)base)->tp_free;
        /* Like a compiled class: no attribute can be set, and no class derived from it. */
        ((PyTypeObject *)cls)->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
        ((PyTypeObject *)cls)->tp_flags &= ~Py_TPFLAGS_BASETYPE;
    }

    static void imode_set_class(PyObject *self, PyObject *cls) {
        Py_INCREF(cls); /* a heap type is owned by its instances */
        Py_SET_TYPE(self, (PyTypeObject *)cls);
    }

    /* Only new_node() makes nodes: one made without a derivative would have no name. */
    static int imode_hide_new(PyObject *cls) {
        int failed = PyDict_DelItemString(((PyTypeObject *)cls)->tp_dict, "__new__");
        PyType_Modified((PyTypeObject *)cls);
        return failed;
    }

    """
    int hide_new "imode_hide_new"(object cls) except -1
    void share_memory "imode_share_memory"(object cls, object base)
    void set_class "imode_set_class"(object node, object cls)

cdef extern from "recycled.h":
    ctypedef void (*destructor)(PyObject*)
    bint has_weak_references "imode_has_weak_references"(PyObject*) noexcept
    object revive "imode_revive"(PyObject*)
    destructor swap_dealloc "imode_swap_dealloc"(object, destructor)
    void end_bounded "imode_end_bounded"(PyObject*, destructor, destructor) noexcept

cdef tuple _NUMBERS = (bool, int, float, complex)


cdef void _give_up(object saved) noexcept:
    if type(saved) is SavedTensor:
        forget(saved)
    elif type(saved) is tuple:
        for item in <tuple>saved:
            forget(item)


cdef void let_go(PyObject** items, int n) noexcept:
    """Release what a node has saved and no longer points to: this may run any code."""
    cdef int i
    for i in range(n):
        if items[i] != NULL and not is_tensor(items[i]) and Py_REFCNT(items[i]) > 1:
            _give_up(<object>items[i])       # others hold this SavedTensor or tuple, too
    _drop(items, n)


cdef void _drop(PyObject** items, int n) noexcept:
    """Release it when the node itself is freed: SavedTensors that others hold stay valid."""
    cdef int i
    for i in range(n):
        if items[i] != NULL and is_tensor(items[i]):
            drop_stamped(<Tensor>items[i])
    for i in range(n):
        Py_XDECREF(items[i])


cdef inline int _hold(OpNode self, int slot, Tensor tensor, stamp_t noted) noexcept:
    """Keep the tensor itself, in a slot that has a stamp."""
    Py_INCREF(tensor)
    saved_values(self)[slot] = <PyObject*>tensor
    self.notes.stamps[slot] = noted
    return 0


@cython.binding(False)
cdef class OpNode(Node):
    """The node of an operator. Not made from Python."""

    # ---- what it saves ----

    cdef int set_saved(self, int n) except -1:
        cdef PyObject** many
        if n > SMALL:
            many = <PyObject**>calloc(n, sizeof(PyObject*))
            if many == NULL:
                raise MemoryError()
            self.saved.many = many
        self.n_saved = n
        return 0

    cdef int keep_input(self, int slot, Tensor tensor, str saver) except -1:
        """Save an input; `saver`: the operator, for messages."""
        cdef stamp_t noted = stamp(tensor, -1) if has_stamp(slot) else 0
        if noted:
            return _hold(self, slot, tensor, noted)
        keep(self, slot, save_input(tensor, saver))
        return 0

    cdef int keep_result(self, int slot, Tensor tensor, int output_nr) except -1:
        cdef stamp_t noted
        cdef Tensor alias
        if not requires_grad(tensor):        # owns no node, so makes no cycle: saved like an input
            return self.keep_input(slot, tensor, None)
        if has_stamp(slot):
            alias = alias_of(tensor)
            noted = stamp(tensor, output_nr)
            if noted:
                return _hold(self, slot, alias, noted)
        keep(self, slot, save_result(tensor, output_nr))
        return 0

    cdef void release(self):
        """Free the saved tensors. Shapes and numbers stay readable; a node that saved nothing else
        can run again."""
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
        let_go(items, n)

    cdef void _drop_saved(self) noexcept:
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

    cdef bint _saves_tensors(self, int slot):
        value = <object>saved_values(self)[slot]
        if type(value) is Tensor or type(value) is SavedTensor:
            return True
        if self.derivative.slots[slot].operand and not self.derivative.numbers_are_scalars:
            return True                   # a number that counts as a tensor
        if type(value) is tuple:
            for item in <tuple>value:
                if type(item) is SavedTensor:
                    return True
        return False

    cdef PyObject* _saved(self, int slot) noexcept:
        return saved_values(self)[slot] if slot < self.n_saved else NULL   # NULL: cleared by the GC

    cdef object _unpacked(self, int slot):
        cdef PyObject* item
        cdef SavedTensor saved
        if self.released >> slot & 1:     # also by another thread while this node runs
            raise freed(self)
        item = self._saved(slot)
        if item == NULL:
            return None
        if is_tensor(item):
            return unpack_stamped(<Tensor>item, self.notes.stamps[slot], self)
        if type(<object>item) is SavedTensor:
            saved = <SavedTensor>item     # a reference: its hook may empty the slot
            return unpack(saved, self)
        if self.derivative.slots[slot].source == FROM_ARGUMENT and type(<object>item) is tuple:
            return tuple([unpack(<SavedTensor>x, self) if type(x) is SavedTensor else x
                          for x in <tuple>item])
        return <object>item

    # ---- running the formulas ----

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
            # Unpack each once, in the order of slots, which hooks can observe; a saved tensor that
            # was written to raises even where it is not needed.
            while n < d.n_slots:
                value = self._unpacked(n) if d.slots[n].formulas else None
                Py_INCREF(value)
                saved[n] = <PyObject*>value
                if self._saved(n) == NULL and d.slots[n].source == FROM_RESULT and (
                        not self.released >> n & 1):       # a hook may have released it just now
                    missing = n
                n += 1
            if d.unimplemented or self._any_grad(grads):
                if missing >= 0:
                    raise errors.graph.result_missing(self.label(), d.slot_names[missing])
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
        """Run one formula; do nothing if the gradient that it reads is missing."""
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
        state.numbers_are_scalars = self.derivative.numbers_are_scalars
        try:
            value = PyObject_Vectorcall(formula.function, values, formula.n_parameters, NULL)
        finally:
            state.numbers_are_scalars = False
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

    cdef int _first_edge(self, int input) noexcept:
        """The first edge of a differentiable input: a list has one edge per tensor, any other input
        has one. For the number of inputs: the number of edges."""
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
        """Put a formula's gradients on their edges."""
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

    # ---- what Python sees ----

    cdef str label(self):
        return self.derivative.name

    cdef object show(self):
        """The node, of a class with the name of its operator's derivative."""
        cdef str name
        if type(self) is OpNode:
            name = bare_name(self)
            cls = _classes.get(name)
            if cls is None:
                cls = type(name, (OpNode,), {"__slots__": (), "__module__": "builtins"})
                share_memory(cls, OpNode)
                cls = _classes.setdefault(name, cls)
            set_class(self, cls)
        return self

    cdef object _shown(self, int slot):
        """What `_saved_...` gives."""
        value = self._unpacked(slot)
        if self.derivative.slots[slot].operand and not self.derivative.numbers_are_scalars and (
                isinstance(value, _NUMBERS)):
            return new_tensor(np.asarray(value), NORMAL_KEYS)     # normal also in inference mode
        return _without_size(value)

    cdef object _computed(self, str name):
        """What `_saved_...` gives, where that is computed from what is saved."""
        function, parameters = self.derivative.computed[name]
        values = []
        for parameter in parameters:
            if parameter == "needs":
                values.append([next_nodes(self)[i] != NULL for i in range(self.n_edges)])
            else:
                values.append(self._unpacked(self.derivative.slot_names.index(parameter)))
        return _without_size(function(*values))

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
            keep(self, slot, of_stamped(<Tensor>item, self.notes.stamps[slot]))
            let_go(&item, 1)
            item = self._saved(slot)
        if item != NULL and type(<object>item) is SavedTensor:
            return <object>item
        if item != NULL and type(<object>item) is tuple:
            return tuple([x if type(x) is SavedTensor else saved_value(None)
                          for x in <tuple>item])
        return saved_value(self._shown(slot))

    cdef object _raw_computed(self, str name):
        """The same for a list that is shown with None in it."""
        raw = iter(self._raw(self.derivative.slot_names.index(name)))
        return tuple([saved_value(None) if x is None else next(raw) for x in self._computed(name)])

    cdef bint _lists(self, str name) except -1:
        """Whether the computed attribute shows a list of tensors that is saved."""
        cdef Derivative d = self.derivative
        return name in d.slot_names and d.slots[d.slot_names.index(name)].listed

    cdef bint _holds_tensors(self, int slot) noexcept:
        cdef Slot* saved = &self.derivative.slots[slot]
        if saved.source == FROM_ARGUMENT:
            return not saved.not_tensor and not (
                saved.operand and self.derivative.numbers_are_scalars)
        return saved.source == FROM_RESULT

    def __getattr__(self, str name):
        cdef Derivative d = self.derivative
        cdef int slot
        if name.startswith("_saved_") and name[7:] in d.shown_names:
            return self._shown(d.shown_names.index(name[7:]))
        if name.startswith("_saved_") and name[7:] in d.computed:
            return self._computed(name[7:])
        if name.startswith("_raw_saved_") and name[11:] in d.shown_names:
            slot = d.shown_names.index(name[11:])
            if self._holds_tensors(slot):
                return self._raw(slot)
        if name.startswith("_raw_saved_") and name[11:] in d.computed and self._lists(name[11:]):
            return self._raw_computed(name[11:])
        raise no_attribute(self, name)

    def __dir__(self):
        cdef Derivative d = self.derivative
        names = object.__dir__(self)
        for slot, name in enumerate(d.shown_names):
            if name is not None:
                names.append(f"_saved_{name}")
                if self._holds_tensors(slot):
                    names.append(f"_raw_saved_{name}")
        names += [f"_saved_{name}" for name in d.computed]
        names += [f"_raw_saved_{name}" for name in d.computed if self._lists(name)]
        return names


cdef object _without_size(object value):
    """The value, with a Size made a tuple, which is what nodes show."""
    return tuple(value) if isinstance(value, tuple) and type(value) is not tuple else value


hide_new(OpNode)
use_slabs(OpNode)


# Note [Classes of nodes]
# In PyTorch `type(y.grad_fn).__name__` is the operator's name, and tools that draw graphs print it.
# Creating each node with its operator's class would cost the shared free list of slabs and a
# reference to the class; so a node gets that class, which adds nothing to OpNode, when Python first
# sees it.
cdef dict _classes = {}          # name -> a subclass of OpNode; grows by operators only


# ---- nodes that are used again ----

# As leaves are: Note [Recycled leaves]. A node without hooks, weak references and a class of its
# own is kept when it dies, every field as in a new one.
cdef enum:
    SPARES = 256

cdef PyObject* _spares[SPARES]    # dead nodes
cdef int _n_spares = 0


cdef OpNode new_node(Derivative derivative):
    global _n_spares
    cdef OpNode self
    if _n_spares:
        _n_spares -= 1
        self = <OpNode>revive(_spares[_n_spares])
        begin(self)
    else:
        self = OpNode.__new__(OpNode)
    self.derivative = derivative
    tls().nodes += 1
    return self


cdef void _end(PyObject* o) noexcept:
    """Let go of what a node owns, and keep it."""
    global _n_spares
    cdef int i
    if (<OpNode>o).n_saved > SMALL:
        (<OpNode>o)._drop_saved()
    else:
        _drop(&(<OpNode>o).saved.few[0], (<OpNode>o).n_saved)
        (<OpNode>o).n_saved = 0
    if (<OpNode>o).n_edges > SMALL:
        (<OpNode>o)._drop_edges()
    else:
        for i in range((<OpNode>o).n_edges):
            Py_XDECREF((<OpNode>o).next.few[i])
        (<OpNode>o).n_edges = 0
    (<OpNode>o).derivative = None
    # What ended may have run code that filled the list.
    if _n_spares == SPARES:
        end_node(o)
        return
    if (<OpNode>o).output.n_outputs > 1 or (<OpNode>o).output.nd > MAX_SHAPE:
        drop_outputs(o)
    ended()
    for i in range(SMALL):
        (<OpNode>o).next.few[i] = (<OpNode>o).saved.few[i] = NULL
        (<OpNode>o).small_input_nrs[i] = 0
    for i in range(N_STAMPS):
        (<OpNode>o).notes.stamps[i] = 0
    (<OpNode>o).released = (<OpNode>o).entry_hint = 0
    (<OpNode>o).output.n_outputs = (<OpNode>o).output.nd = 0
    _spares[_n_spares] = o
    _n_spares += 1


cdef void _recycle(PyObject* o) noexcept:
    """OpNode's tp_dealloc: Note [Freeing long graphs]."""
    if not _type_is(o, <PyObject*>OpNode) or (<OpNode>o).extras is not None or (
            has_weak_references(o)):
        end_bounded(o, <destructor>_recycle, <destructor>end_node)
    else:
        end_bounded(o, <destructor>_recycle, <destructor>_end)


swap_dealloc(OpNode, <destructor>_recycle)
