"""backward() and grad(): running the graph.

One call is one task. A first walk counts how many edges lead to each node; then nodes run newest
first, each once all gradients for it have arrived. Everything is iterative, and all of a task's
state is its own, so tasks may nest (a hook that calls backward) and run in several threads.
"""
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from imode._core.allocator cimport empty
from imode._core.dispatch cimport TLS, Operator, call1, call2, operator, tls
from imode._core.dtype cimport code_of, is_complex, dtype_from_typenum
from imode._core.tensor cimport (
    AutogradMeta, Tensor, bump, is_inference, meta_of, requires_grad, storage,
    typenum, version_of,
    wrap)
from imode.autograd.node cimport (
    AccumulateGrad, Edge, Node, OutputMeta, meta_shape, node_edge, set_accumulator)
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset
from numpy cimport import_array, ndarray, npy_intp

from imode.errors import no_history, operator_id

import_array()
cdef int _BACKWARD = operator_id("backward")

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject*) noexcept

cdef extern from "numpy/ndarraytypes.h":
    bint PyArray_IS_C_CONTIGUOUS(ndarray) noexcept
    PyObject* PyArray_BASE(ndarray) noexcept
    bint PyArray_CheckExact(PyObject*) noexcept
    int PyArray_CopyInto(ndarray target, ndarray source) except -1


# ---- the nodes of a task: a hash table from node to what the task knows of it ----

ctypedef struct Entry:
    PyObject* node            # borrowed: the graph is alive while the task runs; NULL: empty
    Py_ssize_t waiting        # edges whose gradients have not arrived yet
    PyObject** grads          # one per result of the node, owned or NULL; NULL: none arrived
    PyObject* single[1]       # where `grads` points for a node of one result
    bint needed               # leads to something that the caller asked for

cdef class _Task:
    cdef Entry* table
    cdef size_t capacity      # a power of two
    cdef size_t count
    cdef PyObject** heap      # nodes ready to run, newest first; borrowed
    cdef size_t heap_size
    cdef size_t heap_capacity
    cdef Entry small_table[32]
    cdef PyObject* small_heap[32]
    cdef list keep            # roots, so that the graph stays alive

    def __cinit__(self):
        self.capacity = self.heap_capacity = 32
        self.table = self.small_table
        self.heap = self.small_heap

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.capacity):
            if self.table[i].node != NULL:
                _drop_grads(&self.table[i])
        if self.table != self.small_table:
            free(self.table)
        for i in range(self.heap_size):
            Py_DECREF(<object>self.heap[i])
        if self.heap != self.small_heap:
            free(self.heap)

    cdef Entry* find(self, PyObject* node) noexcept:
        """The node's entry, or the empty one where it would go."""
        cdef size_t mask = self.capacity - 1
        cdef size_t i = (<size_t>node >> 4) * <size_t>0x9E3779B97F4A7C15 >> 20 & mask
        while self.table[i].node != NULL and self.table[i].node != node:
            i = (i + 1) & mask
        return &self.table[i]

    cdef Entry* add(self, PyObject* node) except NULL:
        cdef Entry* entry = self.find(node)
        if entry.node != NULL:
            return entry
        if self.count * 2 >= self.capacity:
            self._grow()
            entry = self.find(node)
        self.count += 1
        entry.node = node
        return entry

    cdef int _grow(self) except -1:
        cdef Entry* old = self.table
        cdef size_t n = self.capacity
        cdef size_t i
        cdef Entry* fresh = <Entry*>calloc(n * 2, sizeof(Entry))
        if fresh == NULL:
            raise MemoryError()
        self.table = fresh
        self.capacity = n * 2
        for i in range(n):
            if old[i].node != NULL:
                self.find(old[i].node)[0] = old[i]
        if old != self.small_table:
            free(old)
        return 0

    cdef int push(self, PyObject* node) except -1:
        cdef size_t i, parent
        cdef uint64_t sequence = (<Node>node).sequence
        if self.heap_size == self.heap_capacity:
            bigger = <PyObject**>realloc(
                NULL if self.heap == self.small_heap else self.heap,
                2 * self.heap_capacity * sizeof(PyObject*))
            if bigger == NULL:
                raise MemoryError()
            if self.heap == self.small_heap:
                memcpy(bigger, self.heap, self.heap_size * sizeof(PyObject*))
            self.heap = bigger
            self.heap_capacity *= 2
        Py_INCREF(<object>node)
        i = self.heap_size
        self.heap_size += 1
        while i:
            parent = (i - 1) // 2
            if (<Node>self.heap[parent]).sequence >= sequence:
                break
            self.heap[i] = self.heap[parent]
            i = parent
        self.heap[i] = node
        return 0

    cdef PyObject* pop(self) noexcept:
        """The newest ready node; the caller takes the heap's reference."""
        cdef PyObject* top = self.heap[0]
        cdef PyObject* last
        cdef size_t i = 0
        cdef size_t child
        self.heap_size -= 1
        if self.heap_size:
            last = self.heap[self.heap_size]
            while True:
                child = 2 * i + 1
                if child >= self.heap_size:
                    break
                if child + 1 < self.heap_size and (
                        (<Node>self.heap[child + 1]).sequence
                        > (<Node>self.heap[child]).sequence):
                    child += 1
                if (<Node>last).sequence >= (<Node>self.heap[child]).sequence:
                    break
                self.heap[i] = self.heap[child]
                i = child
            self.heap[i] = last
        return top


