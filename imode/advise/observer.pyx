"""What is observed while a script runs: lines, not yet conclusions.

A watcher in each of the script's threads sees the kernels that it enters. With the chain of the
program's lines, from the script's own to the one that calls the operator, it notes: nodes recorded,
and which of them run in backward; who made the memory that is later saved, written or made to
require grad elsewhere; what ran under which `no_grad`; layers that draw random numbers or count
statistics. It keeps nothing of the script's alive.
"""
import sys
import threading
import weakref
from concurrent.futures import thread

cimport cython
from cpython.object cimport PyObject
from imode._core.allocator cimport root
from imode._core.dispatch cimport (
    INPLACE, OUT, TLS, Operator, Watcher, inference_mode_on, proceed, proceed_composite, tls,
    unwatch, watch)
from imode._core.guard cimport NO_GRAD, Guard
from imode._core.keyset cimport AUTOGRAD, BACKENDS, highest_key, keyset_t
from imode._core.tensor cimport Tensor, is_tensor, owns_memory, storage
from imode.autograd.node cimport Node, saved_values
from imode.autograd.saved cimport SavedTensor
from imode.autograd.task cimport Task
from libc.stdint cimport int64_t, uint64_t
from numpy cimport PyArray_NBYTES, import_array

from os import sep

from imode.profiler.recorder import now

import_array()

cdef enum:
    MANY = 10000                  # with more nodes alive, looking for old ones is done less often


cdef class Made:
    """Memory: the lines, the operator and the guard under which it was made."""

    cdef readonly tuple lines     # (file, number), the script's own first
    cdef readonly str by          # the operator
    cdef readonly int guard       # the line of the no_grad around; 0: none
    cdef readonly bint inference  # made in inference mode


cdef class Recorded:
    """A node that was recorded. Mutable: `used` is set when it runs in backward."""

    cdef readonly tuple lines
    cdef readonly str by
    cdef readonly int64_t nbytes  # of the tensors that it saved, without parameters
    cdef readonly int64_t ns      # that recording it took
    cdef readonly bint used
    cdef readonly int run         # in which run of backward, of those that `seen_by` counts
    cdef Observer seen_by         # of the thread in which it ran
    cdef readonly object node     # a weak reference


