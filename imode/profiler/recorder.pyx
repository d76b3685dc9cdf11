"""What a profile records, call by call: the part that has to be quick.

An event is a row of an array in C: what ran, two readings of the clock, how deep, the user's line.
Everything else (names, lines, own times, tables) is found out afterwards, in events.py.

# Note [One event for a call]
A call enters several kernels of its operator, each from the one above it: Autograd's, then CPU's.
They are one event. A kernel of the operator whose event is the innermost, and of a lower key than
the last that it entered, was entered by `redispatch`; any other one by a call.
"""
cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from imode._core.dispatch cimport (
    TENSOR_LIST, Operator, Watcher, proceed, proceed_composite, unwatch, watch, watching)
from imode._core.geometry cimport shape_of
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.tensor cimport Tensor, is_tensor, owns_memory, storage
from imode._core.user_frames cimport here
from libc.stdint cimport int64_t
from libc.stdlib cimport free, realloc
from numpy cimport PyArray_NBYTES, import_array

import_array()

cdef extern from "<time.h>" nogil:
    cdef struct timespec:
        long tv_sec
        long tv_nsec
    int clock_gettime(int clock, timespec* now)
    int CLOCK_MONOTONIC

cdef enum:
    OPEN = -1                     # the end of an event that has not ended

ctypedef struct Event:
    PyObject* what                # owned: an Operator, or the name of a block or a node
    PyObject* shapes              # owned: a tuple, one item per argument; NULL: not recorded
    int64_t start                 # nanoseconds
    int64_t end                   # OPEN
    int64_t nbytes                # of new memory in its results
    int depth                     # how many events it is inside of
    int calls                     # how many of them are no blocks
    int location                  # the user's line: provenance.location_parts
    int kind                      # see Kind


cpdef enum Kind:                  # what an event is
    OPERATOR
    BLOCK                         # of record_function
    NODE                          # of the graph, in backward


cdef inline int64_t _now() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <int64_t>now.tv_sec * 1000000000 + now.tv_nsec