cdef void _drop_grads(Entry* entry) noexcept:
    cdef int i
    cdef PyObject** grads = entry.grads
    entry.grads = NULL
    if grads != NULL:
        for i in range((<Node>entry.node).n_outputs):
            Py_XDECREF(grads[i])
        if grads != entry.single:
            free(grads)


# ---- running ----

cdef object _run(list roots, list root_grads, bint retain_graph, bint create_graph,
                 list captures, bint accumulate):
    """Run backward from the roots.

    `captures`: Edges as (node, input number) whose gradients to return; None: everything
    accumulates into the leaves.
    """
    cdef _Task task = _Task()
    cdef TLS* state = tls()
    cdef int no_grad = state.no_grad
    cdef Edge edge
    cdef Entry* entry
    cdef dict wanted = None
    cdef dict captured = {}
    cdef PyObject* node
    cdef Py_ssize_t i
    task.keep = []
    if _op_add is None:
        _find_operators()
    if captures is not None:
        wanted = {}
        for capture in captures:
            if capture is not None:
                wanted.setdefault(capture[0], []).append(capture[1])
    starts = []
    for i in range(len(roots)):
        node_edge(<Tensor>roots[i], &edge)
        root_node = <object>edge.node
        Py_DECREF(root_node)
        starts.append((root_node, edge.input_nr))
        task.keep.append(root_node)
    _count(task, starts, wanted)
    state.no_grad = not create_graph
    try:
        for (root_node, number), gradient in zip(starts, root_grads):
            gradient = _fit_root(<Node>root_node, number, gradient)
            task.keep.append(gradient)          # the caller's: never stolen as a leaf's .grad
            entry = task.find(<PyObject*>root_node)
            Py_INCREF(gradient)
            _add(entry, number, <PyObject*>gradient)
        for root_node, _ in starts:
            entry = task.find(<PyObject*>root_node)
            if entry.waiting == 0:
                entry.waiting = -1          # queued: a node that is a root twice runs once
                task.push(entry.node)
        while task.heap_size:
            node = task.pop()
            try:
                _step(task, <Node>node, retain_graph, wanted, captured, accumulate)
            finally:
                Py_DECREF(<object>node)
    finally:
        state.no_grad = no_grad
    if captures is None:
        return None
    return [None if capture is None else captured.get(capture) for capture in captures]


cdef int _count(_Task task, list starts, dict wanted) except -1:
    """Count the edges into every node that can be reached, and find which nodes matter."""
    cdef list stack = []
    cdef list order = []
    cdef Entry* entry
    cdef Node node
    cdef PyObject* target
    cdef int i
    for start, _ in starts:
        entry = task.find(<PyObject*>start)
        if entry.node == NULL:
            task.add(<PyObject*>start)
            stack.append(start)
    while stack:
        node = <Node>stack.pop()
        order.append(node)
        for i in range(node.n_edges):
            target = node.edges[i].node
            if target == NULL:
                continue
            entry = task.find(target)
            if entry.node == NULL:
                entry = task.add(target)
                stack.append(<object>target)
            entry.waiting += 1
    if wanted is None:
        return 0
    _mark_needed(task, order, wanted)
    return 0


