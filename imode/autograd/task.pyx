"""Tasks: a table from nodes to what the task knows of them, and a heap of the ready nodes."""
cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from imode._core.dispatch cimport tls
from imode.autograd.node cimport Node, n_outputs
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset

cdef bint _marking = False    # a task under way has `marks` set
cdef uint64_t _next_id = 0


@cython.final
cdef class Task:
    """One call of backward() or grad(); not visible from Python."""

    def __cinit__(self):
        global _marking, _next_id
        self.entries = self.small_entries
        self.heap = self.small_heap
        self.capacity = self.heap_capacity = 16
        self.marks = not _marking
        _marking = True
        self.id = _next_id
        _next_id += 1

    def __dealloc__(self):
        global _marking
        cdef size_t i
        cdef Py_ssize_t k
        for k in range(self.count):
            self.drop(&self.entries[k])
        if self.entries != self.small_entries:
            free(self.entries)
        free(self.table)
        for i in range(self.heap_size):
            Py_DECREF(<object>self.heap[i])
        if self.heap != self.small_heap:
            free(self.heap)
        if self.marks:
            _marking = False

    # ---- from node to entry ----

    cdef Entry* find(self, PyObject* node) noexcept:
        cdef size_t mask, i
        cdef unsigned int hint
        if self.marks:
            hint = (<Node>node).entry_hint
            if hint < self.count and self.entries[hint].node == node:
                return &self.entries[hint]
            return NULL
        if self.table == NULL:
            return NULL
        mask = self.n_slots - 1
        i = (<size_t>node >> 4) * <size_t>0x9E3779B97F4A7C15 >> 20 & mask
        while self.table[i]:
            if self.entries[self.table[i] - 1].node == node:
                return &self.entries[self.table[i] - 1]
            i = (i + 1) & mask
        return NULL

    cdef Entry* add(self, PyObject* node) except NULL:
        cdef Entry* entry
        if self.count == self.capacity:
            self._grow()
        entry = &self.entries[self.count]
        memset(entry, 0, sizeof(Entry))
        entry.node = node
        self.count += 1
        if self.marks:
            (<Node>node).entry_hint = <unsigned int>(self.count - 1)
        else:
            self._index(self.count - 1)
        return entry

    cdef int _grow(self) except -1:
        cdef bint small = self.entries == self.small_entries
        cdef Entry* bigger = <Entry*>realloc(
            NULL if small else self.entries, 2 * self.capacity * sizeof(Entry))
        if bigger == NULL or self.count >= 0x7FFFFFFF:
            raise MemoryError()
        if small:
            memcpy(bigger, self.entries, self.count * sizeof(Entry))
        self.entries = bigger
        self.capacity *= 2
        return 0

    cdef int _index(self, Py_ssize_t number) except -1:
        """Put an entry into the table."""
        cdef size_t mask, i
        cdef Py_ssize_t k
        cdef unsigned int* bigger
        if 2 * <size_t>self.count >= self.n_slots:
            self.n_slots = 64 if self.n_slots == 0 else 2 * self.n_slots
            bigger = <unsigned int*>calloc(self.n_slots, sizeof(unsigned int))
            if bigger == NULL:
                raise MemoryError()
            free(self.table)
            self.table = bigger
            for k in range(number):
                self._index(k)
        mask = self.n_slots - 1
        i = (<size_t>self.entries[number].node >> 4) * <size_t>0x9E3779B97F4A7C15 >> 20 & mask
        while self.table[i]:
            i = (i + 1) & mask
        self.table[i] = <unsigned int>(number + 1)
        return 0

    # ---- gradients that wait ----

    cdef PyObject** slots(self, Entry* entry) except NULL:
        cdef int n = n_outputs(<Node>entry.node)
        if n <= 1:
            return &entry.grads
        if entry.grads == NULL:
            entry.grads = <PyObject*>calloc(n, sizeof(PyObject*))
            if entry.grads == NULL:
                raise MemoryError()
        return <PyObject**>entry.grads

    cdef void drop(self, Entry* entry) noexcept:
        cdef PyObject* grads = entry.grads
        cdef int i, n
        if grads == NULL:
            return
        entry.grads = NULL
        n = n_outputs(<Node>entry.node)
        if n <= 1:
            Py_DECREF(<object>grads)
            return
        for i in range(n):
            Py_XDECREF((<PyObject**>grads)[i])
        free(grads)

    # ---- the nodes that are ready ----
    # The same algorithm as the C++ library's heap, which PyTorch uses: so nodes of equal sequence
    # (all leaves have the highest) run in the same order, which hooks can observe.

    cdef int push(self, PyObject* node) except -1:
        cdef size_t i, parent
        cdef PyObject** bigger
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
        cdef PyObject* top = self.heap[0]
        cdef PyObject* last
        cdef size_t n, child, parent
        cdef size_t i = 0
        self.heap_size -= 1
        n = self.heap_size
        if n == 0:
            return top
        last = self.heap[n]
        # The gap sinks to the bottom, then the last node rises from there.
        while 2 * i + 2 < n:
            child = 2 * i + 2
            if (<Node>self.heap[child]).sequence < (<Node>self.heap[child - 1]).sequence:
                child -= 1
            self.heap[i] = self.heap[child]
            i = child
        if 2 * i + 2 == n:
            self.heap[i] = self.heap[2 * i + 1]
            i = 2 * i + 1
        while i:
            parent = (i - 1) // 2
            if (<Node>self.heap[parent]).sequence >= (<Node>last).sequence:
                break
            self.heap[i] = self.heap[parent]
            i = parent
        self.heap[i] = last
        return top


cdef bint should_compute(PyObject* node):
    cdef Task task
    cdef Entry* entry
    if node == NULL:
        return False
    if tls().task == NULL:
        return True
    task = <Task>tls().task
    if task.everything:
        return True
    entry = task.find(node)
    # A node that the walk did not meet belongs to the write inside a CopySlices.
    return entry == NULL or entry.needed or entry.captured


cdef Node running_node():
    cdef PyObject* task = tls().task
    if task == NULL or (<Task>task).node == NULL:
        return None
    return <Node>(<Task>task).node
