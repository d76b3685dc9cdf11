"""The built-in functions and methods that Python calls for an operator; they enter bind.pyx."""
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.bind cimport (
    Alias, alias_function_entry, alias_method_entry, function_entry, method_entry)
from imode._core.dispatch cimport Operator
from imode._core.tensor cimport Tensor
from libc.stdlib cimport calloc

cdef extern from "Python.h":
    ctypedef struct PyMethodDef:
        const char* ml_name
        const char* ml_doc

cdef extern from "methods.h":
    enum: IMODE_N_METHODS
    ctypedef object (*imode_entry)(PyObject*, PyObject*, PyObject**, Py_ssize_t, PyObject*)
    PyObject** imode_method_ops
    imode_entry* imode_method_entries
    object imode_new_method(object cls, PyMethodDef* definition, int index)
    object imode_new_function(PyMethodDef* definition, void* entry, object op, object module)

cdef dict _indices = {}           # name -> index; a method defined again reuses its index


def make_function(Operator op, str name, doc, module):
    """The built-in function that calls an operator; `doc` begins with its text signature."""
    cdef PyMethodDef* definition = _definition(name, doc)
    if name != op.name:
        called = Alias(op, name)
        return imode_new_function(definition, <void*>alias_function_entry, called, module)
    return imode_new_function(definition, <void*>function_entry, op, module)


def make_method(Operator op, str name, doc):
    """The method descriptor of Tensor that calls an operator."""
    cdef int index = _indices.setdefault(name, len(_indices))
    if index >= IMODE_N_METHODS:
        raise RuntimeError(f"make_method(): more than {IMODE_N_METHODS} methods; methods.h holds "
                           "the table")
    called = op if name == op.name else Alias(op, name)
    Py_INCREF(called)                 # never released, as the one before is not: it may be running
    imode_method_ops[index] = <PyObject*>called
    imode_method_entries[index] = method_entry if name == op.name else alias_method_entry
    return imode_new_method(Tensor, _definition(name, doc), index)


cdef list _texts = []             # keeps alive the names and texts that definitions point to


cdef PyMethodDef* _definition(str name, object doc) except NULL:
    """A method definition, which is never freed, like the function it defines."""
    cdef PyMethodDef* definition = <PyMethodDef*>calloc(1, sizeof(PyMethodDef))
    cdef bytes encoded_name = name.encode()
    cdef bytes encoded_doc = doc.encode()
    if definition == NULL:
        raise MemoryError()
    _texts.extend((encoded_name, encoded_doc))
    definition.ml_name = encoded_name
    definition.ml_doc = encoded_doc
    return definition