cdef int _mark_needed(_Task task, list order, dict wanted) except -1:
    """Mark the nodes from which a wanted one can be reached; iterative depth-first post-order."""
    cdef Entry* entry
    cdef Node node
    cdef int i
    cdef list stack = []
    cdef set done = set()
    for item in order:
        if item in done:
            continue
        stack.append((item, False))
        while stack:
            current, expanded = stack.pop()
            node = <Node>current
            if expanded:
                entry = task.find(<PyObject*>node)
                if node in wanted:
                    entry.needed = True
                for i in range(node.n_edges):
                    if node.edges[i].node != NULL and task.find(node.edges[i].node).needed:
                        entry.needed = True
            elif current not in done:
                done.add(current)
                stack.append((current, True))
                for i in range(node.n_edges):
                    if node.edges[i].node != NULL and <object>node.edges[i].node not in done:
                        stack.append((<object>node.edges[i].node, False))
    return 0


cdef int _step(_Task task, Node node, bint retain_graph, dict wanted, dict captured,
               bint accumulate) except -1:
    """Run one node and pass its gradients on."""
    cdef Entry* entry = task.find(<PyObject*>node)
    cdef Entry* next_entry
    cdef PyObject* small[4]
    cdef PyObject** out = small
    cdef PyObject** grads = entry.grads
    cdef PyObject* arrived
    cdef int i
    cdef int n = node.n_edges
    cdef bint any_grad = False
    entry.grads = NULL
    if grads != NULL:
        for i in range(node.n_outputs):
            any_grad |= grads[i] != NULL
    if n > 4:
        out = <PyObject**>calloc(n, sizeof(PyObject*))
        if out == NULL:
            raise MemoryError()
    else:
        memset(small, 0, sizeof(small))
    try:
        if any_grad:
            if type(node) is AccumulateGrad:
                _run_leaf_hooks(<AccumulateGrad>node, grads)
            if node.tensor_hooks is not None:
                _run_tensor_hooks(node, grads)
            if node.retained is not None:
                _keep_grads(node, grads)
            if node.pre_hooks is not None:
                _run_pre_hooks(node, grads)
            if wanted is not None and node in wanted:
                for number in wanted[node]:
                    if grads[number] != NULL:
                        captured[node, number] = <object>grads[number]
            if wanted is None or _leads_on(task, node) or (
                    accumulate and n == 0 and node in wanted):
                node.apply(grads, out)
                if node.post_hooks is not None:
                    _run_post_hooks(node, grads, out)
                _validate(node, out)
                if not retain_graph:
                    node.release()
        # From here on only the slots they go to hold the gradients: sums may be made in place.
        grads = _drop(entry, grads)
        for i in range(n):
            if node.edges[i].node == NULL:
                continue
            next_entry = task.find(node.edges[i].node)
            if out[i] != NULL:
                arrived = out[i]
                out[i] = NULL
                _add(next_entry, node.edges[i].input_nr, arrived)
            next_entry.waiting -= 1
            if next_entry.waiting == 0 and (wanted is None or next_entry.needed):
                task.push(next_entry.node)
    finally:
        for i in range(n):
            Py_XDECREF(out[i])
        if out != small:
            free(out)
        _drop(entry, grads)
    return 0


cdef bint _leads_on(_Task task, Node node) noexcept:
    """Whether a wanted node lies behind this one: what is only captured does not run."""
    cdef int i
    for i in range(node.n_edges):
        if node.edges[i].node != NULL and task.find(node.edges[i].node).needed:
            return True
    return False


cdef PyObject** _drop(Entry* entry, PyObject** grads) noexcept:
    """Release the gradients that a node ran with, and their array; gives back NULL."""
    cdef int i
    if grads != NULL:
        for i in range((<Node>entry.node).n_outputs):
            Py_XDECREF(grads[i])
        if grads != entry.single:
            free(grads)
    return NULL


cdef inline bint _owns_storage(Tensor tensor):
    """Whether no other array looks at its memory; a kernel may have shaped an array of its own."""
    cdef PyObject* base = PyArray_BASE(storage(tensor))
    return base == NULL or (Py_REFCNT(base) == 1 and PyArray_CheckExact(base)
                            and PyArray_BASE(<ndarray>base) == NULL)


cdef bint _is_ours(PyObject* gradient):
    """Whether only this task can see a gradient, so that the next one is added to it in place."""
    cdef Tensor tensor = <Tensor>gradient
    # References: the task's slot and the local above.
    return (tls().no_grad and Py_REFCNT(gradient) <= 2 and Py_REFCNT(tensor.array) == 1
            and tensor.view is None and _owns_storage(tensor)
            and _dense(tensor))


