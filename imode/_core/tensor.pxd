# Tensor: an ndarray, a keyset, a version counter and what autograd knows about it.
# See tensor.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.allocator cimport fields
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD, BIT_WANTS, keyset_t
from imode._core.version cimport VersionCounter, bump, current, new_counter
from libc.stdint cimport uint64_t
from numpy cimport NPY_ARRAY_OWNDATA, PyArray_BASE, PyArray_CHKFLAGS, ndarray, npy_intp

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept

cdef enum Creation:           # how a view was created; decides whether it may be written in place
    DEFAULT = 0
    NO_GRAD_MODE = 1
    INFERENCE_MODE = 2
    MULTI_OUTPUT_NODE = 3
    IN_CUSTOM_FUNCTION = 4


cdef class ViewMeta:
    # What autograd knows about a view of a normal tensor. Owned by the view; immutable except for
    # the version and the creation metadata.
    cdef Tensor base              # the tensor at the root of the chain of views; never a view
    cdef int creation             # Creation
    cdef uint64_t attr_version    # the version for which the view's grad_fn is valid
    cdef object replay            # makes the view from the base where as_strided cannot; or None


cdef class AutogradMeta:
    # Fields that few tensors need. Owned by its tensor.
    cdef object grad              # accumulated gradient: Tensor or None
    cdef PyObject* accumulator    # borrowed: the AccumulateGrad node, while there is one
    cdef object hooks             # dict id -> callable of tensor pre-hooks, or None
    cdef object post_hooks        # dict id -> callable, after the gradient was accumulated
    cdef bint retains_grad        # retain_grad was called on a non-leaf


cdef class Tensor:
    # Thread rule: fields are read and written with the GIL held.
    cdef PyObject* array          # owned ndarray: storage, shape and strides; see storage()
    cdef keyset_t keys            # the backend; Note [Who carries Autograd]
    cdef VersionCounter version   # None: not yet needed, or an inference tensor
    cdef object grad_fn           # the Node whose result it is; None for a leaf: set_grad_fn()
    cdef ViewMeta view            # None: not a view of a normal tensor
    cdef AutogradMeta meta        # None: not yet needed
    # Which result of grad_fn it is. Set before grad_fn, whose old node may run code when freed.
    cdef int output_nr
    # Of an inference tensor, and of a view created where nothing is recorded:
    cdef int guard_id             # the line that entered the guard which turned recording off
    cdef int maker                # the operator, see Note [Who made a tensor]
    cdef unsigned char leaf_requires_grad  # set by the user on a leaf: set_leaf()
    cdef unsigned char parameter  # created by nn.Parameter
    cdef dict __dict__            # attributes that users set
    cdef object __weakref__


ctypedef object (*regenerate_t)(Tensor view)
ctypedef object (*show_t)(object node)

# Set two functions of autograd: one gives a node as Python sees it, the other renews the outdated
# grad_fn of a view. (A base class of nodes with two methods would be one more class.)
cdef void set_autograd(show_t show, regenerate_t regenerate) noexcept
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
    """Whether nothing else uses its memory: its array owns it, and nothing else the array."""
    return Py_REFCNT(t.array) == 1 and PyArray_BASE(storage(t)) == NULL and (
        PyArray_CHKFLAGS(storage(t), NPY_ARRAY_OWNDATA))


cdef inline bint is_inference(Tensor t) noexcept:
    return not t.keys & BIT_AD


cdef inline bint requires_grad(Tensor t) noexcept:
    if t.leaf_requires_grad or t.grad_fn is not None:
        return True
    return t.view is not None and (
        t.view.base.leaf_requires_grad or t.view.base.grad_fn is not None)


cdef inline void set_grad_fn(Tensor t, object node, int output_nr) noexcept:
    """Make the tensor the result of a node."""
    t.output_nr = output_nr
    t.keys |= (t.keys & BIT_AD) << 1
    t.grad_fn = node


cdef inline void set_leaf(Tensor t, bint requires_grad) noexcept:
    """Set whether a tensor without a grad_fn requires grad."""
    t.leaf_requires_grad = requires_grad
    if requires_grad:
        t.keys |= BIT_AUTOGRAD if t.keys & BIT_AD else BIT_WANTS
    elif t.view is None:
        t.keys &= ~<keyset_t>(BIT_AUTOGRAD | BIT_WANTS)
    else:
        t.keys &= ~<keyset_t>BIT_WANTS


cdef inline void forget_history(Tensor t) noexcept:
    """Make a tensor that is no view a leaf that requires no grad."""
    t.output_nr = 0
    set_leaf(t, False)
    t.grad_fn = None


cdef inline VersionCounter version_of(Tensor t):
    """The version counter, created when first needed; raises for an inference tensor."""
    if t.version is None:
        if is_inference(t):
            raise_inference_version(t)
        t.version = new_counter()
    return t.version


cdef inline AutogradMeta meta_of(Tensor t):
    if t.meta is None:
        t.meta = AutogradMeta.__new__(AutogradMeta)
    return t.meta
