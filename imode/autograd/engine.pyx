"""The engine: runs the graph.

One call is one task. A first walk counts how many edges lead to each node; then nodes run, newest
first, each as soon as all of its gradients have arrived. Nothing recurses, and tasks share no
state, so they may nest (a hook that calls backward) and run in several threads.

# Note [Backward within backward]
A hook that runs backward again nests C frames, and so do the hooks of that backward. Every
MAX_DEPTH levels the next call runs in a new thread, with an empty stack and recursion count, while
the calling thread waits: so any depth works, in the same order. The new thread starts with a copy
of the caller's dispatch state and adds its counters to the caller's.
"""
import _thread

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF, Py_XINCREF
from imode._core.allocator cimport Fields, fields
from imode._core.dispatch cimport (
    TLS, Operator, Watcher, call2, operator, set_watching, tls, watching)
from imode._core.geometry cimport same_shape
from imode._core.iterate cimport is_dense
from imode._core.keyset cimport BIT_SPARSE
from imode._core.tensor cimport Tensor, is_tensor, storage
from imode._core.version cimport VersionCounter
from imode.autograd.anomaly cimport check_nan, nan_checked, report
from imode.autograd.fit cimport fit_all, fit_root
from imode.autograd.hooks cimport run_post_hooks, run_pre_hooks, run_tensor_hooks
from imode.autograd.leaves cimport AccumulateGrad
from imode.autograd.node cimport Node, input_nrs, n_outputs, next_nodes, saved_values
from imode.autograd.task cimport Entry, Task
from imode._core.user_frames cimport here
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset
from numpy cimport import_array, ndarray

import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject*) noexcept

cdef extern from "numpy/ndarraytypes.h":
    PyObject* PyArray_BASE(ndarray) noexcept
    bint PyArray_CheckExact(PyObject*) noexcept

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void* address) noexcept nogil

cdef enum:
    MAX_DEPTH = 60            # calls of backward within each other on one stack
    LONG = 2048               # a graph of so many nodes does not fit into the processor's caches
    FEW = 4                   # up to so many edges, a node's results lie on the C stack
    GC_HEAD = 16              # bytes of the garbage collector's header before an object

# Sizes in bytes, for prefetching in long graphs.
cdef Py_ssize_t _node_size = (<PyTypeObject*>Node).tp_basicsize
cdef Py_ssize_t _tensor_size = (<PyTypeObject*>Tensor).tp_basicsize
cdef Py_ssize_t _counter_size = (<PyTypeObject*>VersionCounter).tp_basicsize

cdef Operator _op_add = None
cdef Operator _op_add_inplace = None


cdef int _find_operators() except -1:
    """Look up the operators that the engine itself calls; done in the first run."""
    global _op_add, _op_add_inplace
    _op_add, _op_add_inplace = operator("add"), operator("add_")
    return 0


# ---- a task, from the roots to the results ----

cdef list run(list roots, list grads, bint keep_graph, bint create_graph, object wanted,
              bint accumulate):
    cdef Task task = Task.__new__(Task)
    if _op_add is None:
        _find_operators()
    task.everything = wanted is None
    task.keep_graph, task.create_graph = keep_graph, create_graph
    task.check_nan = nan_checked()
    task.called_at = here()
    task.keep = [roots, grads]
    task.captures = {}
    task.captured = []
    if not task.everything:
        task.captured = [None] * len(wanted)
        for number, edge in enumerate(wanted):
            if edge is not None:
                task.captures.setdefault(edge[0], []).append((edge[1], number))
    if tls().depth < MAX_DEPTH:
        _run(task, roots, grads, accumulate)
    else:
        _run_elsewhere(task, roots, grads, accumulate)
    return task.captured


cdef int _run(Task task, list roots, list grads, bint accumulate) except -1:
    cdef TLS* state = tls()
    cdef int no_grad = state.no_grad
    cdef PyObject* outer = state.task
    cdef PyObject* node
    state.task = <PyObject*>task
    state.depth += 1
    try:
        _find_nodes(task, roots, accumulate)
        for i, (root, number) in enumerate(roots):      # recorded if the caller's mode records
            grads[i] = fit_root(<Node>root, number, grads[i], i)
        state.no_grad = not task.create_graph
        _start(task, roots, grads)
        while task.heap_size:
            node = task.pop()
            task.node = node
            state.no_grad = not task.create_graph       # a hook may have set it
            try:
                if state.watcher != NULL:
                    _watched_step(task, <Node>node)
                else:
                    _step(task, <Node>node)
            except BaseException as error:
                report(<Node>node, error)
                raise
            finally:
                task.node = NULL
                Py_DECREF(<object>node)
        if task.callbacks is not None:
            state.no_grad = no_grad
            for callback in task.callbacks:             # the list grows if a callback queues one
                callback()
    finally:
        state.task = outer
        state.depth -= 1
        state.no_grad = no_grad
    return 0