cdef int _add(Entry* entry, int number, PyObject* gradient) except -1:
    """Add a gradient, whose reference it takes over, to those that wait for a node."""
    cdef int n = (<Node>entry.node).n_outputs
    cdef PyObject* before
    try:
        if entry.grads == NULL:
            if n == 1:
                entry.single[0] = NULL
                entry.grads = entry.single
            else:
                entry.grads = <PyObject**>calloc(n, sizeof(PyObject*))
                if entry.grads == NULL:
                    raise MemoryError()
        before = entry.grads[number]
        if before == NULL:
            Py_INCREF(<object>gradient)
            entry.grads[number] = gradient
        elif _is_ours(before) and _same_shape(<Tensor>before, <Tensor>gradient):
            call2(_op_add_inplace, <object>before, <object>gradient)
        else:
            # The sum is a new tensor: what has arrived may be shared with other edges.
            total = call2(_op_add, <object>before, <object>gradient)
            Py_DECREF(<object>before)
            Py_INCREF(total)
            entry.grads[number] = <PyObject*>total
    finally:
        Py_DECREF(<object>gradient)
    return 0


cdef bint _same_shape(Tensor a, Tensor b) noexcept:
    cdef int d
    if storage(a).ndim != storage(b).ndim:
        return False
    for d in range(storage(a).ndim):
        if storage(a).shape[d] != storage(b).shape[d]:
            return False
    return True


cdef Operator _op_add = None
cdef Operator _op_detach = None
cdef Operator _op_add_inplace = None


cdef int _find_operators() except -1:
    """Find the operators that the engine itself calls: in the first run."""
    global _op_add, _op_detach, _op_add_inplace
    _op_add, _op_detach, _op_add_inplace = operator("add"), operator("detach"), operator("add_")
    return 0


cdef Tensor _fit_root(Node node, int number, Tensor gradient):
    """Fit a gradient to a root whose shape was changed behind the graph, or refuse it."""
    cdef OutputMeta* meta = &node.outputs[number]
    cdef npy_intp* shape = meta_shape(meta)
    cdef int d, lead = storage(gradient).ndim - meta.nd
    cdef bint fits = lead >= 0
    for d in range(meta.nd if fits else 0):
        fits = fits and (shape[d] == 1 or shape[d] == storage(gradient).shape[d + lead])
    if not fits and meta.typenum >= 0:
        raise RuntimeError(
            f"invalid gradient at index {number} - got {list(gradient.shape)} but expected shape "
            f"compatible with {[shape[d] for d in range(meta.nd)]}")
    if lead > 0 and meta.typenum >= 0:
        return _sum_to(node, number, gradient, meta)
    return gradient


cdef int _validate(Node node, PyObject** out) except -1:
    """Make each gradient look like the tensor it belongs to: sum over broadcast dimensions, take
    the real part for a real tensor, convert the dtype."""
    cdef OutputMeta* meta
    cdef Node target
    cdef Tensor gradient
    cdef npy_intp* shape
    cdef int i, d
    cdef bint same
    for i in range(node.n_edges):
        if out[i] == NULL or node.edges[i].node == NULL:
            continue
        target = <Node>node.edges[i].node
        meta = &target.outputs[node.edges[i].input_nr]
        if meta.typenum < 0:
            continue
        gradient = <Tensor>out[i]
        shape = meta_shape(meta)
        same = storage(gradient).ndim == meta.nd
        if same:
            for d in range(meta.nd):
                if storage(gradient).shape[d] != shape[d]:
                    same = False
        if not same:
            fitted = _sum_to(node, i, gradient, meta)
            Py_DECREF(gradient)
            Py_INCREF(fitted)
            out[i] = <PyObject*>fitted
            gradient = fitted
        if typenum(gradient) != meta.typenum:
            fitted = gradient
            if is_complex(code_of[typenum(gradient)]) and not is_complex(
                    code_of[meta.typenum]):
                fitted = call1(operator("real"), fitted)
            fitted = operator("_to_copy")(fitted, dtype=dtype_from_typenum(meta.typenum))
            Py_INCREF(fitted)
            out[i] = <PyObject*>fitted
            Py_DECREF(gradient)
    return 0


