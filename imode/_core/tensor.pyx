"""Tensor: an ndarray, a keyset, a version counter and what autograd knows about it.

# Note [Who carries Autograd]
An inference tensor carries its backend's key alone, a normal one ADInplaceOrView as well. Autograd
is carried by a normal tensor while it requires grad or has a grad_fn, and by every view of a normal
tensor. So an operator on plain tensors goes from the call to the backend's kernel.

That is sound because Autograd's kernels do nothing but redispatch where no argument requires grad,
and no tensor that requires grad is without the key:
- A leaf requires grad by `set_leaf`, a result by `set_grad_fn`, and nothing else sets these fields.
- A view requires grad also when its base does, which may be given a history later, by a write to
  it or to another view. So views carry the key from the first on, whatever their base is then.
- A write that gives a tensor its first history has an argument that requires grad, which brings the
  key into the call.
Two cases need the key without a tensor that carries it. A kernel for Autograd from outside may do
anything, so `Operator.always` adds the key to all its calls with a normal tensor. And an inference
tensor may be told to require grad: it carries no key, as in PyTorch, where it meets its like; a
normal tensor beside it, which in PyTorch brings the key, does so here too (`with_autograd`).
"""

from imode import errors
from imode._core.type_names import class_name
from imode._core.user_frames import warn

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyObject_GetBuffer
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator, call1, call2, call3, inference_mode_on, tls
from imode._core.dtype cimport (
    BOOL, FLOAT8_E4M3FN, code_of, dtype_from_typenum, is_complex, is_float)
from imode._core.numbers cimport python_number
from imode._core.element cimport only_element, only_flag, only_number, only_real
from imode._core.geometry cimport offset_of, size_of, strides_of, wrap_dim
from imode._core.elsewhere cimport place_of, values_of
from imode._core.keyset cimport ALL_KEYS, BACKENDS, BIT_CPU, BIT_SPARSE, DispatchKeySet
from imode._core.making cimport free_array, new_tensor, replace_array
from imode._core.signs cimport (
    Sign, binary, compared, equals_array, reflected, sign, sign_of_other, syntax)
from imode._core.subscript_fast cimport get_item, set_item

cnp.import_array()


cdef extern from "Python.h":
    PyObject** _PyObject_GetDictPtr(object o) noexcept


cdef bint _waits(Tensor t):
    """Whether it is a parameter or buffer of a lazy module that has no shape yet."""
    cdef PyObject** attributes = _PyObject_GetDictPtr(t)
    return attributes != NULL and attributes[0] != NULL and "_lazy" in <dict>attributes[0]


@cython.final
@cython.freelist(256)        # each recorded view has one
cdef class ViewMeta:
    """What autograd knows about a view; not visible from Python."""


@cython.final
@cython.freelist(64)
cdef class AutogradMeta:
    """Fields that few tensors need; not visible from Python."""


