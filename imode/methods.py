"""Methods of Tensor that are not operators: conversion, NumPy, pickling, backward.

They are plain functions, installed on the compiled class when the package is imported.
"""

import warnings

import numpy as np

from . import ops
from ._core import dtype as dtypes
from ._core.dispatch import is_grad_enabled
from ._core.internals import array_of, array_of_new_header, conj, install
from ._core.tensor import Tensor
from .autograd import hooks
from .autograd.entry import backward as run_backward
from .printing import format_tensor
from .unalias import normal

_BY_NAME = {d.name: d for d in dtypes.all_dtypes()}
_TYPE_NAMES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
    "ComplexFloatTensor": "complex64",
    "ComplexDoubleTensor": "complex128",
}
_NAME_OF = {dtype: name for name, dtype in _TYPE_NAMES.items()}


# ---- dtype and device ----


def to(self, *args, **kwargs):
    """Convert to a dtype or device: `to(dtype)`, `to(device, dtype)`, `to(other)`.

    Returns the tensor itself where nothing changes and `copy=True` is not given. Raises TypeError
    for other arguments, and an error for a device other than the CPU.

    >>> imode.ones(2).to(imode.int64)
    tensor([1, 1])
    """
    if len(args) == 1 and not kwargs and type(args[0]) is dtypes.dtype:
        return self if args[0] is self.dtype else ops._to_copy(self, dtype=args[0])
    dtype = kwargs.pop("dtype", None)
    device = kwargs.pop("device", None)
    other = kwargs.pop("other", None)
    copy = kwargs.pop("copy", False)
    kwargs.pop("non_blocking", None)
    kwargs.pop("memory_format", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    flags = []
    for arg in args:
        if isinstance(arg, Tensor) and other is None:
            other = arg
        elif isinstance(arg, (str, dtypes.device)) and device is None:
            device = arg
        elif arg is None:
            continue
        elif isinstance(arg, bool):
            flags.append(arg)
        else:
            try:
                dtype = _BY_NAME[dtypes.as_numpy(arg).name]
            except TypeError:
                names = ", ".join(type(a).__name__ for a in args)
                raise TypeError(
                    f"to() received an invalid combination of arguments - got ({names}), but "
                    "expected one of:\n * (imode.device device, imode.dtype dtype, bool "
                    "non_blocking, bool copy)\n * (imode.dtype dtype, bool non_blocking, bool "
                    "copy)\n * (Tensor tensor, bool non_blocking, bool copy)\n"
                ) from None
    if len(flags) > 1:
        copy = flags[1]
    if other is not None:
        dtype, device = other.dtype, other.device
    if device is not None:
        dtypes.usable_device(device)
    if dtype is None:
        dtype = self.dtype
    elif not isinstance(dtype, dtypes.dtype):
        dtype = _BY_NAME[dtypes.as_numpy(dtype).name]
    if dtype is self.dtype and not copy:
        return self
    return ops._to_copy(self, dtype=dtype)


def _converter(name):
    dtype = _BY_NAME[name]

    def convert(self, memory_format=None):
        if self.dtype is dtype:
            return self
        return ops._to_copy(self, dtype=dtype)

    convert.__doc__ = f"The tensor in {name}; itself if it is that already."
    return convert


def type_(self, dtype=None, non_blocking=False):
    """The name of the tensor's type, or the tensor converted to `dtype` (a dtype or such a name).

    >>> imode.ones(1).type()
    'imode.FloatTensor'
    """
    if dtype is None:
        return f"imode.{_NAME_OF[self.dtype.name]}"
    if isinstance(dtype, str):
        name = dtype.rpartition(".")[2]
        if name not in _TYPE_NAMES:
            raise ValueError(f"invalid type: {dtype!r}")
        dtype = _BY_NAME[_TYPE_NAMES[name]]
    return to(self, getattr(dtype, "dtype", dtype))  # imode.LongTensor stands for its dtype


def type_as(self, other):
    """The tensor in the dtype of `other`."""
    return to(self, other.dtype)


def cpu(self, memory_format=None):
    """The tensor on the CPU: itself."""
    return self


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """Refused: tensors live on the CPU."""
    return dtypes.usable_device("cuda")


# ---- attributes that are views ----


def _identity_of_scalar(self, name, instead):
    """The tensor itself, with PyTorch's warning: what its transposes are for 0-dim tensors."""
    warnings.warn(f"Tensor.{name} is deprecated on 0-D tensors. {instead}", stacklevel=4)
    return self


_SAME = "This function is the identity in these cases."


def transposed(self):
    """The tensor with its dimensions in reverse order: a view."""
    if self.ndim == 0:
        _identity_of_scalar(self, "T", _SAME)
    elif self.ndim != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Use `x.mT` for batches of "
            "matrices or `x.permute(...)` to reverse the dimensions.",
            stacklevel=2,
        )
    return self.permute(tuple(range(self.ndim - 1, -1, -1)))


def matrix_transposed(self):
    """The tensor with its last two dimensions swapped: a view. RuntimeError for vectors."""
    if self.ndim == 0:
        return _identity_of_scalar(self, "mT", _SAME)
    if self.ndim < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return self.transpose(-2, -1)


