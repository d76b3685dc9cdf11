"""How tensors are created, freed and recycled."""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core cimport allocator
from imode._core.allocator cimport fields
from imode._core.dispatch cimport TLS, inference_mode_on, tls, unrecorded
from imode._core.dtype cimport code_of, is_stored
from imode._core.keyset cimport (
    BIT_AUTOGRAD, BIT_STORED, BIT_WANTS, INFERENCE_KEYS, NORMAL_KEYS, keyset_t)
from imode._core.live cimport alive, born, died
from imode._core.slab cimport use_slabs
from imode._core.signs cimport syntax
from imode._core.tensor cimport Tensor, is_inference, is_tensor, storage, version_of
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "recycled.h":
    ctypedef void (*destructor)(PyObject*)
    object _revive "imode_revive"(PyObject*)
    destructor _swap_dealloc "imode_swap_dealloc"(object, destructor)
    void _end_bounded "imode_end_bounded"(PyObject*, destructor, destructor) noexcept

cdef extern from *:
    """
    static inline PyObject** imode_dict_of(PyObject* o) {
        return (PyObject**)((char*)o + Py_TYPE(o)->tp_dictoffset);
    }
    /* Drop the __dict__ of a new object; setting the first attribute creates another. */
    static inline PyObject* imode_drop_dict(PyObject* o) {
        Py_CLEAR(*imode_dict_of(o));
        return Py_NewRef(o);
    }
    /* A copy of `blank`, all of whose fields are None or zero. */
    static PyObject* imode_copy_blank(PyObject* blank) {
        PyTypeObject* type = Py_TYPE(blank);
        PyObject* o = type->tp_alloc(type, 0);
        if (o == NULL) return NULL;
        for (size_t at = sizeof(PyObject); at < (size_t)type->tp_basicsize; at += sizeof(void*)) {
            PyObject* field = *(PyObject**)((char*)blank + at);
            if (field == Py_None) Py_INCREF(field);
            *(PyObject**)((char*)o + at) = field;
        }
        return o;
    }
    enum { IMODE_OLD_LOOKUP = PY_VERSION_HEX < 0x030C0000 };
    /* Whether it has attributes or weak references, or something else refers to its __dict__. */
    static inline int imode_has_extras(PyObject* o) {
        PyObject* dict = *imode_dict_of(o);
        return (dict != NULL && !(Py_REFCNT(dict) == 1 && PyDict_CheckExact(dict)
                                  && ((PyDictObject*)dict)->ma_used == 0)) ||
               imode_has_weak_references(o);
    }
    static void* imode_swap_new(PyObject* type, void* make) {
        void* before = (void*)((PyTypeObject*)type)->tp_new;
        ((PyTypeObject*)type)->tp_new = (newfunc)make;
        return before;
    }
    """
    object _drop_dict "imode_drop_dict"(object)
    object _copy_blank "imode_copy_blank"(object)
    const bint OLD_LOOKUP "IMODE_OLD_LOOKUP"
    bint _has_extras "imode_has_extras"(PyObject*) noexcept
    void* _swap_new "imode_swap_new"(object, void*)

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(PyObject*) noexcept


def live_tensors():
    """How many tensors are alive; None unless this is a debug build."""
    return alive()


# Note [Recycled tensors]
# Most results live only as long as one expression. A tensor that dies without attributes and weak
# references is reset and kept, to be used as the next new tensor. That saves the dict and the
# initialisation of a new object, a third of the cost of a small operator.
#
# CPython up to 3.11 looks up methods fastest if the object's __dict__ exists; later versions if it
# does not exist yet. So up to 3.11 the first tensors get a __dict__; for all tensors of a long
# graph it would be a waste.
cdef enum:
    SPARES = 512

cdef PyObject* _spares[SPARES]    # dead tensors, all fields except `keys` as in a new one
cdef int _n_spares = 0
cdef int _n_dicts = 0             # tensors that were given a __dict__


cdef void free_array(Tensor self) noexcept:
    if self.array != NULL:    # else it was never initialised, or has been counted already
        died()
    allocator.release(self.array)


cdef inline Tensor _new():
    global _n_dicts, _n_spares
    born()
    if _n_spares:
        _n_spares -= 1
        return <Tensor>_revive(_spares[_n_spares])
    if OLD_LOOKUP and _n_dicts < SPARES:
        _n_dicts += 1
        return <Tensor>_allocate(<PyObject*>Tensor, <PyObject*>_nothing, NULL)
    return <Tensor>_copy_blank(_blank)