cdef Tensor _sum_to(Node node, int i, Tensor gradient, OutputMeta* meta):
    cdef npy_intp* shape = meta_shape(meta)
    cdef int lead = storage(gradient).ndim - meta.nd
    cdef int d
    wanted = tuple([shape[d] for d in range(meta.nd)])
    got = tuple([storage(gradient).shape[d] for d in range(storage(gradient).ndim)])
    if lead < 0 or any([w != 1 and w != g for w, g in zip(wanted, got[lead:])]):
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {i} - got "
            f"{list(got)} but expected shape compatible with {list(wanted)}")
    dims = tuple([d for d in range(len(got)) if d < lead or (wanted[d - lead] == 1 != got[d])])
    if dims:
        gradient = operator("sum.dim")(gradient, dims, True)
    if lead:
        gradient = operator("view")(gradient, wanted)
    return gradient


# ---- hooks ----

cdef int _set(PyObject** slot, object value) except -1:
    cdef PyObject* before = slot[0]
    Py_INCREF(value)
    slot[0] = <PyObject*>value
    Py_XDECREF(before)
    return 0


cdef int _run_leaf_hooks(AccumulateGrad node, PyObject** grads) except -1:
    cdef AutogradMeta meta = node.variable.meta
    if meta is None or meta.hooks is None:
        return 0
    for hook in list(meta.hooks.values()):
        result = hook(<object>grads[0])
        if result is not None:
            if not isinstance(result, Tensor):
                raise TypeError(f"hook: expected a Tensor or None, got {type(result).__name__}")
            _set(&grads[0], result)
    return 0


cdef int _run_tensor_hooks(Node node, PyObject** grads) except -1:
    for number, hooks in list(node.tensor_hooks.items()):
        if grads[<int>number] == NULL:
            continue
        for hook in list(hooks.values()):
            result = hook(<object>grads[<int>number])
            if result is not None:
                if not isinstance(result, Tensor):
                    raise TypeError("hook: expected a Tensor or None, got "
                                    f"{type(result).__name__}")
                _set(&grads[<int>number], result)
    return 0


cdef int _keep_grads(Node node, PyObject** grads) except -1:
    """Put the gradients of results that retain theirs into `.grad`."""
    cdef Tensor tensor
    for number, reference in node.retained.items():
        tensor = reference()
        if tensor is not None and grads[<int>number] != NULL:
            gradient = <object>grads[<int>number]
            before = meta_of(tensor).grad
            tensor.meta.grad = (operator("clone")(gradient, memory_format="contiguous_format")
                                if before is None else call2(_op_add, before, gradient))
    return 0


cdef tuple _as_tuple(PyObject** grads, int n):
    return tuple([None if grads[i] == NULL else <object>grads[i] for i in range(n)])


cdef int _replace_all(PyObject** grads, int n, object values, str what) except -1:
    if values is None:
        return 0
    if not isinstance(values, tuple):
        values = (values,)
    if len(values) != n:
        raise RuntimeError(f"hook: {what}: expected {n} gradients, got {len(values)}")
    for i, value in enumerate(values):
        if value is None:
            Py_XDECREF(grads[<int>i])
            grads[<int>i] = NULL
        elif not isinstance(value, Tensor):
            raise TypeError(f"hook: expected a Tensor or None, got {type(value).__name__}")
        else:
            _set(&grads[<int>i], value)
    return 0


cdef int _run_pre_hooks(Node node, PyObject** grads) except -1:
    for hook in list(node.pre_hooks.values()):
        _replace_all(grads, node.n_outputs, hook(_as_tuple(grads, node.n_outputs)), node.name())
    return 0


cdef int _run_post_hooks(Node node, PyObject** grads, PyObject** out) except -1:
    for hook in list(node.post_hooks.values()):
        _replace_all(out, node.n_edges,
                     hook(_as_tuple(out, node.n_edges), _as_tuple(grads, node.n_outputs)),
                     node.name())
    return 0


# ---- leaves ----

cdef int _accumulate(AccumulateGrad node, PyObject* arrived) except -1:
    cdef Tensor leaf = node.variable
    cdef Tensor gradient = <Tensor>arrived
    cdef bint recording = not tls().no_grad
    before = meta_of(leaf).grad
    if before is None:
        if not recording and _may_steal(gradient, arrived) and _same_layout(gradient, leaf):
            leaf.meta.grad = gradient if gradient.grad_fn is None and gradient.view is None and (
                not gradient.leaf_requires_grad) else call1(_op_detach, gradient)
        else:
            leaf.meta.grad = _copy_like(gradient, leaf)
    elif recording:
        leaf.meta.grad = call2(_op_add, before, gradient)
    else:
        call2(_op_add_inplace, before, gradient)
    if leaf.meta.post_hooks is not None:
        for hook in list(leaf.meta.post_hooks.values()):
            hook(leaf)
    return 0