@cython.binding(False)
@cython.final
cdef class Observer(Watcher):
    """Observes the thread that starts it; `branch()` is one for another thread.

    All note what they see in the same lists and dicts, with the GIL held.

    `recorded`: every Recorded; `saved`, `written`, `required`: {(Made, lines, operator or None,
    guard): times}, of memory that others saved for backward, wrote, or made to require grad;
    `guards`: {line of a no_grad: [calls, nodes recorded inside, backward run inside]};
    `training`: {(lines, layer's operator, grad mode): calls}; `old`: {lines: most
    nodes alive that a backward before the last one had run}.
    """

    cdef readonly list recorded
    cdef readonly dict saved, written, required, guards, training, old
    cdef readonly int runs        # of backward
    cdef dict made                # address of memory -> Made
    cdef dict nodes               # address of a node -> Recorded
    cdef dict chains              # ((code, line), ...) -> tuple of (file, number)
    cdef str package
    cdef str command
    cdef frozenset passed         # files that only start threads
    cdef PyObject* inside         # as in the profiler's Recorder
    cdef int entered
    cdef int64_t below            # nanoseconds in the kernels below Autograd's
    cdef uint64_t task            # the last run of backward

    def __cinit__(self, str command not None):
        self.command = command        # the file that runs the script
        self.recorded, self.saved, self.written, self.required = [], {}, {}, {}
        self.guards, self.training, self.old = {}, {}, {}
        self.made, self.nodes, self.chains = {}, {}, {}
        self.package = __file__.rpartition(sep)[0].rpartition(sep)[0] + sep
        self.passed = frozenset({threading.__file__, thread.__file__})

    def branch(self):
        """An observer for another thread."""
        cdef Observer other = Observer(self.command)
        other.recorded, other.saved, other.written = self.recorded, self.saved, self.written
        other.required, other.guards, other.training = self.required, self.guards, self.training
        other.old, other.made, other.nodes = self.old, self.made, self.nodes
        other.chains = self.chains
        return other

    def start(self):
        """Observe this thread."""
        watch(self)

    def stop(self):
        """Observe no more."""
        self.count_old()
        unwatch(self)

    # ---- lines ----

    cdef tuple lines(self):
        """The lines of the program that are running, the outermost first."""
        frame = sys._getframe()
        cdef list found = []
        while frame is not None:
            file = frame.f_code.co_filename
            if file == self.command:      # from here on it is not the script that runs
                break
            if not file.startswith(self.package) and not file.startswith("<frozen") and (
                    file not in self.passed):
                found.append((file, frame.f_lineno))
            frame = frame.f_back
        found.reverse()
        lines = tuple(found)
        return self.chains.setdefault(lines, lines)

    # ---- kernels ----

    cdef object enter(self, Operator op, keyset_t keys, PyObject** args):
        cdef int key = highest_key(keys)
        cdef TLS* state = tls()
        cdef PyObject* inside = self.inside
        cdef int entered = self.entered
        cdef int64_t below = self.below
        cdef int64_t start = now()
        cdef uint64_t sequence = state.sequence
        cdef bint again = inside == <PyObject*>op and key < entered
        self.inside, self.entered, self.below = <PyObject*>op, key, 0
        try:
            result = proceed(self.outer, op, keys, args)
        finally:
            took = now() - start
            inner = self.below
            self.inside, self.entered = inside, entered
            self.below = below + took if again else below
        if state.task != NULL:        # what backward makes is not the program's
            for item in (result if isinstance(result, tuple) else (result,)):
                if is_tensor(<PyObject*>item):
                    self.made.pop(<size_t>(<Tensor>item).array, None)
        else:
            if key == AUTOGRAD and not again:
                self.note_recorded(op, args, result, sequence, took - inner)
            if BACKENDS >> key & 1:
                self.note_made(op, args, result, state)
        return result

    cdef int note_made(self, Operator op, PyObject** args, object result, TLS* state) except -1:
        cdef int guard = _no_grad_by(state)
        cdef bint inference = inference_mode_on(state)
        cdef tuple lines = self.lines()
        cdef PyObject* target = args[op.nargs]
        cdef Made made
        if guard:
            self.guards.setdefault(guard, [0, 0, 0])[0] += 1
        if (op.role == INPLACE or op.role == OUT) and not inference:
            self.note(self.written, <PyObject*>args[0] if op.role == INPLACE else target,
                      lines, op.name, guard)
            return 0
        if _trains(op, args):
            place = lines, op.name, not state.no_grad and not inference
            self.training[place] = self.training.get(place, 0) + 1
        for item in (result if isinstance(result, tuple) else (result,)):
            if is_tensor(<PyObject*>item) and owns_memory(<Tensor>item):
                made = Made()
                made.lines, made.by, made.guard = lines, op.name, guard
                made.inference = inference
                self.made[<size_t>(<Tensor>item).array] = made
        return 0

    cdef int note(self, dict where, PyObject* value, tuple lines, str by, int guard) except -1:
        """Note that memory that the program made is used, if it is a tensor's, or several's."""
        if is_tensor(value):
            made = self.made.get(<size_t>root((<Tensor>value).array))
            if made is not None and made.lines != lines:
                key = made, lines, by, guard
                where[key] = where.get(key, 0) + 1
        elif isinstance(<object>value, tuple):
            for item in <tuple>value:
                self.note(where, <PyObject*>item, lines, by, guard)
        return 0

    cdef int note_recorded(self, Operator op, PyObject** args, object result, uint64_t sequence,
                           int64_t ns) except -1:
        cdef Recorded entry
        cdef Node node
        cdef Tensor tensor
        cdef int i
        for item in (result if isinstance(result, tuple) else (result,)):
            if not is_tensor(<PyObject*>item) or not isinstance((<Tensor>item).grad_fn, Node):
                continue
            node = <Node>(<Tensor>item).grad_fn
            if sequence <= node.sequence < <uint64_t>-1:
                break
        else:
            return 0
        entry = Recorded()
        entry.lines, entry.by, entry.ns = self.lines(), op.name, ns
        entry.node = weakref.ref(node)
        guard = _no_grad_around(tls())
        if guard:
            self.guards.setdefault(guard, [0, 0, 0])[1] += 1
        for i in range(node.n_saved):
            if saved_values(node)[i] != NULL:
                value = <object>saved_values(node)[i]
                entry.nbytes += self.note_saved(value, entry, op.name)
        for i in range(op.n_tensors):
            if is_tensor(args[op.tensors[i]]):
                tensor = <Tensor>args[op.tensors[i]]
                if tensor.leaf_requires_grad and not tensor.parameter:
                    self.note(self.required, <PyObject*>tensor, entry.lines, op.name, 0)
        self.recorded.append(entry)
        self.nodes[<size_t><PyObject*>node] = entry
        return 0

    cdef int64_t note_saved(self, object value, Recorded entry, str by) except -1:
        """Note that a node saved a value; returns the bytes that only the graph may need."""
        if type(value) is SavedTensor:
            value = (<SavedTensor>value).content
        if type(value) is tuple:
            return sum([self.note_saved(item, entry, by) for item in <tuple>value])
        if not is_tensor(<PyObject*>value):
            return 0
        self.note(self.saved, <PyObject*>value, entry.lines, by, 0)
        return 0 if (<Tensor>value).parameter else PyArray_NBYTES(storage(<Tensor>value))

    cdef object compose(self, Operator op, PyObject** args):
        cdef PyObject* inside = self.inside
        self.inside = NULL
        try:
            return proceed_composite(self.outer, op, args)
        finally:
            self.inside = inside

    # ---- backward ----

    cdef int before_node(self, str label) except -1:
        cdef TLS* state = tls()
        cdef Task task = <Task>state.task
        cdef Node node = <Node>task.node
        cdef Recorded entry
        cdef int guard
        if task.id != self.task:
            self.task = task.id
            self.runs += 1
            if len(self.nodes) < MANY or self.runs % 16 == 0:
                self.count_old()
            guard = _no_grad_by(state)
            if not guard:
                guard = _no_grad_around(state)
            if guard:
                self.guards.setdefault(guard, [0, 0, 0])[2] += 1
        entry = <Recorded>self.nodes.get(<size_t><PyObject*>node)
        if entry is not None and entry.node() is node:
            entry.used, entry.run, entry.seen_by = True, self.runs, self
        return 0

    cdef int after_node(self) except -1:
        return 0

    cdef int count_old(self) except -1:
        """Note how many nodes are alive of graphs that an earlier backward has run."""
        cdef Recorded entry
        cdef dict alive = {}
        for address, item in list(self.nodes.items()):
            entry = <Recorded>item
            if entry.node() is None:
                self.nodes.pop(address, None)
            elif entry.used and entry.seen_by is self and entry.run < self.runs - 1:
                counts = alive.setdefault(entry.lines, [0, set()])
                counts[0] += 1
                counts[1].add(entry.run)
        for lines, (n, runs) in alive.items():
            before = self.old.get(lines, (0, 0))
            self.old[lines] = max(before, (n, len(runs)))
        return 0


cdef bint _trains(Operator op, PyObject** args):
    """Whether an operator is that of a layer that behaves otherwise in training."""
    if op.name == "_dropout_mask":
        return True
    return op.name == "native_batch_norm" and (
        <object>args[op.names.index("training")] is True)


cdef int _no_grad_by(TLS* state) noexcept:
    """The line of the no_grad that turns recording off here, outside of inference mode; or 0."""
    return state.guard_id if state.no_grad and not inference_mode_on(state) else 0


cdef int _no_grad_around(TLS* state) noexcept:
    """The line of the innermost no_grad around, though recording is on again; or 0."""
    cdef PyObject* guard = state.guard_top
    while guard != NULL:
        if (<Guard>guard).kind == NO_GRAD:
            return (<Guard>guard).entered_at
        guard = (<Guard>guard).below
    return 0