@cython.binding(False)
@cython.final
cdef class Recorder(Watcher):
    """Records the operators that its thread calls, between `start` and `stop`."""

    cdef Event* events            # owned, in the order of their start
    cdef Py_ssize_t n
    cdef Py_ssize_t capacity
    cdef int depth
    cdef int calls                # how many open events are no blocks
    cdef int location             # of the outermost of these
    cdef Py_ssize_t innermost     # the event of `inside`
    cdef PyObject* inside         # borrowed: the Operator of the innermost event, or NULL
    cdef int entered              # the key of the last kernel that it entered
    cdef bint shapes
    cdef bint memory
    cdef bint on

    def __cinit__(self, bint shapes=False, bint memory=False):
        self.shapes, self.memory = shapes, memory

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n):
            Py_DECREF(<object>self.events[i].what)
            if self.events[i].shapes != NULL:
                Py_DECREF(<object>self.events[i].shapes)
        free(self.events)

    # ---- what calls it ----

    cdef object enter(self, Operator op, keyset_t keys, PyObject** args):
        cdef int key = highest_key(keys)
        cdef int entered = self.entered
        cdef PyObject* inside = self.inside
        cdef Py_ssize_t i, outer
        if inside == <PyObject*>op and key < entered:     # Note [One event for a call]
            self.entered = key
            try:
                result = proceed(self.outer, op, keys, args)
                if self.memory:       # the kernel above may share it with the graph
                    i = self.innermost
                    self.events[i].nbytes = max(self.events[i].nbytes, _new_bytes(result))
                return result
            finally:
                self.entered = entered
        outer = self.innermost
        self.innermost = i = self.begin(<PyObject*>op, OPERATOR)
        self.inside, self.entered = <PyObject*>op, key
        if self.shapes:
            self.note_shapes(i, op, args)
        try:
            result = proceed(self.outer, op, keys, args)
            if self.memory:
                self.events[i].nbytes = max(self.events[i].nbytes, _new_bytes(result))
            return result
        finally:
            self.inside, self.entered, self.innermost = inside, entered, outer
            self.end(i)

    cdef object compose(self, Operator op, PyObject** args):
        cdef PyObject* inside = self.inside
        cdef int entered = self.entered
        cdef Py_ssize_t i = self.begin(<PyObject*>op, OPERATOR)
        self.inside = NULL
        if self.shapes:
            self.note_shapes(i, op, args)
        try:
            return proceed_composite(self.outer, op, args)
        finally:
            self.inside, self.entered = inside, entered
            self.end(i)

    cdef int before_node(self, str label) except -1:
        self.begin(<PyObject*>label, NODE)
        return 0 if self.outer is None else self.outer.before_node(label)

    cdef int after_node(self) except -1:
        self.end_innermost(NODE)
        return 0 if self.outer is None else self.outer.after_node()

    # ---- events ----

    cdef Py_ssize_t begin(self, PyObject* what, int kind) except -1:
        cdef Event* event
        if self.n == self.capacity:
            self.grow()
        if self.calls == 0 or kind == BLOCK:
            self.location = here()
        event = &self.events[self.n]
        Py_INCREF(<object>what)
        event.what, event.shapes, event.nbytes = what, NULL, 0
        event.depth, event.location, event.kind = self.depth, self.location, kind
        event.calls, event.end = self.calls, OPEN
        self.depth += 1
        self.calls += kind != BLOCK
        self.n += 1
        event.start = _now()
        return self.n - 1

    cdef inline void end(self, Py_ssize_t i) noexcept:
        self.events[i].end = _now()
        self.depth, self.calls = self.events[i].depth, self.events[i].calls

    cdef void end_innermost(self, int kind) noexcept:
        """End the innermost open event of a kind, if there is one, and what was left open in it."""
        cdef Py_ssize_t i = self.n - 1
        while i >= 0 and not (self.events[i].end == OPEN and self.events[i].kind == kind):
            i -= 1
        if i >= 0:
            self.end(i)

    cdef int grow(self) except -1:
        cdef Py_ssize_t capacity = 2 * self.capacity if self.capacity else 4096
        cdef Event* bigger = <Event*>realloc(self.events, capacity * sizeof(Event))
        if bigger == NULL:
            raise MemoryError()
        self.events, self.capacity = bigger, capacity
        return 0

    cdef int note_shapes(self, Py_ssize_t i, Operator op, PyObject** args) except -1:
        cdef list shapes = []
        cdef int k
        for k in range(op.nargs):
            if is_tensor(args[k]):
                shapes.append(shape_of(<Tensor>args[k]))
            elif op.kinds[k] == TENSOR_LIST:
                shapes.append([shape_of(<Tensor>t) if t is not None else ()
                               for t in <tuple>args[k]])
            else:
                shapes.append(())
        noted = tuple(shapes)
        Py_INCREF(noted)
        self.events[i].shapes = <PyObject*>noted
        return 0

    # ---- from Python ----

    def start(self):
        """Record in this thread."""
        if not self.on:
            watch(self)
            self.on = True

    def stop(self):
        """Record no more; an event that has not ended ends now. False: it is not on in this thread.
        """
        cdef Py_ssize_t i
        cdef int64_t now = _now()
        if not self.on or not unwatch(self):
            return False
        self.on = False
        for i in range(self.n):
            if self.events[i].end == OPEN:
                self.events[i].end = now
        self.depth, self.calls, self.inside = 0, 0, NULL
        return True

    def rows(self):
        """The events, by their start: (what, kind, start, end, depth, location, bytes, shapes)."""
        cdef Event event              # a copy: a finalizer that runs meanwhile may add events
        cdef Py_ssize_t i
        cdef list rows = []
        for i in range(self.n):
            event = self.events[i]
            rows.append((
                <object>event.what, event.kind, event.start, event.end, event.depth,
                event.location, event.nbytes,
                <object>event.shapes if event.shapes != NULL else None))
        return rows


cdef int64_t _new_bytes(object result) noexcept:
    """The memory that results have to themselves."""
    cdef int64_t total = 0
    if is_tensor(<PyObject*>result):
        if owns_memory(<Tensor>result):
            total = PyArray_NBYTES(storage(<Tensor>result))
    elif isinstance(result, tuple):
        for item in <tuple>result:
            if is_tensor(<PyObject*>item) and owns_memory(<Tensor>item):
                total += PyArray_NBYTES(storage(<Tensor>item))
    return total


cdef Recorder _recording():
    """The innermost recorder that is on in this thread, or None."""
    cdef Watcher watcher = watching()
    while watcher is not None and type(watcher) is not Recorder:
        watcher = watcher.outer
    return <Recorder>watcher


def begin_block(str name not None):
    """Begin a block with a name; returns whether it is recorded."""
    cdef Recorder recorder = _recording()
    if recorder is None:
        return False
    recorder.begin(<PyObject*>name, BLOCK)
    return True


def end_block():
    """End the innermost block."""
    cdef Recorder recorder = _recording()
    if recorder is not None:
        recorder.end_innermost(BLOCK)


def now():
    """The time on the clock of events, in nanoseconds."""
    return _now()