cdef int _start(Task task, list roots, list grads) except -1:
    """Give the roots their gradients; a root that no other node leads to is ready."""
    cdef Entry* entry
    for (root, number), gradient in zip(roots, grads):
        Py_INCREF(gradient)                 # task.keep holds it too: .grad never takes it over
        _add(task, task.find(<PyObject*>root), number, <PyObject*>gradient)
    for root, _ in roots:
        entry = task.find(<PyObject*>root)
        # A single root runs its tensor hooks even if it leads to nothing that is wanted.
        if entry.waiting == 0 and (entry.needed or entry.captured or len(roots) == 1):
            entry.waiting = -1              # a node that is a root twice runs once
            task.push(entry.node)
    return 0


def _body(Task task, list roots, list grads, bint accumulate, size_t parent, list outcome, lock):
    """Run the task in the thread of a deep level."""
    cdef TLS* state = tls()
    cdef TLS* given = <TLS*>parent
    state.included, state.excluded = given.included, given.excluded
    state.no_grad, state.guard_id = given.no_grad, given.guard_id
    state.saving, state.sequence = given.saving, given.sequence
    state.watcher = given.watcher           # owned by both
    Py_XINCREF(state.watcher)
    state.hops, state.nodes, state.views, state.bumps = (
        given.hops, given.nodes, given.views, given.bumps)
    try:
        _run(task, roots, grads, accumulate)
    except BaseException as error:
        outcome.append(error)
    finally:
        given.hops, given.nodes, given.views, given.bumps = (
            state.hops, state.nodes, state.views, state.bumps)
        set_watching(None)
        state.saving = NULL
        given.sequence = state.sequence
        lock.release()


cdef int _run_elsewhere(Task task, list roots, list grads, bint accumulate) except -1:
    """Note [Backward within backward]"""
    cdef list outcome = []
    interrupted = None
    import threading             # here: the first thread to import it counts as the main one

    lock = threading.Lock()
    lock.acquire()
    _thread.start_new_thread(
        _body, (task, roots, grads, accumulate, <size_t>tls(), outcome, lock))
    while True:
        try:
            lock.acquire()
            break
        except BaseException as error:      # a signal: wait on, the thread uses this one's state
            interrupted = error
    if outcome:
        raise outcome[0]
    if interrupted is not None:
        raise interrupted
    return 0


# ---- finding the nodes ----

ctypedef struct Step:         # of a depth-first walk
    unsigned int entry        # index of a node's entry
    int edge                  # which of its edges to follow next


ctypedef struct Walk:
    Step* steps               # the path from a root to the present node
    Py_ssize_t depth
    Py_ssize_t capacity


cdef int _find_nodes(Task task, list roots, bint accumulate) except -1:
    """Find the nodes that the roots lead to, count the edges into each, and mark those that run."""
    cdef Walk walk = Walk(NULL, 0, 0)
    try:
        for root, _ in roots:
            if task.find(<PyObject*>root) == NULL:
                _enter(task, &walk, <PyObject*>root, accumulate)
                while walk.depth:
                    _advance(task, &walk, accumulate)
    finally:
        free(walk.steps)
    return 0


cdef int _enter(Task task, Walk* walk, PyObject* node, bint accumulate) except -1:
    cdef Entry* entry = task.add(node)
    cdef Step* bigger
    if task.count > LONG:
        # Nodes lie in memory about in the order of recording: so the next one is likely here.
        prefetch(<char*>node + 12 * (<char*>node - <char*>(entry - 1).node))
    if task.everything:
        entry.needed = True
    elif <Node>node in task.captures:
        entry.needed, entry.captured = accumulate, not accumulate
    if walk.depth == walk.capacity:
        walk.capacity = 64 if walk.capacity == 0 else 2 * walk.capacity
        bigger = <Step*>realloc(walk.steps, walk.capacity * sizeof(Step))
        if bigger == NULL:
            raise MemoryError()
        walk.steps = bigger
    walk.steps[walk.depth].entry = <unsigned int>(task.count - 1)
    walk.steps[walk.depth].edge = 0
    walk.depth += 1
    return 0


