# Task: one call of backward() or grad(), and what it knows of the nodes it runs. See task.pyx.
# Thread rule: which task is the one that marks nodes is settled with the GIL held.
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

ctypedef struct Entry:        # what a task knows of one node
    PyObject* node            # borrowed: the graph is alive while the task runs
    PyObject* grads           # owned; NULL: none arrived. For a node of one result its gradient;
    #                           for one of several results an array of theirs (PyObject**)
    int waiting               # edges whose gradients have not arrived yet
    signed char needed        # runs: leads to something that the caller asked for, or is it
    signed char captured      # grad() returns a gradient that arrives here


cdef class Task:
    # Owned by the engine's call, on the C stack of one thread; no other thread uses it.
    #
    # Invariants: a node's entry is `entries[node.place]` if that entry's `node` is the node, which
    # is tested at every look-up; else the table knows. Only the first of the tasks that are under
    # way, `marks`, writes `place` into nodes. Entries do not move once the first node has run.
    cdef Entry* entries       # in the order in which nodes were found
    cdef Py_ssize_t count
    cdef Py_ssize_t capacity
    cdef unsigned int* table  # open addressing: number of an entry + 1, 0 for none; NULL: `marks`
    cdef size_t n_slots       # of the table: a power of two
    cdef bint marks
    cdef PyObject** heap      # nodes ready to run, newest first; owned
    cdef size_t heap_size
    cdef size_t heap_capacity
    cdef Entry small_entries[16]
    cdef PyObject* small_heap[16]
    cdef readonly uint64_t id
    cdef int place            # the user's line that called backward or grad: origins.place
    cdef bint everything      # no inputs were named: all nodes run, leaves accumulate
    cdef bint keep_graph
    cdef bint create_graph
    cdef bint check_nan       # detect_anomaly(check_nan=True)
    cdef PyObject* node       # that runs now, borrowed; NULL: none
    cdef dict captures        # node -> list of (result, number among what grad() returns)
    cdef list captured        # what grad() returns
    cdef list keep            # roots and their gradients, so that the graph stays alive
    cdef list callbacks       # of queue_callback, called in the end; None: none

    cdef Entry* find(self, PyObject* node) noexcept        # NULL: the task does not know it
    cdef Entry* add(self, PyObject* node) except NULL      # one that `find` does not find
    cdef int _grow(self) except -1
    cdef int _index(self, Py_ssize_t i) except -1
    cdef int push(self, PyObject* node) except -1
    cdef PyObject* pop(self) noexcept        # the newest ready node, with the heap's reference
    cdef PyObject** slots(self, Entry* entry) except NULL  # its gradients, one per result
    cdef void drop(self, Entry* entry) noexcept            # its gradients are no longer needed


cdef bint should_compute(PyObject* node)     # whether the running task wants gradients for a node
