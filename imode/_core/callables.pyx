"""The built-in functions and methods that Python calls for an operator; they enter bind.pyx.

# Note [Function modes cost nothing while they are off]
A function mode sees the calls before their arguments are bound. Nothing tests for one on the way:
while a mode is on in any thread, what CPython calls for operators' functions, methods, signs and
brackets is exchanged for functions that look whether one is on in their own thread.
"""
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
    object (*imode_method_of_other)(PyObject*, PyObject**, Py_ssize_t, PyObject*)
    object imode_method_vectorcall(PyObject*, PyObject**, size_t, PyObject*)
    object imode_new_method(object cls, PyMethodDef* definition, int index)
    object imode_function_vectorcall(PyObject*, PyObject**, size_t, PyObject*)
    void imode_see_function(object function, void* seen)
    object imode_new_function(PyMethodDef* definition, void* entry, object op, object module)

cdef extern from "signs_seen.h":
    int imode_modes_on            # of this thread
    void* imode_tensor_type
    object (*imode_sign_seen)(const char*, PyObject*, PyObject*, PyObject*)
    void imode_see_signs(int)


cdef object _method_of_other(PyObject* method, PyObject** args, Py_ssize_t n, PyObject* keywords):
    """A method of Tensor called with an object of another class as `self`."""
    from imode._core.overriding import call_overridden

    cdef Py_ssize_t i
    if not hasattr(type(<object>args[0]), "_imode_tensor"):
        return imode_method_vectorcall(method, args, n, keywords)    # CPython's own error
    values = [<object>args[i] for i in range(n + (len(<tuple>keywords) if keywords != NULL else 0))]
    named = dict(zip(<tuple>keywords, values[n:])) if keywords != NULL else {}
    return call_overridden(<object>method, tuple(values[:n]), named)[0]


imode_method_of_other = _method_of_other
cdef dict _indices = {}           # name -> index; a method defined again reuses its index


def make_function(Operator op, str name, doc, module):
    """The built-in function that calls an operator; `doc` begins with its text signature."""
    cdef PyMethodDef* definition = _definition(name, doc)
    called = op if name == op.name else Alias(op, name)
    function = imode_new_function(
        definition, <void*>(function_entry if called is op else alias_function_entry), called,
        module)
    _functions[<size_t><PyObject*>called] = function
    _made.append(function)
    if _n_modes:
        imode_see_function(function, <void*>_function_seen)
    return function


cdef dict _functions = {}         # address of an operator or Alias -> its function
cdef list _made = []              # all functions


def function_of(called, bint is_method):
    """What the user called for an operator or Alias: `imode.add`, or the method `Tensor.add`."""
    if not is_method and <size_t><PyObject*>called in _functions:
        return _functions[<size_t><PyObject*>called]
    return Tensor.__dict__.get(called.name, called)


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
    if _n_modes:
        imode_method_entries[index] = _method_seen
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


# ---- function modes ----

cdef int _n_modes = 0             # that are on, in all threads
cdef object _run_modes            # run_modes(function, args, kwargs): calls the innermost mode


def name_mode_runner(run_modes):
    """Set the function that calls a thread's modes, which a module above this one defines."""
    global _run_modes
    _run_modes = run_modes


cdef object _run(object function, PyObject* self, PyObject** args, Py_ssize_t n,
                 PyObject* keywords):
    cdef Py_ssize_t i
    values = [<object>self] if self != NULL else []
    values += [<object>args[i] for i in range(n)]
    named = {}
    if keywords != NULL:
        named = {name: <object>args[n + i] for i, name in enumerate(<tuple>keywords)}
    return _run_modes(function, tuple(values), named)


cdef object _function_seen(PyObject* function, PyObject** args, size_t n, PyObject* keywords):
    if imode_modes_on:
        # The shifts drop the top bit of the count, a flag.
        return _run(<object>function, NULL, args, <Py_ssize_t>(n << 1 >> 1), keywords)
    return imode_function_vectorcall(function, args, n, keywords)


cdef object _method_seen(PyObject* called, PyObject* self, PyObject** args, Py_ssize_t n,
                         PyObject* keywords):
    if imode_modes_on:
        return _run(function_of(<object>called, True), self, args, n, keywords)
    if type(<object>called) is Alias:
        return alias_method_entry(called, self, args, n, keywords)
    return method_entry(called, self, args, n, keywords)


cdef object _sign_seen(const char* name, PyObject* a, PyObject* b, PyObject* c):
    cdef PyObject** args = [a, b, c]
    return _run(getattr(Tensor, name.decode()), NULL, args, 1 + (b != NULL) + (c != NULL), NULL)


def count_modes(int change):
    """Note how many function modes more are on now, in all threads."""
    global _n_modes, imode_tensor_type, imode_sign_seen
    cdef bint before = _n_modes > 0
    cdef int i
    _n_modes += change
    if before == (_n_modes > 0):
        return
    imode_tensor_type = <void*><PyObject*>Tensor
    imode_sign_seen = _sign_seen
    imode_see_signs(_n_modes)
    for i in range(len(_indices)):
        if imode_method_ops[i] == NULL:
            continue
        imode_method_entries[i] = _method_seen if _n_modes else (
            alias_method_entry if type(<object>imode_method_ops[i]) is Alias else method_entry)
    for function in _made:
        imode_see_function(function, <void*>_function_seen if _n_modes else NULL)


def set_modes_on(int n):
    """Set how many function modes are on in this thread."""
    global imode_modes_on
    imode_modes_on = n