cdef int _advance(Task task, Walk* walk, bint accumulate) except -1:
    """Go on to an unknown node; or, when all behind the present one are known, go back."""
    cdef Step* step = &walk.steps[walk.depth - 1]
    cdef Node node = <Node>task.entries[step.entry].node
    cdef Entry* entry
    cdef PyObject* target
    while step.edge < node.n_edges:
        target = next_nodes(node)[step.edge]
        step.edge += 1
        if target == NULL:
            continue
        entry = task.find(target)
        if entry == NULL:
            _enter(task, walk, target, accumulate)
            task.entries[task.count - 1].waiting = 1
            return 0
        entry.waiting += 1
        if entry.needed or entry.captured:
            task.entries[step.entry].needed = True
    entry = &task.entries[step.entry]
    walk.depth -= 1
    if walk.depth and (entry.needed or entry.captured):
        task.entries[walk.steps[walk.depth - 1].entry].needed = True
    return 0


# ---- long graphs ----

cdef inline void _prefetch_object(void* address, size_t before, Py_ssize_t size) noexcept:
    """Prefetch the cache lines of an object, and of so many bytes before it."""
    cdef size_t line = (<size_t>address - before) & ~<size_t>63
    while line < <size_t>address + <size_t>size:
        prefetch(<void*>line)
        line += 64


cdef int _look_ahead(Task task, Entry* entry) except -1:
    """Prefetch what the next nodes will read.

    Nodes run in about the order in which they were found. A chain of pointers leads from a node to
    what it holds, and each must arrive before the next can be prefetched. So each call prefetches
    one link of the chain for each of several nodes ahead.
    """
    cdef Py_ssize_t left = task.count - (entry - task.entries)
    cdef PyObject* value
    cdef Fields* array
    cdef Node node, following
    cdef int slot, ahead
    if left <= 5:
        return 0
    _prefetch_object(entry[5].node, GC_HEAD, _node_size)
    for ahead in range(2, 5):
        node = <Node>entry[ahead].node
        following = <Node>entry[ahead - 1].node
        for slot in range(node.n_saved):
            value = saved_values(node)[slot]
            if slot < following.n_saved and saved_values(following)[slot] == value:
                continue                # a weight that all nodes of a chain save
            if ahead == 4:
                _prefetch_object(value, GC_HEAD, _tensor_size)
            elif value != NULL and is_tensor(value):
                array = fields((<Tensor>value).array)
                if ahead == 3:
                    _prefetch_object(array, 0, sizeof(Fields))
                    _prefetch_object(<PyObject*>(<Tensor>value).version, 0, _counter_size)
                else:
                    prefetch(array.dimensions)
                    prefetch(array.data)
    return 0


# ---- one node ----

cdef int _watched_step(Task task, Node node) except -1:
    cdef Watcher watcher = watching()
    watcher.before_node(node.label())
    try:
        return _step(task, node)
    finally:
        watcher.after_node()


cdef int _step(Task task, Node node) except -1:
    """Run one node and pass its gradients on."""
    cdef Entry* entry = task.find(<PyObject*>node)
    cdef PyObject** grads = task.slots(entry)
    cdef PyObject* few[FEW]
    cdef PyObject** out = few
    cdef int i
    if task.count > LONG:
        _look_ahead(task, entry)
    if node.n_edges > FEW:
        out = <PyObject**>calloc(node.n_edges, sizeof(PyObject*))
        if out == NULL:
            raise MemoryError()
    else:
        memset(few, 0, sizeof(few))
    try:
        if not entry.needed:            # else _call runs its hooks, after the capture
            run_tensor_hooks(node, grads)
        if entry.captured:
            _capture(task, node, grads)
        if entry.needed:
            _call(task, node, grads, out)
        # From here on only the slots of the next nodes hold the gradients: they can be summed in
        # place.
        task.drop(entry)
        if entry.needed:
            _pass_on(task, node, out)
    finally:
        for i in range(node.n_edges):
            Py_XDECREF(out[i])
        if out != few:
            free(out)
        task.drop(entry)
    return 0


cdef int _capture(Task task, Node node, PyObject** grads) except -1:
    for result, number in task.captures[node]:
        if result < n_outputs(node) and grads[<int>result] != NULL:    # a class may have its own ==
            task.captured[number] = <object>grads[<int>result]
    return 0


cdef int _call(Task task, Node node, PyObject** grads, PyObject** out) except -1:
    """Run the node and its hooks, in PyTorch's order."""
    if node.extras is not None or type(node) is AccumulateGrad:
        run_tensor_hooks(node, grads)
        if node.extras is not None and node.extras.pre_hooks:
            run_pre_hooks(node, grads)
    node.apply(grads, out)
    fit_all(node, out)
    if node.extras is not None and node.extras.post_hooks:
        run_post_hooks(node, grads, out)
    if not task.keep_graph:
        node.release()
        if node.released:
            node.notes.released_at = task.called_at
    if task.check_nan:
        check_nan(node, out)
    return 0