def _adjoint(self):
    """A matrix transposed and conjugated. RuntimeError for other than two dimensions."""
    if self.ndim == 0:
        return _identity_of_scalar(self, "H", "Consider using x.conj().")
    if self.ndim != 2:
        more = ". For batches of matrices, consider using tensor.mH" if self.ndim > 2 else "."
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor{more}"
        )
    return conj(self.transpose(0, 1))


def _matrix_adjoint(self):
    """The last two dimensions swapped, conjugated. RuntimeError for vectors."""
    if self.ndim == 0:
        return _identity_of_scalar(self, "mH", "Consider using x.conj().")
    if self.ndim < 2:
        raise RuntimeError(
            "tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return conj(self.transpose(-2, -1))


def _real(self):
    """The real part: a view; the tensor itself where it is real."""
    return ops.real(self)


def _set_part(part):
    def assign(self, value):
        part(self).copy_(value)

    return assign


def _imag(self):
    """The imaginary part: a view. RuntimeError for a real tensor."""
    return ops.imag(self)


# ---- small questions ----


def is_nonzero(self):
    """Whether the only element is not zero. RuntimeError unless there is exactly one."""
    return bool(self)


def is_signed(self):
    """Whether the dtype holds negative numbers."""
    return self.dtype.is_signed


def share_memory_(self):
    """The tensor itself: threads share its memory already."""
    return self


def is_shared(self):
    """True: threads share its memory."""
    return True


def pin_memory(self, device=None):
    """The tensor itself: there is no device to copy to."""
    return self


def is_pinned(self, device=None):
    """False."""
    return False


# ---- NumPy ----


def numpy(self, *, force=False):
    """The elements as an ndarray that shares the tensor's memory.

    Raises RuntimeError for a tensor that requires grad unless `force=True`. A write to the array
    is not seen by the version counter.

    >>> imode.ones(2).numpy()
    array([1., 1.], dtype=float32)
    """
    if self.requires_grad and not force and is_grad_enabled():
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return array_of_new_header(self)


def __array__(self, dtype=None, copy=None):
    array = numpy(self)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError("__array__(): a conversion of the dtype needs a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def __array_wrap__(self, array, context=None, return_scalar=False):
    """What NumPy's functions of a tensor give: a tensor that shares the result's memory."""
    array = np.asarray(array)
    return ops.from_numpy(array.astype(np.uint8) if array.dtype == np.bool_ else array)


def contains(self, element):
    if isinstance(element, (Tensor, bool, int, float, complex)):
        return bool((self == element).any())
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
    return format_tensor(array_of(self), spec, lambda: str(self))


def __dir__(self):
    return sorted(set(dir(Tensor)) | set(self.__dict__ or ()))


# ---- copying and pickling ----


def __deepcopy__(self, memo):
    from .copying import deepcopy_tensor

    return deepcopy_tensor(self, memo)


def __reduce_ex__(self, protocol):
    from .copying import reduce_tensor

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
    """Whether conjugation is still pending: never, `conj()` gives a conjugated copy."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"is_conj(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    return False


def is_neg(input):
    """Whether negation is still pending: never."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"is_neg(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    return False


_METHODS = {
    "to": to,
    "type": type_,
    "type_as": type_as,
    "cpu": cpu,
    "cuda": cuda,
    "numpy": numpy,
    "normal": normal,
    "backward": backward,
    "register_hook": hooks.register_hook,
    "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook,
    "retain_grad": hooks.retain_grad,
    "__array__": __array__,
    "__array_wrap__": __array_wrap__,
    "__deepcopy__": __deepcopy__,
    "__dir__": __dir__,
    "__format__": __format__,
    "__reduce_ex__": __reduce_ex__,
    "__reversed__": __reversed__,
    "H": property(_adjoint),
    "mH": property(_matrix_adjoint),
    "real": property(_real, _set_part(_real)),
    "imag": property(_imag, _set_part(_imag)),
    "is_nonzero": is_nonzero,
    "is_conj": is_conj,
    "is_neg": is_neg,
    "is_signed": is_signed,
    "share_memory_": share_memory_,
    "is_shared": is_shared,
    "pin_memory": pin_memory,
    "is_pinned": is_pinned,
    "__array_priority__": 1000,
    "is_cuda": False,
    "is_cpu": True,
    "is_sparse": False,
    "is_quantized": False,
    "is_meta": False,
    "layout": "imode.strided",
}
_CONVERTERS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
}


def install_methods():
    """Put the methods of this module on Tensor; called once while the package is imported."""
    for name, function in _METHODS.items():
        install(name, function)
    for name, dtype in _CONVERTERS.items():
        install(name, _converter(dtype))


def is_tensor(obj):
    """Whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input):
    """Whether the dtype of `input` is float16, float32 or float64."""
    return input.is_floating_point()


def is_complex(input):
    """Whether the dtype of `input` is complex64 or complex128."""
    return input.is_complex()


def numel(input):
    """The number of elements of `input`."""
    return input.numel()
