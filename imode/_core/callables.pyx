"""The built-in functions and methods that Python calls for an operator; they enter bind.pyx.

# Note [Function modes cost nothing while they are off]
A function mode sees the calls before their arguments are bound. Nothing tests for one on the way:
while a mode is on in any thread, what CPython calls for operators' functions, methods, signs and
brackets is exchanged for functions that look whether one is on in their own thread.

Attributes, and methods that are no operators, are exchanged in Tensor's dict. CPython has to be
told of that, and stops caching look-ups of a class after it was told a thousand times (3.13): so
after `MAX_EXCHANGES` these stay exchanged, in a program that has used modes that often.
"""
from types import FunctionType, GetSetDescriptorType, MethodDescriptorType, MethodType

cimport cython
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

cdef extern from *:
    """
    static inline PyObject *imode_dict_of(PyObject *type) {
        return Py_NewRef(((PyTypeObject *)type)->tp_dict);
    }
    static inline void imode_describe(PyObject *made, const char *doc) {
        (PyCFunction_Check(made) ? ((PyCFunctionObject *)made)->m_ml
                                 : ((PyMethodDescrObject *)made)->d_method)->ml_doc = doc;
    }
    static inline void imode_type_modified(PyObject *type) {
        PyType_Modified((PyTypeObject *)type);
    }
    """
    object _dict_of "imode_dict_of"(object cls)
    void _describe "imode_describe"(object made, const char* doc)
    void _type_modified "imode_type_modified"(object cls)

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


def describe(made, str doc):
    """Give a function or method that was made here another documentation, as it becomes known."""
    cdef bytes encoded = doc.encode()
    _texts.append(encoded)
    _describe(made, encoded)


# ---- function modes ----

cdef int _n_modes = 0             # that are on, in all threads
cdef object _run_modes            # run_modes(function, args, kwargs): calls the innermost mode
cdef object _run_native           # the same, of what is no operator


def name_mode_runner(run_modes, run_native):
    """Set the functions that call a thread's modes, which a module above this one defines."""
    global _run_modes, _run_native
    _run_modes, _run_native = run_modes, run_native


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


# ---- attributes, and methods that are no operators ----

@cython.binding(False)
@cython.final
cdef class SeenMethod:
    """Stands in Tensor's dict for a method that is no operator, while a function mode is on."""

    cdef readonly object own

    def __cinit__(self, own):
        self.own = own

    def __get__(self, instance, owner):
        if instance is None or not imode_modes_on:
            return self.own.__get__(instance, owner)
        return MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        return (_run_native if imode_modes_on else _call_own)(self.own, args, kwargs)

    def __getattr__(self, name):
        return getattr(self.own, name)


@cython.binding(False)
@cython.final
cdef class SeenAttribute:
    """Stands in Tensor's dict for an attribute, while a function mode is on."""

    cdef readonly object own

    def __cinit__(self, own):
        self.own = own

    def __get__(self, instance, owner):
        if instance is None or not imode_modes_on:
            return self.own.__get__(instance, owner)
        return _run_native(self.own.__get__, (instance,), {})

    def __set__(self, instance, value):
        (_run_native if imode_modes_on else _call_own)(self.own.__set__, (instance, value), {})

    def __delete__(self, instance):
        (_run_native if imode_modes_on else _call_own)(self.own.__delete__, (instance,), {})


def _call_own(function, tuple args, dict kwargs):
    return function(*args, **kwargs)


cdef int MAX_EXCHANGES = 100
cdef int _exchanges = 0           # so far
cdef set _DUNDERS = {"__array__", "__array_wrap__", "__complex__", "__deepcopy__", "__format__",
                     "__reversed__"}
cdef set _UNSEEN = {"as_subclass", "key_set"}
cdef tuple _METHODS = (MethodDescriptorType, FunctionType, type(make_function))
cdef tuple _ATTRIBUTES = (GetSetDescriptorType, property)


cdef int _see_others(bint seen) except -1:
    """Exchange what stands in Tensor's dict for attributes and methods, or take that back."""
    global _exchanges
    cdef dict space = _dict_of(Tensor)
    if not seen and _exchanges >= MAX_EXCHANGES:
        return 0
    _exchanges += seen
    for name, value in list(space.items()):
        if type(value) is SeenMethod or type(value) is SeenAttribute:
            if not seen:
                space[name] = value.own
        elif seen and name not in _indices and name not in _UNSEEN and (
                not name.startswith("__") or name in _DUNDERS):
            if isinstance(value, _METHODS):
                space[name] = SeenMethod(value)
            elif isinstance(value, _ATTRIBUTES):
                space[name] = SeenAttribute(value)
    _type_modified(Tensor)
    return 0


def own_attributes():
    """Tensor's dict, without what stands in it while a function mode is on: (name, value)."""
    return [(name, value.own if isinstance(value, (SeenMethod, SeenAttribute)) else value)
            for name, value in (<dict>_dict_of(Tensor)).items()]


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
    _see_others(_n_modes)


cdef bint modes_are_on() noexcept:
    return imode_modes_on != 0


def set_modes_on(int n):
    """Set how many function modes are on in this thread."""
    global imode_modes_on
    imode_modes_on = n