@cython.binding(False)
@cython.final
cdef class Tensor:
    """A multi-dimensional array of elements of one dtype, like PyTorch's.

    Create one with `imode.tensor(data)` or a factory such as `imode.zeros`. `imode.Tensor(2, 3)`
    gives an uninitialised float32 tensor, for scripts that use the older constructor.

    >>> import imode
    >>> imode.tensor([1.0, 2.0]) * 2
    tensor([2., 4.])
    """

    def __init__(self, *args, **kwargs):
        pass                      # done already: see _construct in making.pyx

    def __dealloc__(self):
        free_array(self)

    # ---- shape and storage ----

    @property
    def shape(self):
        """The size of each dimension: a Size."""
        if fields(self.array).nd == 1 and fields(self.array).dimensions[0] == 0 and _waits(self):
            raise errors.shapes.uninitialized()
        return size_of(self)

    @property
    def ndim(self):
        """The number of dimensions."""
        return storage(self).ndim

    @property
    def dtype(self):
        """The type of the elements."""
        return dtype_from_typenum(cnp.PyArray_TYPE(storage(self)))

    @property
    def device(self):
        """Where the tensor lives: a device."""
        return place_of(self)

    @property
    def nbytes(self):
        """Bytes of the elements."""
        if self.keys & BIT_SPARSE:
            raise errors.sparse.nbytes()
        return cnp.PyArray_NBYTES(storage(self))

    @property
    def itemsize(self):
        """Bytes per element."""
        return cnp.PyArray_ITEMSIZE(storage(self))

    def dim(self):
        """The number of dimensions."""
        return storage(self).ndim

    ndimension = dim

    def numel(self):
        """The number of elements."""
        return cnp.PyArray_SIZE(storage(self))

    nelement = numel

    def element_size(self):
        """Bytes per element."""
        return cnp.PyArray_ITEMSIZE(storage(self))

    def size(self, dim=None):
        """The shape, or the size of dimension `dim`.

        Raises IndexError if `dim` is out of range.
        """
        if dim is None:
            return size_of(self)
        return storage(self).shape[wrap_dim("size", dim, storage(self).ndim)]

    def stride(self, dim=None):
        """The strides in elements, or the stride of dimension `dim`.

        Raises IndexError if `dim` is out of range.
        """
        if dim is None:
            return strides_of(self)
        return storage(self).strides[wrap_dim("stride", dim, storage(self).ndim)] // (
            cnp.PyArray_ITEMSIZE(storage(self)))

    def storage_offset(self):
        """Elements between the start of the storage and the first element."""
        return offset_of(self)

    def data_ptr(self):
        """The address of the first element; 0 for an empty tensor, or one that is not on the CPU.
        """
        if self.keys & BIT_SPARSE:
            raise errors.sparse.no_storage()
        if cnp.PyArray_SIZE(storage(self)) == 0 or not self.keys & BIT_CPU:
            return 0
        return <size_t>cnp.PyArray_DATA(storage(self))

    def is_contiguous(self, *, memory_format=None):
        """Whether the elements lie without gaps in row-major order, or in a format's order."""
        if memory_format is not None:
            return syntax.contiguous_in(self, memory_format)
        return bool(cnp.PyArray_IS_C_CONTIGUOUS(storage(self)))

    def is_floating_point(self):
        """Whether the dtype is float16, float32 or float64."""
        return bool(is_float(code_of[cnp.PyArray_TYPE(storage(self))]))

    def is_complex(self):
        """Whether the dtype is complex64 or complex128."""
        return bool(is_complex(code_of[cnp.PyArray_TYPE(storage(self))]))

    @property
    def T(self):
        """A view with the dimensions in reverse order."""
        if storage(self).ndim == 2:
            return call2(sign(Sign.PERMUTE), self, (1, 0))
        return syntax.transposed(self)

    @property
    def mT(self):
        """A view with the last two dimensions exchanged.

        Raises RuntimeError for a vector.
        """
        if storage(self).ndim >= 2:
            return call3(sign(Sign.TRANSPOSE), self, -2, -1)
        return syntax.matrix_transposed(self)

    # ---- dispatch ----

    def key_set(self):
        """The dispatch keys that this tensor adds to a call.

        >>> import imode
        >>> imode.ones(1).key_set(), imode.ones(1, requires_grad=True).key_set()
        (DispatchKeySet(ADInplaceOrView, CPU), DispatchKeySet(Autograd, ADInplaceOrView, CPU))
        """
        return DispatchKeySet.new(self.keys & ALL_KEYS)

    def is_inference(self):
        """Whether it was allocated in inference mode, or is a view of such a tensor."""
        return bool(is_inference(self))

    # ---- autograd ----

    @property
    def requires_grad(self):
        """Whether operations on it are recorded; can be set on leaves of floating dtypes."""
        return bool(requires_grad(self))

    @requires_grad.setter
    def requires_grad(self, value):
        if type(value) is not bool:
            raise RuntimeError("requires_grad must be a bool")
        if self.grad_fn is not None:
            raise errors.graph.change_requires_grad()
        if value and not _may_require_grad(self):
            raise errors.graph.only_floats_require_grad(
                self.dtype, "floating point and complex dtype")
        set_requires_grad(self, value)

    @requires_grad.deleter
    def requires_grad(self):
        self.requires_grad = None  # raises

    def requires_grad_(self, requires_grad=True):
        """Set `requires_grad` and return the tensor.

        >>> imode.ones(2).requires_grad_()
        tensor([1., 1.], requires_grad=True)
        """
        if type(requires_grad) is not bool:
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{class_name(requires_grad)}")
        set_requires_grad(self, requires_grad)
        return self

    @property
    def is_leaf(self):
        """Whether autograd has recorded no operation that computed it."""
        return grad_fn_of(self) is None

    @property
    def grad_fn(self):
        """The graph node of the operation that computed it; None for a leaf."""
        return _show(grad_fn_of(self))

    @property
    def output_nr(self):
        """Which result of `grad_fn` it is."""
        return self.output_nr

    @property
    def _version(self):
        """The number of in-place writes to its storage; RuntimeError for an inference tensor."""
        return current(version_of(self))

    @property
    def _base(self):
        """The tensor that it is a view of; None if autograd does not track it as a view."""
        return None if self.view is None else self.view.base

    def _is_view(self):
        """Whether autograd tracks it as a view."""
        return self.view is not None

    @property
    def retains_grad(self):
        """Whether a non-leaf keeps its gradient in `.grad`."""
        return self.meta is not None and self.meta.retains_grad

    @property
    def grad(self):
        """The gradient accumulated by `backward()`: a Tensor of the same shape and dtype, or None.

        May be assigned; raises TypeError or RuntimeError for anything else.
        """
        if self.meta is None or self.meta.grad is None:
            if self.grad_fn is not None and (self.meta is None or not self.meta.retains_grad):
                warn(errors.graph.GRAD_OF_NON_LEAF)
            return None
        return self.meta.grad

    @grad.setter
    def grad(self, value):
        cdef Tensor gradient
        if value is None:
            if self.meta is not None:
                self.meta.grad = None
            return
        if not isinstance(value, Tensor):
            raise errors.graph.grad_not_tensor(value)
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        gradient = value
        if typenum(gradient) != typenum(self) or not cnp.PyArray_SAMESHAPE(
                storage(gradient), storage(self)):
            raise errors.graph.grad_mismatch(
                gradient.dtype, size_of(gradient), self.dtype, size_of(self))
        # A strided tensor may have a sparse gradient, but not the reverse.
        if (self.keys ^ gradient.keys) & BACKENDS and not (
                self.keys & BIT_CPU and gradient.keys & BIT_SPARSE):
            raise errors.devices.grad(place_of(self), place_of(gradient))
        meta_of(self).grad = gradient

    @grad.deleter
    def grad(self):
        if self.meta is not None:
            self.meta.grad = None

    @property
    def data(self):
        """A tensor with the same storage that is not connected to this one: autograd does not see
        in-place writes to it."""
        cdef Tensor out = new_tensor(storage(self), self.keys)
        out.guard_id, out.maker = self.guard_id, self.maker
        return out

    @data.deleter
    def data(self):
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    @data.setter
    def data(self, value):
        cdef Tensor made
        if not isinstance(value, Tensor):
            raise TypeError(
                "Variable data has to be a tensor, but got " + class_name(value))
        if requires_grad(self) and not _may_require_grad(value):
            raise RuntimeError("data set to a tensor that requires gradients must be floating "
                               "point or complex dtype")
        if is_inference(self) != is_inference(value):
            made = self if is_inference(self) else <Tensor>value
            raise errors.inference.data(made.guard_id, made.maker, is_inference(value))
        if self.meta is not None and typenum(self) != typenum(<Tensor>value):
            self.meta.accumulator = NULL      # graphs recorded earlier no longer lead here
        if (self.keys ^ (<Tensor>value).keys) & BACKENDS:
            raise errors.devices.data(place_of(self), place_of(<Tensor>value))
        replace_array(self, storage(<Tensor>value))

    # ---- arithmetic ----

    def __add__(self, other):
        return binary(sign(Sign.ADD), self, other)

    def __radd__(self, other):
        return binary(sign(Sign.ADD), self, other)

    def __iadd__(self, other):
        return binary(sign(Sign.ADD).inplace, self, other)

    def __sub__(self, other):
        return binary(sign(Sign.SUB), self, other)

    def __rsub__(self, other):
        if type(other) is Tensor:
            return call2(sign(Sign.RSUB_TENSOR), self, other)
        return binary(sign(Sign.RSUB), self, other)

    def __isub__(self, other):
        return binary(sign(Sign.SUB).inplace, self, other)

    def __mul__(self, other):
        return binary(sign(Sign.MUL), self, other)

    def __rmul__(self, other):
        return binary(sign(Sign.MUL), self, other)

    def __imul__(self, other):
        return binary(sign(Sign.MUL).inplace, self, other)

    def __truediv__(self, other):
        return binary(sign(Sign.DIV), self, other)

    def __rtruediv__(self, other):
        number = other if type(other) is Tensor else python_number(other)
        if number is not None:
            return call2(sign(Sign.MUL), call1(sign(Sign.RECIPROCAL), self), number)
        try:
            return call1(sign(Sign.RECIPROCAL), self) * other    # an array's own product
        except TypeError:
            return NotImplemented

    def __itruediv__(self, other):
        return binary(sign(Sign.DIV).inplace, self, other)

    def __floordiv__(self, other):
        return binary(sign(Sign.FLOOR_DIVIDE), self, other)

    def __rfloordiv__(self, other):
        return reflected(sign(Sign.FLOOR_DIVIDE), sign(Sign.FLOOR_DIVIDE), self, other)

    def __ifloordiv__(self, other):
        return binary(sign(Sign.FLOOR_DIVIDE).inplace, self, other)

    def __mod__(self, other):
        op = sign(Sign.REMAINDER_TENSOR) if type(other) is Tensor else sign(Sign.REMAINDER)
        return binary(<Operator>op, self, other)

    def __rmod__(self, other):
        return reflected(sign(Sign.REMAINDER_SCALAR), sign(Sign.REMAINDER_TENSOR), self, other)

    def __imod__(self, other):
        if type(other) is Tensor:
            return call2(sign(Sign.REMAINDER_TENSOR).inplace, self, other)
        return binary(sign(Sign.REMAINDER).inplace, self, other)

    def __pow__(self, other, modulo):
        if modulo is not None:
            return NotImplemented
        return binary(
            sign(Sign.POW_TENSOR) if type(other) is Tensor else sign(Sign.POW), self, other)

    def __rpow__(self, other, modulo):
        if modulo is not None:
            return NotImplemented
        return reflected(sign(Sign.POW_SCALAR), sign(Sign.POW_TENSOR), self, other)

    def __ipow__(self, other):
        if type(other) is Tensor:
            return call2(sign(Sign.POW_TENSOR).inplace, self, other)
        return binary(sign(Sign.POW).inplace, self, other)

    def __matmul__(self, other):
        if type(other) is Tensor:
            return call2(sign(Sign.MATMUL), self, other)
        return sign_of_other(sign(Sign.MATMUL), self, other)

    def __neg__(self):
        return call1(sign(Sign.NEG), self)

    def __pos__(self):
        if code_of[typenum(self)] == BOOL:
            raise errors.dtypes.bool_plus()
        return self

    def __abs__(self):
        return call1(sign(Sign.ABS), self)

    def __invert__(self):
        if code_of[typenum(self)] >= FLOAT8_E4M3FN:
            raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type "
                            f"tensors\nGot one of dtype {dtype_from_typenum(typenum(self))}.")
        return call1(sign(Sign.BITWISE_NOT), self)

    def __and__(self, other):
        return binary(sign(Sign.BITWISE_AND), self, other)

    def __rand__(self, other):
        return binary(sign(Sign.BITWISE_AND), self, other)

    def __iand__(self, other):
        return binary(sign(Sign.BITWISE_AND).inplace, self, other)

    def __or__(self, other):
        return binary(sign(Sign.BITWISE_OR), self, other)

    def __ror__(self, other):
        return binary(sign(Sign.BITWISE_OR), self, other)

    def __ior__(self, other):
        return binary(sign(Sign.BITWISE_OR).inplace, self, other)

    def __xor__(self, other):
        return binary(sign(Sign.BITWISE_XOR), self, other)

    def __rxor__(self, other):
        return binary(sign(Sign.BITWISE_XOR), self, other)

    def __ixor__(self, other):
        return binary(sign(Sign.BITWISE_XOR).inplace, self, other)

    def __lshift__(self, other):
        return binary(sign(Sign.LSHIFT), self, other)

    def __rlshift__(self, other):
        return reflected(sign(Sign.LSHIFT), sign(Sign.LSHIFT), self, other)

    def __ilshift__(self, other):
        return binary(sign(Sign.LSHIFT).inplace, self, other)

    def __rshift__(self, other):
        return binary(sign(Sign.RSHIFT), self, other)

    def __rrshift__(self, other):
        return reflected(sign(Sign.RSHIFT), sign(Sign.RSHIFT), self, other)

    def __irshift__(self, other):
        return binary(sign(Sign.RSHIFT).inplace, self, other)

    def __eq__(self, other):
        result = compared(Sign.EQ, Sign.EQ, self, other)
        return equals_array(self, other) if result is NotImplemented else result

    def __ne__(self, other):
        return compared(Sign.NE, Sign.NE, self, other)

    def __lt__(self, other):
        return compared(Sign.LT, Sign.GT, self, other)

    def __le__(self, other):
        return compared(Sign.LE, Sign.GE, self, other)

    def __gt__(self, other):
        return compared(Sign.GT, Sign.LT, self, other)

    def __ge__(self, other):
        return compared(Sign.GE, Sign.LE, self, other)

    def __hash__(self):
        return <Py_ssize_t>(<size_t><PyObject*>self >> 4)

    # ---- indexing and conversion ----

    def __getitem__(self, index):
        return get_item(self, index)

    def __setitem__(self, index, value):
        set_item(self, index, value)

    def __delitem__(self, index):
        raise TypeError("Tensor does not support deleting items. "
                        "Make a new one of those to keep: x[keep]")

    def __iter__(self):
        return syntax.iterate(self)

    def __contains__(self, element):
        return syntax.contains(self, element)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        if requires_grad(self):
            raise RuntimeError("Can't take a buffer of a Tensor that requires grad. Use "
                               "tensor.detach() instead.")
        PyObject_GetBuffer((<object>self).numpy(), buffer, flags)  # Note [No memory of both kinds]

    def __releasebuffer__(self, Py_buffer* buffer):
        pass  # defined so that np.frombuffer keeps a buffer, not the tensor

    def __len__(self):
        if storage(self).ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return storage(self).shape[0]

    def __bool__(self):
        return only_flag(self)

    def __float__(self):
        return float(only_real(self, "double"))

    def __int__(self):
        return int(only_real(self, "int64_t"))

    def __complex__(self):
        return complex(only_element(self))

    def __index__(self):
        if code_of[typenum(self)] >= FLOAT8_E4M3FN or cnp.PyArray_SIZE(storage(self)) != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(only_number(self))

    def item(self):
        """The only element, as a Python number.

        Raises RuntimeError unless there is exactly one.

        >>> imode.tensor([[2.5]]).item()
        2.5
        """
        return only_number(self)

    def tolist(self):
        """The elements as nested lists of Python numbers (a number for a 0-dim tensor).

        >>> imode.ones(1, 2).tolist()
        [[1.0, 1.0]]
        """
        return values_of(self).tolist()

    def __repr__(self):
        return syntax.repr(self)


