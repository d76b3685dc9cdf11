# From a Python call's arguments to an operator's normalised ones.
# See bind.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport MAX_ARGS, Operator


ctypedef struct Bound:                    # one call's arguments; lives on the C stack
    PyObject* args[MAX_ARGS + 1]          # borrowed, per schema; then the out tensor or NULL
    PyObject* owned[2 * MAX_ARGS + 1]     # what normalising made; released after the call
    int n_owned
    PyObject* out                         # the out= argument, borrowed; NULL: none


ctypedef struct Mismatch:  # why the arguments did not bind; raised if no overload fits
    int problem                           # Problem
    int argument                          # position in the schema
    int given                             # position in the call, from 1; 0: by keyword
    PyObject* value                       # borrowed, from the caller or from Bound.owned

cdef class Alias:
    # A second name under which Python calls an operator. Immutable.
    cdef Operator operator
    cdef str name                         # what errors about the arguments call it

# What Python's calls of an operator's function and method enter, and of an Alias: callables.pyx.
cdef object function_entry(PyObject* op, PyObject* args, Py_ssize_t n, PyObject* keywords)
cdef object method_entry(PyObject* op, PyObject* self, PyObject** args, Py_ssize_t n,
                         PyObject* keywords)
cdef object alias_function_entry(PyObject* alias, PyObject* args, Py_ssize_t n, PyObject* keywords)
cdef object alias_method_entry(PyObject* alias, PyObject* self, PyObject** args, Py_ssize_t n,
                               PyObject* keywords)