cdef bint _may_steal(Tensor gradient, PyObject* arrived) noexcept:
    """Whether nothing but this task holds the gradient: then .grad may be it, uncopied.

    It may be a view of a tensor that others hold, as where the root's gradient went through views
    alone; PyTorch lets .grad share that memory.
    """
    # References: the task's slot and the caller's local.
    return <PyObject*>gradient == arrived and Py_REFCNT(arrived) == 2


cdef bint _dense(Tensor tensor):
    """Whether its elements fill a block of memory without holes or overlap, in any order."""
    cdef ndarray array = storage(tensor)
    cdef npy_intp expected = array.itemsize
    cdef int i, found, done = 0, nd = array.ndim
    if PyArray_IS_C_CONTIGUOUS(array):
        return True
    for i in range(nd):
        done += array.shape[i] == 1
    while done < nd:
        found = -1
        for i in range(nd):
            if array.shape[i] != 1 and array.strides[i] == expected:
                found = i
        if found < 0:
            return False
        expected *= array.shape[found]
        done += 1
    return True


cdef bint _same_layout(Tensor gradient, Tensor leaf):
    """Whether the gradient lies in memory as `.grad` must: like the leaf, or contiguous where the
    leaf has holes or overlaps."""
    cdef ndarray array = storage(gradient)
    cdef ndarray like = storage(leaf)
    cdef int i
    if PyArray_IS_C_CONTIGUOUS(array) and PyArray_IS_C_CONTIGUOUS(like):
        return True
    if not _dense(leaf):
        return PyArray_IS_C_CONTIGUOUS(array)
    for i in range(array.ndim):
        if array.shape[i] != 1 and array.strides[i] // array.itemsize != (
                like.strides[i] // like.itemsize):
            return False
    return True


cdef object _copy_like(Tensor gradient, Tensor leaf):
    """A copy laid out as `.grad` must be: like a dense leaf, written into new memory, so that its
    version is 1; else in row order."""
    cdef ndarray source = storage(gradient)
    cdef ndarray copy
    cdef Tensor out
    if tls().no_grad and PyArray_IS_C_CONTIGUOUS(storage(leaf)):
        copy = empty(typenum(gradient), source.ndim, source.shape)
        PyArray_CopyInto(copy, source)
        tls().operator_id = _BACKWARD
        out = wrap(copy)
        if not is_inference(out):
            bump(version_of(out))
        return out
    if _dense(leaf):
        made = operator("new_empty_strided")(gradient, leaf.shape, leaf.stride())
        return call2(operator("copy_"), made, gradient)
    return operator("clone")(gradient, memory_format="contiguous_format")


set_accumulator(_accumulate)


# ---- the entry points ----

cdef tuple _as_tensors(object value, str what):
    if isinstance(value, Tensor):
        return (value,)
    items = tuple(value)
    for item in items:
        if not isinstance(item, Tensor):
            raise TypeError(f"{what}: expected Tensors, got {type(item).__name__}")
    return items


cdef list _root_grads(tuple outputs, object grads, bint create_graph):
    """The gradients to start from: given, or 1 for a scalar."""
    cdef Tensor root
    made = []
    if grads is None:
        grads = (None,) * len(outputs)
    elif isinstance(grads, Tensor):
        grads = (grads,)
    grads = tuple(grads)
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    for index, (root, gradient) in enumerate(zip(outputs, grads)):
        if gradient is None:
            if requires_grad(root):
                if root.numel() != 1:
                    raise RuntimeError("grad can be implicitly created only for scalar outputs")
                if code_of[typenum(root)] >= 9:
                    raise RuntimeError("grad can be implicitly created only for real scalar "
                                       f"outputs but got {root.dtype}")
                gradient = _one(root)
        elif not isinstance(gradient, Tensor):
            raise TypeError("gradients can be either Tensors or None, but got "
                            + type(gradient).__name__)
        elif gradient.shape != root.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{index}] has a shape of {gradient.shape} and "
                f"output[{index}] has a shape of {root.shape}.")
        elif gradient.is_complex() != root.is_complex():
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same "
                f"dtype. Mismatch in dtype: grad_output[{index}] has a dtype of {gradient.dtype} "
                f"and output[{index}] has a dtype of {root.dtype}.")
        made.append(gradient)
    return made


