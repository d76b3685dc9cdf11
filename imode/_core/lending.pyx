"""Memory shared with NumPy, buffers and DLPack: handed out, and taken in.

# Note [No memory of both kinds]
An inference tensor shares no memory with a normal one: nothing could tell what the normal one
saved for backward that the other is written to. Views keep that, and `set_` and `.data =` refuse
to break it. Arrays could lead around it: `from_numpy(x.numpy())` inside of inference mode looks at
the memory of a normal tensor. So as long as a tensor looks at the memory that a tensor is to be
made over, the new one is of the same kind, in any mode, as a view would be.

Whether one does is known exactly. All arrays over a tensor's memory that are handed out have one
Lent as their base, at which NumPy's chains of views end, and which holds the root of the tensors'
arrays: more references to that root are tensors. All tensors over memory from elsewhere have one
Borrowed at the end of their chain of views: as long as it lives, one of them does.
"""
cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_CheckExact
from imode._core.addresses cimport Addresses, Link, at_address, forget, note_at
from imode._core.allocator cimport Fields, fields, root, view_on
from imode._core.dispatch cimport TLS, inference_mode_on, tls
from imode._core.keyset cimport INFERENCE_KEYS, NORMAL_KEYS
from imode._core.making cimport new_tensor
from imode._core.tensor cimport Tensor, is_inference, storage

cnp.import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject*) noexcept

cdef Addresses _lent, _borrowed           # by address of the root; by address of the owner


# Neither is counted by the collector, which does not look into the arrays whose base they are.
@cython.final
@cython.freelist(16)
@cython.no_gc
cdef class Lent:
    """A tensor's memory, as the base of the arrays over it; not made from Python."""

    def __dealloc__(self):
        forget(&_lent, &self.link)


@cython.final
@cython.freelist(16)
@cython.no_gc
cdef class Borrowed:
    """Memory of others, as the base of tensors' arrays; not made from Python."""

    def __dealloc__(self):
        forget(&_borrowed, &self.link)


cdef ndarray _array_on(ndarray array, object base):
    """A new array over the memory of another, with a base of its own."""
    cdef Fields* a = fields(<PyObject*>array)
    return view_on(array, <PyObject*>base, a.nd, a.dimensions, a.strides, a.data)


# ---- handing out ----

cdef object _owner_of(Tensor tensor):
    """What the arrays over a tensor's memory have as base."""
    cdef ndarray array = <ndarray>root(tensor.array)
    cdef PyObject* base = fields(<PyObject*>array).base
    cdef PyObject* found
    cdef Lent lent
    if base != NULL and type(<object>base) is Borrowed:
        return (<Borrowed>base).owner
    found = at_address(&_lent, <void*>array)
    if found != NULL:
        return <object>found
    lent = Lent.__new__(Lent)
    lent.root = array
    lent.inference = is_inference(tensor)
    lent.guard_id, lent.maker = tensor.guard_id, tensor.maker
    note_at(&_lent, <void*>array, &lent.link, <PyObject*>lent)
    return lent


cpdef ndarray lend(Tensor tensor):
    """The elements as a new ndarray that shares the memory: for handing out."""
    return _array_on(storage(tensor), _owner_of(tensor))


# ---- taking in ----

cpdef object source_of(object given):
    """Whose memory an array, a buffer or a tensor shows: a Lent, or an object that has its own."""
    cdef PyObject* base
    while True:
        if isinstance(given, cnp.ndarray):
            base = fields(<PyObject*>given).base
            if base == NULL:
                return given
            given = <object>base
        elif isinstance(given, Tensor):
            return _owner_of(<Tensor>given)
        elif type(given) is Borrowed:
            return (<Borrowed>given).owner
        elif type(given) is Lent:
            return given
        else:
            try:
                behind = memoryview(given).obj
            except TypeError:
                return given
            if behind is None or behind is given:
                return given
            given = behind


cdef object _lent_at(char* data):
    """What a tensor has handed out that covers an address, which a capsule does not tell."""
    cdef Lent lent
    cdef Link* link
    cdef size_t i
    for i in range(_lent.mask + 1 if _lent.n else 0):
        link = _lent.buckets[i]
        while link != NULL:
            lent = <Lent>link.owner
            start = <char*>cnp.PyArray_DATA(lent.root)
            if start <= data < start + cnp.PyArray_NBYTES(lent.root):
                return lent
            link = link.following
    return None


cdef Borrowed _new_borrowed(object owner, TLS* state):
    """The first tensor over some memory: as the mode has it, or as the memory's own tensors are."""
    cdef Borrowed self = Borrowed.__new__(Borrowed)
    cdef Lent lent
    self.owner = owner
    self.inference = inference_mode_on(state)
    self.guard_id, self.maker = state.guard_id, state.operator_id
    if type(owner) is Lent:
        lent = <Lent>owner
        if Py_REFCNT(<PyObject*>lent.root) > 1:       # a tensor looks at it
            self.inference = lent.inference
            self.guard_id, self.maker = lent.guard_id, lent.maker
    note_at(&_borrowed, <void*>owner, &self.link, <PyObject*>self)
    return self


cdef Borrowed _again(Borrowed first):
    cdef Borrowed self = Borrowed.__new__(Borrowed)
    self.first = first
    self.owner, self.inference = first.owner, first.inference
    self.guard_id, self.maker = first.guard_id, first.maker
    return self


cpdef Tensor borrow(ndarray array, object source=None):
    cdef PyObject* found
    cdef Borrowed borrowed
    cdef Tensor made
    owner = source_of(array if source is None else source)
    if PyCapsule_CheckExact(owner):
        owner = _lent_at(<char*>cnp.PyArray_DATA(array)) or owner
    found = at_address(&_borrowed, <void*>owner)
    if found == NULL:
        borrowed = _new_borrowed(owner, tls())
    else:
        borrowed = <Borrowed>found
        if array is not owner and type(owner) is not Lent:
            borrowed = _again(borrowed)
    if borrowed.kept is None:
        borrowed.kept = array
    made = new_tensor(_array_on(array, borrowed),
                      INFERENCE_KEYS if borrowed.inference else NORMAL_KEYS)
    if borrowed.inference:
        made.guard_id, made.maker = borrowed.guard_id, borrowed.maker
    return made