cdef void _end(PyObject* o) noexcept:
    global _n_spares
    if _n_spares >= SPARES or _has_extras(o):
        _free(o)
        return
    PyObject_GC_UnTrack(o)
    free_array(<Tensor>o)
    (<Tensor>o).array = NULL
    if (<Tensor>o).version is not None:
        (<Tensor>o).version = None
    if (<Tensor>o).grad_fn is not None:
        (<Tensor>o).grad_fn = None
    if (<Tensor>o).view is not None:
        (<Tensor>o).view = None
    if (<Tensor>o).meta is not None:
        (<Tensor>o).meta = None
    (<Tensor>o).output_nr = (<Tensor>o).guard_id = (<Tensor>o).maker = 0
    (<Tensor>o).leaf_requires_grad = (<Tensor>o).parameter = False
    if _n_spares < SPARES:        # freeing the fields may have filled the list
        _spares[_n_spares] = o
        _n_spares += 1
    else:
        _free(o)


cdef void _recycle(PyObject* o) noexcept:
    """Tensor's tp_dealloc."""
    # Attributes, .grad and hooks may own a further tensor, which owns one more, and so on.
    if (<Tensor>o).meta is not None or _has_extras(o):
        _end_bounded(o, <destructor>_recycle, <destructor>_end)
    else:
        _end(o)


use_slabs(Tensor)
cdef destructor _free = _swap_dealloc(Tensor, _recycle)   # really frees the object


cdef object _construct(PyObject* cls, PyObject* args, PyObject* kwargs):
    """Tensor's tp_new, which makes sure that every tensor has an array."""
    return syntax.constructor(*<tuple>args, **({} if kwargs == NULL else <dict>kwargs))


ctypedef object (*maker_t)(PyObject* cls, PyObject* args, PyObject* kwargs)
cdef tuple _nothing = ()
cdef maker_t _allocate = <maker_t>_swap_new(Tensor, <void*>_construct)   # without an array
cdef object _blank = _drop_dict(_allocate(<PyObject*>Tensor, <PyObject*>_nothing, NULL))
PyObject_GC_UnTrack(<PyObject*>_blank)        # so that gc.get_objects() does not show it


cdef inline keyset_t _keys_for(keyset_t keys, int typenum) noexcept:
    """The keys of a tensor that may have come to another dtype."""
    return keys | BIT_STORED if is_stored(code_of[typenum]) else keys & ~<keyset_t>BIT_STORED


cdef inline keyset_t _without_history(keyset_t keys, int typenum) noexcept:
    """The keys of a new tensor of a dtype, beside one that has these."""
    return _keys_for(keys & ~<keyset_t>(BIT_AUTOGRAD | BIT_WANTS), typenum)


cdef Tensor new_tensor(ndarray array, keyset_t keys):
    cdef Tensor self = _new()
    Py_INCREF(array)
    self.array = <PyObject*>array
    self.keys = _without_history(keys, fields(<PyObject*>array).descr.type_num)
    return self


cdef Tensor wrap(ndarray array):
    cdef Tensor self = _new()
    cdef TLS* state = tls()
    Py_INCREF(array)
    self.array = <PyObject*>array
    self.keys = INFERENCE_KEYS if inference_mode_on(state) else NORMAL_KEYS
    if is_stored(code_of[fields(<PyObject*>array).descr.type_num]):
        self.keys |= BIT_STORED
    if unrecorded(state):
        self.guard_id, self.maker = state.guard_id, state.operator_id
    return self


cdef Tensor wrap_view(ndarray array, Tensor base):
    cdef Tensor self = _new()
    Py_INCREF(array)
    self.array = <PyObject*>array
    self.keys = _without_history(base.keys, fields(<PyObject*>array).descr.type_num)
    self.guard_id, self.maker = base.guard_id, base.maker
    if not is_inference(base):
        self.version = version_of(base)
    return self


cdef Tensor view_of(Tensor base, int typenum, int nd, npy_intp* dims, npy_intp* strides,
                    char* data):
    cdef Tensor self = _new()
    self.array = allocator.take_view(base.array, typenum, nd, dims, strides, data)
    self.keys = _without_history(base.keys, typenum)
    self.guard_id, self.maker = base.guard_id, base.maker
    if not is_inference(base):
        self.version = version_of(base)
    return self


cdef Tensor alias_of(Tensor self):
    return wrap_view(storage(self), self)


# Note [Memory while the GIL is released]
# A kernel borrows its arguments' memory. While it runs without the GIL, another thread may give one
# of the tensors other memory (`t.data = ...`, `set_`), which would free the old memory while it is
# in use. So a kernel that releases the GIL first takes references to the arrays, in local variables
# or in this list.

cdef list hold(PyObject** args, int n):
    """The arrays of the first n arguments, including those of tensors in tuples."""
    cdef list arrays = []
    cdef int i
    for i in range(n):
        if args[i] == NULL:
            continue
        if is_tensor(args[i]):
            arrays.append(storage(<Tensor>args[i]))
        elif isinstance(<object>args[i], tuple):
            for item in <tuple>args[i]:
                if isinstance(item, Tensor):
                    arrays.append(storage(<Tensor>item))
    return arrays


cdef void replace_array(Tensor self, ndarray array):
    cdef PyObject* before = self.array
    Py_INCREF(array)
    self.array = <PyObject*>array
    self.keys = _keys_for(self.keys, fields(<PyObject*>array).descr.type_num)
    allocator.release(before)
