"""Internals of a tensor for the package's Python layers; not for users."""
from sys import intern

cimport cython
cimport numpy as cnp
from numpy cimport ndarray
from imode import errors
from imode._core.dispatch cimport call1, operator, tls
from imode._core.dtype cimport code_of, dtype_from_typenum, is_complex
from imode._core.iterate cimport empty_like
from imode._core.keyset cimport BACKENDS, BIT_CPU, BIT_SPARSE, NORMAL_KEYS
from imode._core.making cimport alias_of, new_tensor, wrap
from imode._core.tensor cimport (
    INFERENCE_MODE, Tensor, is_inference, set_requires_grad, storage, typenum, version_of)

from imode._core.device import device
from imode._core.dtype import dtype
from imode._core.formats import layout, memory_format
from imode._core.provenance import operator_id
from imode._core.size import Size

cnp.import_array()


def wrap_array(array, maker=None):
    """A tensor whose storage is `array` (an ndarray of a supported dtype, aligned).

    `maker`: who made it, for messages about inference tensors.
    """
    if type(array) is not cnp.ndarray:
        raise TypeError(f"wrap_array(): expected an ndarray, got {type(array).__name__}")
    dtype_from_typenum(cnp.PyArray_TYPE(array))
    tls().operator_id = 0 if maker is None else operator_id(maker)
    return wrap(array)


def array_of(Tensor tensor not None):
    """The ndarray that a tensor consists of. Version counters do not see writes to it."""
    return storage(tensor)


def make_parameter(data, requires_grad=True):
    """A normal leaf tensor that shares the storage of `data`, flagged as a parameter.

    An inference tensor is copied: parameters are normal tensors even if created in the mode.
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"Parameter(): expected a Tensor, got {type(data).__name__}")
    cdef Tensor self = make_normal(data)
    self.parameter = True
    set_requires_grad(self, bool(requires_grad))
    return self


def make_normal(Tensor data not None):
    """A detached normal tensor with the values of `data`. It shares its storage and version
    counter; an inference tensor is copied, as by `clone`."""
    if not is_inference(data):
        return alias_of(data)
    cdef ndarray source = storage(data)
    if data.keys & BIT_SPARSE:        # whose array is never written to
        return new_tensor(source, NORMAL_KEYS ^ BIT_CPU | BIT_SPARSE)
    cdef ndarray copied = empty_like(source, cnp.PyArray_TYPE(source))
    cnp.PyArray_CopyInto(copied, source)
    return new_tensor(copied, NORMAL_KEYS ^ BIT_CPU | data.keys & BACKENDS)


def swap_contents(Tensor a not None, Tensor b not None):
    """Exchange all that two tensors are, except which objects they are and what users set.

    Nothing that refers to a tensor for its contents, as a graph or a view does, may refer to them.
    """
    a.array, b.array = b.array, a.array
    a.keys, b.keys = b.keys, a.keys
    a.version, b.version = b.version, a.version
    a.grad_fn, b.grad_fn = b.grad_fn, a.grad_fn
    a.view, b.view = b.view, a.view
    a.meta, b.meta = b.meta, a.meta
    a.output_nr, b.output_nr = b.output_nr, a.output_nr
    a.guard_id, b.guard_id = b.guard_id, a.guard_id
    a.maker, b.maker = b.maker, a.maker
    a.leaf_requires_grad, b.leaf_requires_grad = b.leaf_requires_grad, a.leaf_requires_grad
    a.parameter, b.parameter = b.parameter, a.parameter


def has_node(Tensor tensor not None):
    """Whether the tensor has a grad_fn. That of a view whose base was written to is not renewed, so
    this never raises."""
    return tensor.grad_fn is not None


def is_parameter(value):
    """Whether `value` is a tensor made by `nn.Parameter`, or an object of a subclass with one."""
    if not isinstance(value, Tensor):
        if not hasattr(type(value), "_imode_tensor"):
            return False
        value = value._imode_tensor
    return bool((<Tensor>value).parameter)


def origin_of(Tensor tensor not None):
    """What created a tensor where nothing is recorded: (operator, the mode's entry, the mode).

    The first two are numbers of provenance.py. None for a tensor that was created elsewhere.
    """
    inference = is_inference(tensor)
    if not inference and not tensor.guard_id:
        return None
    if tensor.view is not None and tensor.view.creation == INFERENCE_MODE:
        inference = True
    return tensor.maker, tensor.guard_id, "inference_mode" if inference else "no_grad mode"


def version_counter_of(Tensor tensor not None):
    """The version counter of a normal tensor."""
    return version_of(tensor)


def conj(x):
    """The complex conjugate where `x` is complex, else `x` itself: for derivative formulas."""
    if type(x) is Tensor:
        return x if not is_complex(code_of[typenum(x)]) else call1(operator("conj"), x)
    return x.conjugate() if isinstance(x, complex) else x


@cython.final
cdef class DeferredMethod:
    """Stands for a method until the operators that define it are imported."""

    cdef object name
    cdef object load              # load(name) imports them; the method then replaces this object

    def __init__(self, name, load):
        self.name, self.load = name, load

    def __get__(self, instance, owner):
        self.load(self.name)
        if Tensor.__dict__.get(self.name) is self:
            raise AttributeError(f"type object 'imode.Tensor' has no attribute {self.name!r}")
        return getattr(owner if instance is None else instance, self.name)


cdef class AbsentMethod:
    """Stands for a name that tensors have in PyTorch: it tells that it is not here.

    Tensor has no `__getattr__`, with which CPython would look up every method in a slower way.
    """

    cdef object name

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner):
        raise errors.no_such_method(self.name)


def install(name, value):
    """Set an attribute of the Tensor type; used while the package is imported.

    Most methods are operators, which modules above this one declare.
    """
    _set_type_attribute(Tensor, intern(name), value)


cdef extern from *:
    """
    static inline int imode_set_type_attribute(PyObject* type, PyObject* name, PyObject* value) {
        if (PyDict_SetItem(((PyTypeObject*)type)->tp_dict, name, value) < 0) return -1;
        PyType_Modified((PyTypeObject*)type);
        return 0;
    }
    """
    int _set_type_attribute "imode_set_type_attribute"(
        object cls, object name, object value) except -1


cdef extern from "rename.h":
    void _rename "imode_rename"(object cls, const char* name)


def show_as_torch():
    """Let the classes of which programs print and compare the names be shown as PyTorch's."""
    _rename(Tensor, "torch.Tensor")
    _rename(dtype, "torch.dtype")
    _rename(device, "torch.device")
    for cls in (Size, layout, memory_format):
        cls.__module__ = "torch"


cdef extern from *:
    """
    /* A metaclass without fields or slots of its own may take the place of `type`. */
    static inline int imode_set_metaclass(PyObject* type, PyObject* meta) {
        if (((PyTypeObject*)meta)->tp_basicsize != PyType_Type.tp_basicsize) {
            PyErr_SetString(PyExc_TypeError, "a metaclass with fields");
            return -1;
        }
        Py_INCREF(meta);
        Py_SET_TYPE(type, (PyTypeObject*)meta);
        PyType_Modified((PyTypeObject*)type);
        return 0;
    }
    """
    int _set_metaclass "imode_set_metaclass"(object cls, object meta) except -1


def set_metaclass(meta):
    """Set the class of the class Tensor: Note [Subclasses hold a tensor] in _tensor/subclass.py."""
    _set_metaclass(Tensor, meta)