cdef Tensor _one(Tensor root):
    """1, like a root of one element."""
    cdef ndarray array = empty(typenum(root), storage(root).ndim, storage(root).shape)
    array.fill(1)
    tls().operator_id = _BACKWARD
    return wrap(array)


cdef int _check_roots(tuple outputs) except -1:
    cdef Edge edge
    for index, root in enumerate(outputs):
        if not node_edge(<Tensor>root, &edge):
            made = (<Tensor>root).maker, (<Tensor>root).guard_id
            raise no_history(index, made if is_inference(<Tensor>root) else None)
        Py_DECREF(<object>edge.node)
    return 0


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    """Add the gradients of `tensors` to the `.grad` of the leaves they were computed from.

    `tensors`: a Tensor or a sequence of them. `grad_tensors`: the gradients to start from, one of
    each tensor's shape; None for a scalar. `inputs`: only these leaves. Raises RuntimeError if a
    tensor does not require grad, if a gradient's shape is wrong, or if the graph was freed.

    >>> import imode
    >>> x = imode.tensor([1.0, 2.0], requires_grad=True)
    >>> imode.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    outputs = _as_tensors(tensors, "backward()")
    retain = create_graph if retain_graph is None else bool(retain_graph)
    if grad_variables is not None:
        grad_tensors = grad_variables
    grads = _root_grads(outputs, grad_tensors, create_graph)
    _check_roots(outputs)
    captures = None
    if inputs is not None:
        leaves = _as_tensors(inputs, "backward()")
        if not leaves:
            raise RuntimeError("'inputs' argument to backward() cannot be empty.")
        captures = [_capture(leaf, index) for index, leaf in enumerate(leaves)]
    if captures is None:
        _run(list(outputs), grads, retain, create_graph, None, True)
        return
    found = _run(list(outputs), grads, retain, create_graph, captures, True)
    for leaf, gradient in zip(leaves, found):
        if not leaf.is_leaf and gradient is not None:
            meta_of(<Tensor>leaf).grad = (
                gradient if leaf.grad is None else call2(_op_add, leaf.grad, gradient))


cdef object _capture(Tensor tensor, int index):
    cdef Edge edge
    if not requires_grad(tensor):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    if not node_edge(tensor, &edge):
        return None         # a view without an edge: nothing depends on it
    node = <object>edge.node
    Py_DECREF(node)
    return node, edge.input_nr


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,
         only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """Return the gradients of `outputs` with respect to `inputs`: a tuple of Tensors.

    `grad_outputs`: the gradients to start from; None for scalars. `allow_unused`: None in the
    result for an input that the outputs do not depend on (RuntimeError otherwise);
    `materialize_grads`: zeros there. `create_graph`: record the computation of the gradients.

    >>> import imode
    >>> x = imode.tensor(3.0, requires_grad=True)
    >>> imode.autograd.grad(x ** 2, x)
    (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when "
                         "materialize_grads=True, but got: allow_unused=False.")
    if is_grads_batched:
        raise NotImplementedError("grad(): is_grads_batched=True is not supported; call grad() "
                                  "once per vector")
    if allow_unused is None:
        allow_unused = materialize_grads
    roots = _as_tensors(outputs, "grad()")
    leaves = _as_tensors(inputs, "grad()")
    if not leaves:
        raise ValueError("grad requires non-empty inputs.")
    retain = create_graph if retain_graph is None else bool(retain_graph)
    grads = _root_grads(roots, grad_outputs, create_graph)
    _check_roots(roots)
    captures = [_capture(leaf, index) for index, leaf in enumerate(leaves)]
    found = _run(list(roots), grads, retain, create_graph, captures, False)
    for index, (leaf, gradient) in enumerate(zip(leaves, found)):
        if gradient is None:
            if materialize_grads:
                found[index] = operator("zeros_like")(leaf, requires_grad=False)
            elif not allow_unused:
                raise RuntimeError(
                    f"The differentiated Tensor at index {index} appears to not have been used "
                    "in the graph. Set allow_unused=True if this is the desired behavior.")
        elif gradient.requires_grad and not create_graph:
            found[index] = call1(_op_detach, gradient)
    return tuple(found)
