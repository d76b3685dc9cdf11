"""Methods of Tensor that are not operators: NumPy, storage, pickling, backward.

They are plain functions, installed on the compiled class when the package is imported.
"""

import numpy as np

from imode import errors, ops
from imode._core.device import device
from imode._core.dispatch import is_grad_enabled
from imode._core.formats import memory_order, sparse_coo, strided
from imode._core.importing import import_late
from imode._core.internals import array_of, conj, install
from imode._core.lending import lend
from imode._core.signs import fill_slots
from imode._core.sparse import is_sparse, parts, rewrite
from imode._core.tensor import Tensor
from imode._core.type_names import class_name
from imode._core.user_frames import warn
from imode._tensor import conversion, older
from imode._tensor.subclass import install_subclasses
from imode._tensor.unalias import normal
from imode.autograd import hooks
from imode.autograd.entry import backward as run_backward

# ---- attributes that are views ----


def _identity_of_scalar(self, name, instead):
    """For 0-dim tensors, transposes return the tensor itself, with PyTorch's warning."""
    warn(f"Tensor.{name} is deprecated on 0-D tensors. {instead}")
    return self


_SAME = "This function is the identity in these cases."


def transposed(self):
    """A view with the dimensions in reverse order."""
    if self.ndim == 0:
        _identity_of_scalar(self, "T", _SAME)
    elif self.ndim != 2:
        warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Use `x.mT` for batches of "
            "matrices or `x.permute(...)` to reverse the dimensions.",
        )
    return self.permute(tuple(range(self.ndim - 1, -1, -1)))


def matrix_transposed(self):
    """A view with the last two dimensions swapped. RuntimeError for vectors."""
    if self.ndim == 0:
        return _identity_of_scalar(self, "mT", _SAME)
    if self.ndim < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return self.transpose(-2, -1)


def _adjoint(self):
    """The conjugate transpose of a matrix. RuntimeError unless there are two dimensions."""
    if self.ndim == 0:
        return _identity_of_scalar(self, "H", "Consider using x.conj().")
    if self.ndim != 2:
        more = ". For batches of matrices, consider using tensor.mH" if self.ndim > 2 else "."
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor{more}"
        )
    return conj(self.transpose(-2, -1))


