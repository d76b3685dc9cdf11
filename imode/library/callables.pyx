"""What Python calls: all overloads of a library's operator by one name, and a custom operator."""
cimport cython
from cpython.object cimport PyObject
from imode._core.bind cimport vectorcall_entry
from imode._core.dispatch cimport Operator

from imode import errors

cdef extern from *:
    """
    static inline void imode_callable(PyObject* type, Py_ssize_t offset) {
        PyTypeObject* t = (PyTypeObject*)type;
        t->tp_vectorcall_offset = offset;
        t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified(t);
    }
    """
    void _make_callable "imode_callable"(object cls, Py_ssize_t offset)

cdef extern from "Python.h":
    object PyVectorcall_Call(object f, object args, object kwargs)


@cython.binding(False)
@cython.final
cdef class OpOverloadPacket:
    """An operator by its name: a call tries its overloads in order; each is an attribute.

    Thread rule: changes with the GIL held; a call holds the operator that it runs.

    >>> import imode
    >>> imode.ops.aten.add.overloads()
    ['default']
    """

    cdef void* vectorcall             # packet_entry
    cdef Operator first               # None: all were taken back
    cdef readonly str namespace
    cdef readonly str name
    cdef readonly dict found          # overload -> Operator
    cdef readonly object resolve      # finds overloads by PyTorch's names; None: these are all
    cdef readonly str closed          # the library that took the last one back

    def __cinit__(self, str namespace not None, str name not None, resolve=None):
        _make_callable(OpOverloadPacket, <char*>&self.vectorcall - <char*><PyObject*>self)
        self.vectorcall = <void*>_packet_entry
        self.namespace, self.name, self.resolve = namespace, name, resolve
        self.found = {}

    def add(self, Operator op not None):
        """Add an overload; a library's is tried after those that are there."""
        self.found[op.overload or "default"] = op
        self._chain()

    def remove(self, Operator op not None, str library not None):
        """Take an overload back, if it is there."""
        if self.found.get(op.overload or "default") is op:
            del self.found[op.overload or "default"]
            self.closed = library
            self._chain()

    def _chain(self):
        operators = list(self.found.values())
        if self.namespace not in ("aten", "imode"):
            for op, other in zip(operators, [*operators[1:], None]):
                op._chain(other)
        self.first = operators[0] if operators else None

    def overloads(self):
        """The names of the overloads."""
        return list(self.found)

    def explain(self, *args, **kwargs):
        """Print what a call with these arguments would do: see `explain` of an operator."""
        if self.first is None:
            raise errors.library.closed(f"{self.namespace}::{self.name}", self.closed)
        return self.first.explain(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        return PyVectorcall_Call(self, args, kwargs)

    def __getattr__(self, name):
        if name == "__name__":
            return self.name
        if name == "__qualname__" or name == "_qualified_op_name":
            return f"{self.namespace}::{self.name}"
        if name in self.found:
            return self.found[name]
        if not name.startswith("__"):
            op = self.resolve(name) if self.resolve is not None else None
            if op is not None:
                return op
            if self.first is None:
                raise errors.library.closed_name(self._qualified_op_name, self.closed)
        raise errors.library.no_such_overload(self.namespace, self.name, name, list(self.found))

    def __dir__(self):
        return [*object.__dir__(self), *self.found]

    def __repr__(self):
        return f"<operator {self.namespace}.{self.name}, overloads {', '.join(self.found)}>"

    def __reduce__(self):
        from imode.library.namespaces import packet_of

        return packet_of, (self.namespace, self.name)


cdef object _packet_entry(PyObject* packet, PyObject** args, size_t n, PyObject* keywords):
    return _call((<OpOverloadPacket>packet), args, n, keywords)


# ---- under autocast ----

ctypedef object (*entry_t)(PyObject* op, PyObject** args, size_t n, PyObject* keywords)

cdef dict _casting = {}           # operator -> {kind of device: dtype}
cdef object _autocasts = None     # imode.library.autocasts, once something is registered


def cast_inputs(Operator op not None, str kind not None, object dtype):
    """Let an operator cast its arguments under autocast for a kind of device; None: no more."""
    global _autocasts
    from imode.library import autocasts
    _autocasts = autocasts
    dtypes = _casting.setdefault(op, {})
    if dtype is None:
        dtypes.pop(kind, None)
    else:
        dtypes[kind] = dtype
    if not dtypes:
        del _casting[op]
    op.vectorcall = <void*>_casting_entry if dtypes else <void*>vectorcall_entry


cdef object _casting_entry(PyObject* op, PyObject** args, size_t n, PyObject* keywords):
    """Call an operator that casts: as any other one where autocast is off."""
    cdef dict dtypes = _casting.get(<Operator>op)
    cdef Py_ssize_t i, count = n & ~(<size_t>1 << (8 * sizeof(size_t) - 1))
    cdef tuple names
    kind = None if not dtypes else _autocasts.device_under_autocast(dtypes)
    if kind is None:
        return vectorcall_entry(op, args, n, keywords)
    names = () if keywords == NULL else <tuple>keywords
    given = tuple([<object>args[i] for i in range(count)])
    named = {names[i]: <object>args[count + i] for i in range(len(names))}
    return _autocasts.call_cast(<Operator>op, kind, dtypes[kind], given, named)


cdef inline object _call(OpOverloadPacket packet, PyObject** args, size_t n, PyObject* keywords):
    cdef Operator first = packet.first      # held: a library may be closed meanwhile
    if first is None:
        raise errors.library.closed(f"{packet.namespace}::{packet.name}", packet.closed)
    return (<entry_t>first.vectorcall)(<PyObject*>first, args, n, keywords)


@cython.binding(False)
@cython.final
cdef class CustomOpDef:
    """A function that became an operator; made by `custom_op`.

    It is called like the function. As a context manager, and by `close()`, it is taken back.
    """

    cdef void* vectorcall             # custom_entry
    cdef OpOverloadPacket packet
    cdef readonly object _lib         # the Library that holds all that is registered for it
    cdef readonly object _init_fn     # the function as given
    cdef readonly str _schema
    cdef object __weakref__

    def __cinit__(self, lib, OpOverloadPacket packet not None, function, str schema not None):
        _make_callable(CustomOpDef, <char*>&self.vectorcall - <char*><PyObject*>self)
        self.vectorcall = <void*>_custom_entry
        self._lib, self.packet, self._init_fn, self._schema = lib, packet, function, schema

    def __call__(self, *args, **kwargs):
        return PyVectorcall_Call(self, args, kwargs)

    @property
    def _namespace(self):
        return self.packet.namespace

    @property
    def _name(self):
        return self.packet.name

    @property
    def _qualname(self):
        return f"{self.packet.namespace}::{self.packet.name}"

    @property
    def _opoverload(self):
        """The operator."""
        if self.packet.first is None:
            raise errors.library.closed(self._qualname, self.packet.closed)
        return self.packet.first

    def register_kernel(self, device_types, fn=None):
        """Give the operator a kernel for a device, or several; a decorator without `fn`."""
        from imode.library.registering import register_kernel

        return register_kernel(self, device_types, fn)

    def set_kernel_enabled(self, device_type, enabled=True):
        """A block in which a device's kernel is off, and the default one runs; or on again."""
        from imode.library.registering import kernel_enabled

        return kernel_enabled(self, device_type, enabled)

    def register_fake(self, fn):
        """Give the operator a function that tells the shape, dtype and strides of its results."""
        from imode.library.registering import register_fake

        return register_fake(self, fn)

    def register_autograd(self, backward, /, *, setup_context=None):
        """Give the operator a derivative; see `imode.library.register_autograd`."""
        from imode.library.registering import register_autograd

        register_autograd(self, backward, setup_context=setup_context)

    def register_autocast(self, device_type, cast_inputs):
        """Cast arguments under autocast; see `imode.library.register_autocast`."""
        from imode.library.registering import register_autocast

        register_autocast(self, device_type, cast_inputs)

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        """Give modes of a class a rule; see `imode.library.register_torch_dispatch`."""
        from imode.library.registering import register_torch_dispatch

        return register_torch_dispatch(self, torch_dispatch_class, fn)

    def explain(self, *args, **kwargs):
        """Print what a call with these arguments would do: see `explain` of an operator."""
        return self._opoverload.explain(*args, **kwargs)

    def close(self):
        """Take the operator back, with all that was registered for it."""
        self._lib.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __reduce__(self):
        from imode.library.registering import custom_op_of

        return custom_op_of, (self._qualname,)


cdef object _custom_entry(PyObject* custom, PyObject** args, size_t n, PyObject* keywords):
    return _call((<CustomOpDef>custom).packet, args, n, keywords)
