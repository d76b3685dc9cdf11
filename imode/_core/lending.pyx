"""Memory shared with NumPy, buffers and DLPack: lent to others, and borrowed from them.

# Note [No memory of both kinds]
An inference tensor never shares memory with a normal tensor: the normal one may be saved for
backward, and nothing would notice a write through the inference tensor. Views obey this, and `set_`
and `.data =` raise rather than break it. But arrays could lead around it:
`from_numpy(x.numpy())` in inference mode uses the memory of a normal tensor. So while any tensor
uses some memory, a new tensor over that memory is of the same kind, whatever the mode, as a view
would be.

Whether a tensor uses it is known exactly. All arrays that are handed out over a tensor's memory
have the same Lent as their base, where NumPy's chains of views end. It holds the root of the
tensors' arrays; any further reference to that root belongs to a tensor. All tensors over memory
from elsewhere have the same Borrowed at the end of their chains of views, which lives as long as
any of them.
"""
cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_CheckExact
from imode._core.addresses cimport Addresses, Link, at_address, forget, note_at
from imode._core.allocator cimport Fields, fields, root, view_on
from imode._core.dispatch cimport TLS, inference_mode_on, tls
from imode._core.elsewhere cimport place_of
from imode._core.keyset cimport BIT_CPU, BIT_SPARSE, INFERENCE_KEYS, NORMAL_KEYS
from imode._core.making cimport new_tensor
from imode._core.tensor cimport Tensor, is_inference, storage

from imode import errors

cnp.import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject*) noexcept

cdef extern from "recycled.h":
    ctypedef void (*destructor)(PyObject*)
    destructor swap_dealloc "imode_swap_dealloc"(object, destructor)

cdef Addresses _lent, _borrowed           # by address of the root; by address of the owner


# Not tracked by the garbage collector, which does not traverse the arrays whose base they are.
@cython.final
@cython.freelist(16)
@cython.no_gc
cdef class Lent:
    """A tensor's memory, as the base of the arrays over it; not made from Python."""


@cython.final
@cython.freelist(16)
@cython.no_gc
cdef class Borrowed:
    """Another object's memory, as the base of tensors' arrays; not made from Python."""


# They end without a `__dealloc__`, which would save and restore the current exception.
cdef void _end_lent(PyObject* o) noexcept:
    forget(&_lent, &(<Lent>o).link)
    _free_lent(o)


cdef void _end_borrowed(PyObject* o) noexcept:
    forget(&_borrowed, &(<Borrowed>o).link)
    _free_borrowed(o)


cdef destructor _free_lent = swap_dealloc(Lent, <destructor>_end_lent)
cdef destructor _free_borrowed = swap_dealloc(Borrowed, <destructor>_end_borrowed)


cdef ndarray _array_on(ndarray array, object base):
    """A new array over the memory of another, with the given base."""
    cdef Fields* a = fields(<PyObject*>array)
    return view_on(array, <PyObject*>base, a.nd, a.dimensions, a.strides, a.data)


# ---- handing out ----

cdef object _owner_of(Tensor tensor):
    """The base for arrays over a tensor's memory."""
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
    """The elements as a new ndarray that shares the memory, to be handed out."""
    if tensor.keys & BIT_SPARSE:
        raise errors.sparse.to_numpy()
    if not tensor.keys & BIT_CPU:
        raise errors.devices.to_numpy(place_of(tensor).type)
    return _array_on(storage(tensor), _owner_of(tensor))


# ---- taking in ----

cpdef object source_of(object given):
    """The owner of the memory of an array, a buffer or a tensor: a Lent, or another object."""
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
    """The Lent whose memory contains an address: a capsule does not name its owner."""
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
    """For the first tensor over some memory: of the mode's kind, or of that of the memory's."""
    cdef Borrowed self = Borrowed.__new__(Borrowed)
    cdef Lent lent
    self.owner = owner
    self.inference = inference_mode_on(state)
    self.guard_id, self.maker = state.guard_id, state.operator_id
    if type(owner) is Lent:
        lent = <Lent>owner
        if Py_REFCNT(<PyObject*>lent.root) > 1:       # a tensor uses it
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
    if borrowed.keeper is None:
        borrowed.keeper = array
    made = new_tensor(_array_on(array, borrowed),
                      INFERENCE_KEYS if borrowed.inference else NORMAL_KEYS)
    if borrowed.inference:
        made.guard_id, made.maker = borrowed.guard_id, borrowed.maker
    return made