def _matrix_adjoint(self):
    """The conjugate, with the last two dimensions swapped. RuntimeError for vectors."""
    if self.ndim == 0:
        return _identity_of_scalar(self, "mH", "Consider using x.conj().")
    if self.ndim < 2:
        raise RuntimeError(
            "tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return conj(self.transpose(-2, -1))


def _real(self):
    """The real part, a view; a real tensor itself."""
    return ops.real(self)


def _set_part(part):
    def assign(self, value):
        part(self).copy_(value)

    return assign


def _imag(self):
    """The imaginary part, a view. RuntimeError for a real tensor."""
    return ops.imag(self)


# ---- storage ----


def contiguous_in(self, memory_format):
    """Whether the elements lie without gaps in the order of a memory format."""
    try:
        order = memory_order(memory_format, self.ndim, "is_contiguous")
    except RuntimeError:  # the format is not for this number of dimensions
        return False
    if order is None or order == tuple(range(self.ndim)):
        return self.is_contiguous()
    from imode._core.layout import strides_in

    wanted = strides_in(order, self.shape, 1)  # compares strides also of empty tensors
    return all(
        length == 1 or stride == want
        for length, stride, want in zip(self.shape, self.stride(), wanted, strict=True)
    )


def _expect_storage(self):
    if is_sparse(self):
        raise errors.sparse.storage()


def untyped_storage(self):
    """The memory that the tensor shares with its views: an `UntypedStorage`.

    >>> x = imode.zeros(2, 3)
    >>> x.untyped_storage() == x[1].untyped_storage(), x[1].untyped_storage().nbytes()
    (True, 24)
    """
    from imode._core.storage import UntypedStorage

    _expect_storage(self)
    return UntypedStorage(self)


def storage(self):
    """The memory that the tensor shares with its views, as elements: deprecated, and warns once."""
    from imode.storage import of

    return of(self)


def storage_type(self):
    """The class of `storage()` that older programs know: `imode.FloatStorage` and its kin.

    >>> imode.ones(2).storage_type().__name__
    'FloatStorage'
    """
    import imode.storage as typed

    return getattr(typed, typed._typed(untyped_storage(self), self.dtype).pickle_storage_type())


# ---- what a sparse tensor is made of ----


def sparse_dim(self):
    """The number of sparse dimensions; 0 for a strided tensor."""
    return len(parts(self).indices) if is_sparse(self) else 0


def dense_dim(self):
    """The number of dimensions that are not sparse."""
    return self.dim() - sparse_dim(self)


def _nnz(self):
    """The number of elements that a sparse tensor holds, of which some may have one place.

    Raises NotImplementedError for a strided tensor.
    """
    if not is_sparse(self):
        raise errors.sparse.only_sparse("_nnz")
    return parts(self).indices.shape[1]


def is_coalesced(self):
    """Whether a sparse tensor's indices are known to be sorted, each place once.

    Raises RuntimeError for a strided tensor.
    """
    if not is_sparse(self):
        raise errors.sparse.not_sparse("is_coalesced")
    return parts(self).coalesced


def _coalesced_(self, coalesced):
    """Say that a sparse tensor is, or is not, coalesced; what is not true is refused."""
    from imode.kernels.sparse.coordinates import is_sorted

    if not is_sparse(self):
        raise errors.sparse.not_sparse("_coalesced_")
    found, shape = parts(self), tuple(self.shape)
    if coalesced and not is_sorted(found.indices, shape):
        raise errors.sparse.falsely_coalesced()
    rewrite(self, found.indices, found.values, shape, bool(coalesced))
    return self


def is_set_to(self, tensor):
    """Whether both have the same storage, offset, shape and strides."""
    return (
        untyped_storage(self) == untyped_storage(tensor)
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


def get_device(self):
    """The number of the device; -1 on the CPU and on meta."""
    return -1 if self.device.index is None else self.device.index


# ---- predicates ----


def _expect_tensor(value, function, argument="'input' (position 1)"):
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{function}(): argument {argument} must be Tensor, not {class_name(value)}"
        )


def is_nonzero(input):
    """Whether the only element is not zero. RuntimeError unless there is exactly one.

    >>> imode.is_nonzero(imode.ones(1))
    True
    """
    _expect_tensor(input, "is_nonzero")
    return bool(input)


def is_same_size(input, other):
    """Whether the shapes are equal.

    >>> imode.is_same_size(imode.ones(2), imode.zeros(2))
    True
    """
    _expect_tensor(input, "is_same_size")
    _expect_tensor(other, "is_same_size", "'other' (position 2)")
    return input.shape == other.shape


def is_signed(input):
    """Whether the dtype holds negative numbers.

    >>> imode.is_signed(imode.ones(1))
    True
    """
    _expect_tensor(input, "is_signed")
    return input.dtype.is_signed


def share_memory_(self):
    """Move the storage to memory that processes share, with all views; returns the tensor.

    Raises RuntimeError for tensors that are not on the CPU.

    >>> imode.ones(2).share_memory_().is_shared()
    True
    """
    from imode._core.shared import share

    _expect_storage(self)
    if not self.is_cpu:
        raise errors.devices.not_shared(self.device)
    share(self)
    return self


def is_shared(self):
    """Whether the storage is in memory that processes share: see `share_memory_`."""
    from imode._core.shared import memory_of

    _expect_storage(self)
    return memory_of(self) is not None


def pin_memory(self, device=None):
    """Raise RuntimeError, as PyTorch does where it has no accelerator to copy to."""
    place = _pinned_for(device, "pin_memory")
    if self.device.type == "meta":
        kind = self.type().rpartition(".")[2].removesuffix("Tensor")
        raise RuntimeError(f"cannot pin 'Meta{kind}Type' only dense CPU tensors can be pinned")
    raise errors.devices.not_pinned(place)


def is_pinned(self, device=None):
    """Return False: there is no accelerator whose copies would need it."""
    _pinned_for(device, "is_pinned")
    return False


def _pinned_for(place, method):
    """The device of an argument that is deprecated, or None."""
    if place is None:
        return None
    warn(
        f"The argument 'device' of Tensor.{method}() is deprecated. "
        "Please do not pass this argument.",
        DeprecationWarning,
    )
    return device(place)


# ---- NumPy ----


def numpy(self, *, force=False):
    """The elements as an ndarray that shares the tensor's memory.

    Raises RuntimeError for a tensor that requires grad and TypeError for one that is not on the
    CPU, unless `force=True`. The version counter does not see writes to the array.

    >>> imode.ones(2).numpy()
    array([1., 1.], dtype=float32)
    """
    if not isinstance(force, bool):
        raise TypeError(f"numpy(): argument 'force' must be bool, not {class_name(force)}")
    if self.requires_grad and not force and is_grad_enabled():
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if array_of(self).dtype.isbuiltin == 2:
        raise errors.dtypes.not_in_numpy(self.dtype)
    if not self.is_cpu:
        if not force:
            raise errors.devices.to_numpy(self.device.type)
        return lend(self.detach().cpu())
    return lend(self)


def __array__(self, dtype=None, copy=None):
    array = numpy(self)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError("__array__(): a conversion of the dtype needs a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def __array_wrap__(self, array, context=None, return_scalar=False):
    """The result of a NumPy function of a tensor, as a tensor that shares its memory."""
    array = np.asarray(array)
    return ops.from_numpy(array.astype(np.uint8) if array.dtype == np.bool_ else array)


def contains(self, element):
    if isinstance(element, (Tensor, bool, int, float, complex, np.number)):
        return bool((element == self).any())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


def iterate(self):
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def __reversed__(self):
    return self if self.ndim == 0 else self.flip(0)


def __format__(self, spec):
    from imode._tensor.printing import format_tensor  # not needed before

    return format_tensor(array_of(self), spec, lambda: str(self), self.item)


def __dir__(self):
    return sorted(set(dir(Tensor)) | set(self.__dict__ or ()))


# ---- copying and pickling ----


def __copy__(self):
    from imode._tensor.copying import copy_tensor

    return copy_tensor(self)


def __deepcopy__(self, memo):
    from imode._tensor.copying import deepcopy_tensor

    return deepcopy_tensor(self, memo)


def __reduce_ex__(self, protocol):
    from imode._tensor.copying import reduce_tensor

    return reduce_tensor(self)


# ---- autograd ----


def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Add the gradient of this tensor to the `.grad` of the leaves it was computed from.

    See `imode.autograd.backward`.

    >>> x = imode.ones(2, requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> x.grad
    tensor([3., 3.])
    """
    run_backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def is_conj(input):
    """Whether conjugation is pending: never, since `conj()` returns a conjugated copy.

    >>> imode.is_conj(imode.tensor([1j]).conj())
    False
    """
    _expect_tensor(input, "is_conj")
    return False


def is_neg(input):
    """Whether negation is pending: never.

    >>> imode.is_neg(-imode.ones(1))
    False
    """
    _expect_tensor(input, "is_neg")
    return False


def new(self, *args, **kwargs):
    """A new tensor of the same dtype: uninitialised from sizes, filled from a sequence."""
    from imode._tensor.legacy import construct  # not needed before

    return construct(self.dtype, args, kwargs, True)


_METHODS = {
    **conversion.METHODS,
    **older.METHODS,
    "numpy": numpy,
    "new": new,
    "normal": normal,
    "backward": backward,
    "register_hook": hooks.register_hook,
    "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook,
    "retain_grad": hooks.retain_grad,
    "_backward_hooks": property(hooks.backward_hooks),
    "_post_accumulate_grad_hooks": property(hooks.post_accumulate_grad_hooks),
    "__array__": __array__,
    "__array_wrap__": __array_wrap__,
    "__copy__": __copy__,
    "__deepcopy__": __deepcopy__,
    "__dir__": __dir__,
    "__format__": __format__,
    "__reduce_ex__": __reduce_ex__,
    "__reversed__": __reversed__,
    "H": property(_adjoint),
    "mH": property(_matrix_adjoint),
    "real": property(_real, _set_part(_real)),
    "imag": property(_imag, _set_part(_imag)),
    "untyped_storage": untyped_storage,
    "storage": storage,
    "storage_type": storage_type,
    "is_set_to": is_set_to,
    "get_device": get_device,
    "is_nonzero": is_nonzero,
    "is_conj": is_conj,
    "is_neg": is_neg,
    "is_same_size": is_same_size,
    "is_signed": is_signed,
    "share_memory_": share_memory_,
    "is_shared": is_shared,
    "pin_memory": pin_memory,
    "is_pinned": is_pinned,
    "__array_priority__": 1000,
    "is_cuda": False,
    "is_cpu": property(lambda self: self.device.type == "cpu"),
    "is_sparse": property(is_sparse),
    "is_sparse_csr": False,
    "sparse_dim": sparse_dim,
    "dense_dim": dense_dim,
    "_nnz": _nnz,
    "is_coalesced": is_coalesced,
    "_coalesced_": _coalesced_,
    "is_quantized": False,
    "_cdata": property(id),  # packages compare it: which tensor it is
    "is_meta": property(lambda self: self.device.type == "meta"),
    "layout": property(lambda self: sparse_coo if is_sparse(self) else strided),
}


# The functions behind special methods that the compiled class must have, by the names in Syntax.
_SLOTS = {
    "iterate": iterate,
    "contains": contains,
    "transposed": transposed,
    "matrix_transposed": matrix_transposed,
    "contiguous_in": contiguous_in,
}
# Functions whose modules are imported on the first call: (module, function).
_SLOTS_LATER = {
    "getitem": (".ops.indexing.subscript", "getitem"),
    "setitem": (".ops.indexing.subscript", "setitem"),
    "check_value": (".ops.indexing.subscript", "check_value"),
    "repr": ("._tensor.printing", "show"),
    "constructor": ("._tensor.legacy", "legacy_constructor"),
}


def _fill_later(slot, module, function):
    def first(*args, **kwargs):
        found = getattr(import_late(module, "imode"), function)
        fill_slots(**{slot: found})
        return found(*args, **kwargs)

    fill_slots(**{slot: first})


def install_methods():
    """Put the methods of this module on Tensor; called once while the package is imported."""
    for name, function in _METHODS.items():
        install(name, function)
    install("__rdiv__", vars(Tensor)["__rtruediv__"])
    install_subclasses()
    fill_slots(**_SLOTS)
    for slot, where in _SLOTS_LATER.items():
        _fill_later(slot, *where)


def is_tensor(obj):
    """Whether `obj` is a Tensor.

    >>> imode.is_tensor(imode.ones(1)), imode.is_tensor(1.0)
    (True, False)
    """
    return isinstance(obj, Tensor)


def is_floating_point(input):
    """Whether the dtype of `input` is float16, float32 or float64.

    >>> imode.is_floating_point(imode.ones(1))
    True
    """
    _expect_tensor(input, "is_floating_point")
    return input.is_floating_point()


def is_complex(input):
    """Whether the dtype of `input` is complex64 or complex128.

    >>> imode.is_complex(imode.ones(1))
    False
    """
    _expect_tensor(input, "is_complex")
    return input.is_complex()


def numel(input):
    """The number of elements of `input`.

    >>> imode.numel(imode.ones(2, 3))
    6
    """
    _expect_tensor(input, "numel")
    return input.numel()
