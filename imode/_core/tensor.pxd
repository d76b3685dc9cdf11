# Tensor: an ndarray, a keyset, a version counter and what autograd knows about it.
# See tensor.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.allocator cimport fields
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD, keyset_t
from imode._core.version cimport VersionCounter, bump, current, new_counter
from libc.stdint cimport uint64_t
from numpy cimport NPY_ARRAY_OWNDATA, PyArray_BASE, PyArray_CHKFLAGS, ndarray, npy_intp

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept

cdef enum Creation:           # how a view was made; decides what an in-place write to it may do
    DEFAULT = 0
    NO_GRAD_MODE = 1
    INFERENCE_MODE = 2
    MULTI_OUTPUT_NODE = 3
    IN_CUSTOM_FUNCTION = 4


cdef class ViewMeta:
    # A view of a normal tensor, as autograd sees it. Owned by the view; immutable but for the
    # version and the creation metadata.
    cdef Tensor base              # the tensor at the root of the chain of views; never a view
    cdef int creation             # Creation
    cdef uint64_t attr_version    # version at which the view's grad_fn was right
    cdef object replay            # makes the view from the base, where as_strided cannot; or None


cdef class AutogradMeta:
    # What only some tensors have. Owned by its tensor.
    cdef object grad              # accumulated gradient: Tensor or None
    cdef PyObject* accumulator    # borrowed; the AccumulateGrad node while one is alive
    cdef object hooks             # dict id -> callable of tensor pre-hooks, or None
    cdef object post_hooks        # dict id -> callable, after the gradient was accumulated
    cdef bint retains_grad        # a non-leaf keeps its gradient


cdef class Tensor:
    # Thread rule: fields are read and written with the GIL held.
    cdef PyObject* array          # owned ndarray: storage, shape and strides; see storage()
    cdef keyset_t keys  # backend alone: an inference tensor; else | ADInplaceOrView | Autograd
    cdef VersionCounter version   # None: not yet needed, or an inference tensor
    cdef object grad_fn           # the Node that made it; None for a leaf
    cdef ViewMeta view            # None: not a view of a normal tensor
    cdef AutogradMeta meta        # None: nothing of it needed yet
    cdef int output_nr            # which result of grad_fn it is
    # Of an inference tensor, and of a view made where nothing is recorded:
    cdef int guard_id             # the place where what keeps from recording was entered
    cdef int maker                # the operator, see Note [Who made a tensor]
    cdef unsigned char leaf_requires_grad  # set by the user on a leaf
    cdef unsigned char parameter  # made by nn.Parameter
    cdef dict __dict__            # attributes that users set
    cdef object __weakref__


ctypedef object (*regenerate_t)(Tensor view)
ctypedef object (*show_t)(object node)

cdef void set_show(show_t function) noexcept       # autograd's: a node as Python sees it

# autograd's: a stale view's grad_fn, renewed
cdef void set_regenerate(regenerate_t function) noexcept
cdef object grad_fn_of(Tensor self)                # grad_fn, renewed if its base was written since
cdef int set_requires_grad(Tensor self, bint value) except -1
cdef object raise_inference_version(Tensor t)


cdef extern from *:
    """
    #define IMODE_TYPE_IS(o, t) (Py_TYPE((PyObject*)(o)) == (PyTypeObject*)(t))
    """
    bint _type_is "IMODE_TYPE_IS"(PyObject* value, PyObject* cls) noexcept


cdef inline bint is_tensor(PyObject* value) noexcept:
    return _type_is(value, <PyObject*>Tensor)


cdef inline ndarray storage(Tensor t):
    return <ndarray>t.array


cdef inline int typenum(Tensor t) noexcept:
    """NumPy's type number of the elements."""
    return fields(t.array).descr.type_num


cdef inline bint owns_memory(Tensor t) noexcept:
    """Whether its array owns its memory and is its alone: nothing else looks at the memory."""
    return Py_REFCNT(t.array) == 1 and PyArray_BASE(storage(t)) == NULL and (
        PyArray_CHKFLAGS(storage(t), NPY_ARRAY_OWNDATA))


cdef inline bint is_inference(Tensor t) noexcept:
    return not t.keys & (BIT_AD | BIT_AUTOGRAD)


cdef inline bint requires_grad(Tensor t) noexcept:
    if t.leaf_requires_grad or t.grad_fn is not None:
        return True
    return t.view is not None and (
        t.view.base.leaf_requires_grad or t.view.base.grad_fn is not None)


cdef inline VersionCounter version_of(Tensor t):
    """The version counter, made when first needed; error for an inference tensor."""
    if t.version is None:
        if is_inference(t):
            raise_inference_version(t)
        t.version = new_counter()
    return t.version


cdef inline AutogradMeta meta_of(Tensor t):
    if t.meta is None:
        t.meta = AutogradMeta.__new__(AutogradMeta)
    return t.meta
