"""What imode uses of `cpython.object`, which takes each module as long as three of imode's own."""

cdef extern from "Python.h":
    ctypedef struct PyObject

    ctypedef struct PyTypeObject:
        Py_ssize_t tp_basicsize
        unsigned long tp_flags

    PyTypeObject* Py_TYPE(object o)  # cpython.ref passes it on
