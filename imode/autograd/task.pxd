# Task: one call of backward() or grad(), and what it knows of the nodes it runs. See task.pyx.
# Thread rule: which task writes to nodes (`marks`) is decided with the GIL held.
from cpython.object cimport PyObject
from imode.autograd.node cimport Node
from libc.stdint cimport uint64_t

ctypedef struct Entry:        # what a task knows of one node
    PyObject* node            # borrowed: the graph is alive while the task runs
    PyObject* grads           # owned; NULL: none has arrived. For a node of one result, its
    #                           gradient; of several results, an array of gradients (PyObject**)
    int waiting               # edges whose gradients have not arrived yet
    signed char needed        # it runs: it is, or leads to, something the caller asked for
    signed char captured      # grad() returns a gradient that arrives here


cdef class Task:
    # Owned by the call of the engine, on the C stack of one thread; no other thread uses it.
    #
    # Invariants: only the first of the tasks under way has `marks` set; it writes the index of a
    # node's entry into `node.entry_hint`, and each look-up verifies that this entry is the node's.
    # Other tasks use the table. Entries do not move once the first node has run.
    cdef Entry* entries       # in the order in which nodes were found
    cdef Py_ssize_t count
    cdef Py_ssize_t capacity
    cdef unsigned int* table  # open addressing: index of an entry + 1, 0 for none; NULL: `marks`
    cdef size_t n_slots       # of the table; a power of two
    cdef bint marks
    cdef PyObject** heap      # nodes ready to run, newest first; owned
    cdef size_t heap_size
    cdef size_t heap_capacity
    cdef Entry small_entries[16]
    cdef PyObject* small_heap[16]
    cdef readonly uint64_t id
    cdef int called_at        # the line that called backward or grad; provenance.location
    cdef bint everything      # no inputs were named: all nodes run, leaves accumulate
    cdef bint keep_graph
    cdef bint create_graph
    cdef bint check_nan       # detect_anomaly(check_nan=True)
    cdef PyObject* node       # the running node, borrowed; NULL: none
    cdef dict captures        # node -> list of (result, index into what grad() returns)
    cdef list captured        # what grad() returns
    cdef list keep            # roots and their gradients, to keep the graph alive
    cdef list callbacks       # from queue_callback, called at the end; None: none

    cdef Entry* find(self, PyObject* node) noexcept        # NULL: not in the task
    cdef Entry* add(self, PyObject* node) except NULL      # for a node that `find` does not find
    cdef int _grow(self) except -1
    cdef int _index(self, Py_ssize_t i) except -1
    cdef int push(self, PyObject* node) except -1
    cdef PyObject* pop(self) noexcept        # the newest ready node; a new reference
    cdef PyObject** slots(self, Entry* entry) except NULL  # its gradients, one per result
    cdef void drop(self, Entry* entry) noexcept            # its gradients are no longer needed


cdef bint should_compute(PyObject* node)     # whether the running task wants gradients for a node
cdef Node running_node()      # the node that backward runs in this thread; None: none