cdef bint _may_require_grad(Tensor self) noexcept:
    return code_of[cnp.PyArray_TYPE(storage(self))] >= FLOAT8_E4M3FN


# ---- autograd's view of a tensor ----

cdef regenerate_t _regenerate = NULL
cdef show_t _show = NULL


cdef void set_autograd(show_t show, regenerate_t regenerate) noexcept:
    global _show, _regenerate
    _show, _regenerate = show, regenerate


cdef object grad_fn_of(Tensor self):
    if self.view is not None and self.version is not None and (
            current(self.version) != self.view.attr_version):
        return _regenerate(self)
    return self.grad_fn


cdef int set_requires_grad(Tensor self, bint value) except -1:
    if self.grad_fn is not None and not value:
        raise errors.graph.change_requires_grad()
    if value and not _may_require_grad(self):
        raise errors.graph.only_floats_require_grad(self.dtype)
    if value and is_inference(self) and not inference_mode_on(tls()):
        raise errors.inference.requires_grad(self.guard_id, self.maker)
    if self.grad_fn is None:
        set_leaf(self, value)
    return 0


cdef object raise_inference_version(Tensor t):
    raise errors.inference.version(t.guard_id, t.maker)


# ---- the class's name is the public one ----

cdef extern from "rename.h":
    void _rename "imode_rename"(object cls, const char* name)


_rename(Tensor, "imode.Tensor")
