"""Size: the shape of a tensor, as users see it."""
from cpython.number cimport PyNumber_Index
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM

from imode._core import library_name
from imode._core.type_names import class_name

cdef extern from "Python.h":
    object PyLong_FromSsize_t(Py_ssize_t)

cdef extern from *:
    """
    /* A tuple of a subclass that adds no fields; the caller sets its items. */
    static inline PyObject* imode_new_tuple(PyObject* cls, Py_ssize_t n) {
        return ((PyTypeObject*)cls)->tp_alloc((PyTypeObject*)cls, n);
    }
    """
    object imode_new_tuple(object cls, Py_ssize_t n)


class Size(tuple):
    """The shape of a tensor: a tuple of ints.

    >>> import imode
    >>> imode.zeros(2, 3).size().numel()
    6
    """

    __slots__ = ()

    def __new__(cls, items=()):
        items = tuple(items)
        for position, item in enumerate(items):
            if not isinstance(item, int):
                try:
                    items = items[:position] + (PyNumber_Index(item),) + items[position + 1:]
                except TypeError:
                    raise TypeError(
                        f"imode.Size() takes an iterable of 'int' (item {position} is "
                        f"'{class_name(item)}')") from None
        return tuple.__new__(cls, items)

    def numel(self):
        """The number of elements of a tensor of this shape."""
        n = 1
        for item in self:
            n *= item
        return n

    def __add__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(other, self))

    def __mul__(self, other):
        value = tuple.__mul__(self, other)
        return value if value is NotImplemented else Size(value)

    __rmul__ = __mul__

    def __getitem__(self, index):
        value = tuple.__getitem__(self, index)
        return Size(value) if isinstance(index, slice) else value

    def __repr__(self):
        return f"{library_name.name}.Size([{', '.join(map(repr, self))}])"

    def __reduce__(self):
        return Size, (tuple(self),)


Size.__module__ = "imode"


cdef object new_size(int nd, npy_intp* dims):
    cdef object size = imode_new_tuple(Size, nd)
    cdef int i
    for i in range(nd):
        item = PyLong_FromSsize_t(dims[i])
        Py_INCREF(item)
        PyTuple_SET_ITEM(size, i, item)
    return size