cdef int _pass_on(Task task, Node node, PyObject** out) except -1:
    cdef Entry* entry
    cdef PyObject* gradient
    cdef int i
    for i in range(node.n_edges):
        if next_nodes(node)[i] == NULL:
            continue
        entry = task.find(next_nodes(node)[i])
        if out[i] != NULL and (entry.needed or entry.captured):
            gradient = out[i]
            out[i] = NULL
            _add(task, entry, input_nrs(node)[i], gradient)
        entry.waiting -= 1
        if entry.waiting == 0 and (entry.needed or entry.captured):
            task.push(entry.node)
    return 0


cdef int _add(Task task, Entry* entry, int number, PyObject* gradient) except -1:
    """Add a gradient, whose reference is handed over, to those that wait for a node."""
    cdef PyObject** grads
    cdef PyObject* before
    try:
        grads = task.slots(entry)
        before = grads[number]
        if before == NULL:
            Py_INCREF(<object>gradient)
            grads[number] = gradient
        elif (<Tensor>before).keys & ~(<Tensor>gradient).keys & BIT_SPARSE:
            _replace(grads, number, call2(_op_add, <object>gradient, <object>before))
        elif _is_ours(before) and same_shape(<Tensor>before, <Tensor>gradient):
            call2(_op_add_inplace, <object>before, <object>gradient)
        else:
            # The sum is a new tensor: other edges may share the gradient that arrived first.
            _replace(grads, number, call2(_op_add, <object>before, <object>gradient))
    finally:
        Py_DECREF(<object>gradient)
    return 0


cdef inline void _replace(PyObject** grads, int number, object total) noexcept:
    cdef PyObject* before = grads[number]
    Py_INCREF(total)
    grads[number] = <PyObject*>total
    Py_DECREF(<object>before)


cdef bint _is_ours(PyObject* gradient):
    """Whether only this task can see a gradient, so that it can be added to in place."""
    cdef Tensor tensor = <Tensor>gradient
    # References: the task's slot and the local above.
    return (tls().no_grad and Py_REFCNT(gradient) <= 2 and Py_REFCNT(tensor.array) == 1
            and tensor.view is None and _owns_storage(tensor)
            and is_dense(storage(tensor)))


cdef inline bint _owns_storage(Tensor tensor):
    """Whether the memory is the tensor's own; its array may be a reshaped one of a kernel's."""
    cdef PyObject* base = PyArray_BASE(storage(tensor))
    return base == NULL or (Py_REFCNT(base) == 1 and PyArray_CheckExact(base)
                            and PyArray_BASE(<ndarray>base) == NULL)


# ---- what hooks can ask ----

def current_task_id():
    """The number of the call of backward that runs in this thread; -1: none runs."""
    return -1 if tls().task == NULL else <object>(<Task>tls().task).id


def will_run(Node node not None):
    """Whether the call of backward that runs in this thread will run, or has run, `node`."""
    cdef Entry* entry
    if tls().task == NULL:
        raise RuntimeError("will_run: called outside of backward()")
    entry = (<Task>tls().task).find(<PyObject*>node)
    return entry != NULL and (entry.needed or entry.captured)


def runs_whole_graph():
    """False if the call of backward that runs in this thread named inputs; else True."""
    return tls().task == NULL or (<Task>tls().task).everything


def queue_callback(callback):
    """Call `callback()` at the end of the call of backward that runs in this thread.

    Gradients are then complete. An error in the callback is raised by backward. RuntimeError
    outside of backward.
    """
    cdef Task task
    if tls().task == NULL:
        raise RuntimeError("Final callbacks can only be installed during backward pass. Call "
                           "queue_callback from a hook or from a custom function's backward.")
    if not callable(callback):
        raise TypeError(f"expected a callable, got {type(callback).__name__}")
    task = <Task>tls().task
    if task.callbacks is None:
        task.callbacks = []
    task.callbacks.append(callback)


# ---- accepted for PyTorch's sake ----

def is_multithreading_enabled():
    """Whether `set_multithreading_enabled` was last given True in this thread; changes nothing."""
    return not tls().single_threaded


class set_multithreading_enabled:
    """Accepted and reported, without effect: backward runs in the calling thread."""

    def __init__(self, mode):
        self._before = tls().single_threaded
        tls().single_threaded = not mode

    def __enter__(self):
        return None

    def __exit__(self, *exc_info):
        tls().single_threaded = self._before
