# From a Python call's arguments to an operator's normalised ones.
# See bind.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from imode._core.keyset cimport keyset_t


cpdef enum Problem:                       # errors/arguments.py has the messages
    WRONG_TYPE = 1
    MISSING
    UNEXPECTED_KEYWORD
    TOO_MANY
    TWICE
    WRONG_ELEMENT
    WRONG_SIZE


cdef class Alias:
    # A second name under which Python calls an operator. Immutable.
    cdef Operator operator
    cdef readonly str name                # the operator's name in errors about the arguments

# Entry points of an operator's call and of its `redispatch`, for dispatch.pyx.
cdef object vectorcall_entry(PyObject* op, PyObject** args, size_t n, PyObject* keywords)
cdef object bound_redispatch(Operator op, keyset_t keys, tuple args, dict kwargs)

# Entry points of the functions and methods of operators and Aliases, for callables.pyx.
cdef object function_entry(PyObject* op, PyObject* args, Py_ssize_t n, PyObject* keywords)
cdef object method_entry(PyObject* op, PyObject* self, PyObject** args, Py_ssize_t n,
                         PyObject* keywords)
cdef object alias_function_entry(PyObject* alias, PyObject* args, Py_ssize_t n, PyObject* keywords)
cdef object alias_method_entry(PyObject* alias, PyObject* self, PyObject** args, Py_ssize_t n,
                               PyObject* keywords)
