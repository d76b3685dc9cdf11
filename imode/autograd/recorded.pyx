"""The nodes of operators from the table: their memory, and their classes as Python sees them."""
from imode._core.dispatch cimport tls
from imode._core.slab cimport use_slabs
from imode._core.tensor cimport set_show
from imode.autograd.derivative cimport Derivative
from imode.autograd.node cimport Node, bare_name

cdef extern from *:
    """
    static void imode_share_memory(PyObject *cls, PyObject *base) {
        ((PyTypeObject *)cls)->tp_alloc = ((PyTypeObject *)base)->tp_alloc;
        ((PyTypeObject *)cls)->tp_free = ((PyTypeObject *)base)->tp_free;
    }

    static void imode_set_class(PyObject *self, PyObject *cls) {
        Py_INCREF(cls); /* a heap type is owned by its instances */
        Py_SET_TYPE(self, (PyTypeObject *)cls);
    }

    /* It has no fields of its own, and is freed as its base is: through the trashcan. */
    static void imode_share_end(PyObject *cls, PyObject *base) {
        ((PyTypeObject *)cls)->tp_dealloc = ((PyTypeObject *)base)->tp_dealloc;
    }
    """
    void share_end "imode_share_end"(object cls, object base)
    void share_memory "imode_share_memory"(object cls, object base)
    void set_class "imode_set_class"(object node, object cls)


cdef class _OpNode(Node):
    # The node of an operator from the table. Its memory comes from slabs, which are its free list.
    pass


share_end(_OpNode, Node)       # Note [Freeing long graphs]
use_slabs(_OpNode)


# Note [Classes of nodes]
# `type(y.grad_fn).__name__` is the operator's in PyTorch, and tools that draw graphs print it. A
# class for each operator would cost every recorded operator the free list of slabs and a reference
# to the class; so a node gets its class, which adds nothing to _OpNode, when Python first sees it.
cdef dict _classes = {}          # name -> a subclass of _OpNode; grows by operators only


cdef object shown(object node):
    """A node as Python sees it: of a class with the name of its operator's derivative."""
    cdef str name
    if type(node) is _OpNode:
        name = bare_name(<Node>node)
        cls = _classes.get(name)
        if cls is None:
            cls = type(name, (_OpNode,), {"__slots__": (), "__module__": "builtins"})
            share_memory(cls, _OpNode)
            cls = _classes.setdefault(name, cls)
        set_class(node, cls)
    return node


set_show(shown)


cdef Node new_node(Derivative derivative):
    cdef _OpNode self = _OpNode.__new__(_OpNode)
    self.derivative = derivative
    tls().nodes += 1
    return self
