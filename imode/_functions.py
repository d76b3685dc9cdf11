"""Functions of `torch` that are no operators of their own: over what is there.

Some have namesakes in `nn.functional` that take other arguments.
"""

import importlib

import numpy as np

import imode
from imode import errors, ops
from imode._core.dtype import as_numpy
from imode._core.storage import UntypedStorage
from imode._core.tensor import Tensor
from imode._core.type_names import class_name
from imode._core.user_frames import warn
from imode.autograd.anomaly import _switch
from imode.autograd.views import write_as
from imode.nn import functional as F
from imode.ops.creation.ranges import check_bounds
from imode.ops.networks.layers import renorm_rows
from imode.random import thread_safe_generator

__all__ = [
    "adaptive_max_pool1d",
    "binary_cross_entropy_with_logits",
    "cond",
    "embedding_renorm_",
    "frobenius_norm",
    "from_file",
    "get_device",
    "get_device_module",
    "init_num_threads",
    "is_storage",
    "kl_div",
    "native_norm",
    "norm_except_dim",
    "nuclear_norm",
    "range",
    "set_anomaly_enabled",
    "set_default_tensor_type",
    "thread_safe_generator",
    "typename",
]

# ---- layers -------------------------------------------------------------------------------------


def adaptive_max_pool1d(input, output_size):
    """Return the largest elements of windows that cover (n, channels, length), and their places.

    >>> imode.adaptive_max_pool1d(imode.arange(4.0).view(1, 4), 2)[1].tolist()
    [[1, 3]]
    """
    return F.adaptive_max_pool1d(input, output_size, return_indices=True)


def _reduction(name, position, reduction):
    """The word for a reduction that is given as a number."""
    if type(reduction) is not int:
        raise TypeError(
            f"{name}(): argument 'reduction' (position {position}) must be int, not "
            f"{class_name(reduction)}"
        )
    return {1: "mean", 2: "sum"}.get(reduction, "none")


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    """As `nn.functional`'s; `reduction` is a number: 1 for the mean, 2 for the sum, else none.

    >>> imode.binary_cross_entropy_with_logits(imode.zeros(2), imode.ones(2)).shape
    imode.Size([2])
    """
    how = _reduction("binary_cross_entropy_with_logits", 5, reduction)
    return F.binary_cross_entropy_with_logits(
        input, target, weight, reduction=how, pos_weight=pos_weight
    )


def kl_div(input, target, reduction=0, *, log_target=False):
    """As `nn.functional`'s; `reduction` is a number: 1 for the mean, 2 for the sum, else none.

    >>> imode.kl_div(imode.zeros(1, 2), imode.ones(1, 2), 2).item()
    0.0
    """
    how = _reduction("kl_div", 3, reduction)
    losses = F.kl_div(input, target, reduction="none", log_target=log_target)
    return losses if how == "none" else getattr(losses, how)()


def embedding_renorm_(input, indices, max_norm, norm_type):
    """Scale the rows of `input` at `indices` down to `max_norm`, in place; return it.

    >>> imode.embedding_renorm_(imode.tensor([[3.0, 4.0]]), imode.tensor([0]), 1.0, 1.0).sum()
    tensor(1.)
    """
    write_as("embedding_renorm_", renorm_rows, input, indices, max_norm, norm_type)
    return input


# ---- norms --------------------------------------------------------------------------------------


def _warn_of(name, instead):
    warn(
        f"at::{name} is deprecated and it is just left for JIT compatibility. It will be removed "
        f"in a future PyTorch release. Please use `{instead}` instead",
    )


def frobenius_norm(input, dim, keepdim=False, *, out=None):
    """Return the root of the sum of squares over one dimension or two. Deprecated."""
    _warn_of("frobenius_norm", "linalg.vector_norm(A, 2., dim, keepdim)")
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) > 2:
        raise RuntimeError(
            f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead."
        )
    if not (input.is_floating_point() or input.is_complex()):
        raise errors.dtypes.norm_of(input.dtype.numpy)
    return ops.norm(input, 2, dims, keepdim, out=out)


def nuclear_norm(input, dim=None, keepdim=False, *, out=None):
    """Return the sum of the singular values over two dimensions. Deprecated."""
    _warn_of("nuclear_norm", "linalg.matrix_norm(A, 'nuc', dim, keepdim)")
    if isinstance(dim, bool):
        dim, keepdim = None, dim
    dims = (-2, -1) if dim is None else dim
    return imode.linalg.matrix_norm(input, "nuc", dims, keepdim, out=out)


def norm_except_dim(v, pow=2, dim=0):
    """Return the norms over all dimensions but `dim`, over all where that is -1.

    >>> imode.norm_except_dim(imode.tensor([[3.0, 4.0]])).tolist()
    [[5.0]]
    """
    if dim == -1:
        return v.norm(pow)
    if dim == 0:
        return v.contiguous().view(v.size(0), -1).norm(pow, 1).view(-1, *[1] * (v.dim() - 1))
    if dim == v.dim() - 1:
        last = v.size(-1)
        norms = v.contiguous().view(-1, last).norm(pow, 0)
        return norms.view(*[1] * (v.dim() - 1), last)
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


def native_norm(input, p=2, dim=None, keepdim=False, dtype=None):
    """Return the norm of a sparse tensor; of others PyTorch has none on the CPU, either."""
    if not input.is_sparse:
        raise NotImplementedError(
            "Could not run 'aten::native_norm' with arguments from the 'CPU' backend. It takes "
            "sparse tensors: norm() takes others."
        )
    if dim is not None and len(dim) not in (0, input.dim()):
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or "
            "contain all dimensions of the input"
        )
    return input.coalesce().values().norm(p)


# ---- numbers ------------------------------------------------------------------------------------


def range(
    start, end, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False
):
    """Return the numbers from `start` up to and with `end`. Deprecated: `arange` is without it.

    Of the default dtype unless one is given. Raises RuntimeError if `step` leads away from `end`.
    """
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
    )
    low, high, by = (float(n) for n in (start, end, step))
    check_bounds(low, high, by)
    if out is not None:
        dtype = out.dtype
    kind = as_numpy(imode.get_default_dtype() if dtype is None else dtype)
    if kind.kind in "iu":
        start, step = int(start), int(step)
    values = np.arange(int((high - low) / by) + 1) * step + start
    made = ops.tensor(values, dtype=dtype or imode.get_default_dtype(), device=device)
    if out is not None:
        return out.resize_(made.shape).copy_(made)
    return made.requires_grad_(requires_grad) if requires_grad else made


# ---- what a thing is ----------------------------------------------------------------------------


def typename(obj, /):
    """Return the name of a tensor's type, or of what an object is or is an instance of.

    >>> imode.typename([1])
    'list'
    """
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    module = getattr(named, "__module__", "") or ""
    name = getattr(named, "__qualname__", None) or named.__name__
    return name if module in ("", "builtins") else f"{module}.{name}"


def is_storage(obj, /):
    """Whether an object is the memory of a tensor.

    >>> imode.is_storage(imode.ones(2).untyped_storage())
    True
    """
    return isinstance(obj, (UntypedStorage, imode.storage.TypedStorage))


def cond(pred, true_fn, false_fn, operands=()):
    """Call one of two functions with the operands: the first where a number or tensor is true.

    Raises RuntimeError for a tensor of several elements. A number warns, as it decides before a
    program is captured, which nothing here does.

    >>> imode.cond(imode.tensor(False), lambda x: x + 1, lambda x: x - 1, (imode.ones(2),))
    tensor([0., 0.])
    """
    if isinstance(pred, (bool, int, float)):
        warn(
            "Pred is a Python constant. When used with torch.cond, it specializes on one of the "
            "branches. If you want torch.cond to preserve two branches, please make the predicate "
            "a boolean tensor or a SymBool.",
            UserWarning,
        )
    elif not isinstance(pred, Tensor) or pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    return (true_fn if pred else false_fn)(*operands)


def from_file(
    filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=None,
    requires_grad=False,
):  # fmt: skip
    """Return a vector over the bytes of a file, which are read when they are used.

    size: the number of elements. shared: whether writes go to the file, too, which is then made
    longer where it is too short. Raises RuntimeError for a file that is shorter otherwise, or that
    cannot be opened.

    >>> imode.save(imode.ones(2), "x.pt")
    >>> imode.from_file("x.pt", size=4, dtype=imode.uint8)
    tensor([80, 75,  3,  4], dtype=imode.uint8)
    """
    if not isinstance(filename, (str, bytes)):
        raise TypeError(
            f"from_file(): argument 'filename' (position 1) must be str, not {class_name(filename)}"
        )
    if pin_memory:
        raise RuntimeError("tensors constructed from a file cannot be pinned")
    kind = dtype or imode.get_default_dtype()
    where = imode.device("cpu" if device is None else device)
    if where.type != "cpu" or layout not in (None, imode.strided):
        raise NotImplementedError(
            f"from_file: a file is mapped to a strided tensor of the CPU, not to {layout or where}"
        )
    bytes_of = UntypedStorage.from_file(filename, bool(shared), (size or 0) * kind.itemsize)
    return bytes_of.elements(kind).detach().requires_grad_(requires_grad)


def get_device(input):
    """Return the number of the tensor's device: -1, that of the CPU."""
    return input.get_device()


def get_device_module(device=None):
    """Return the module of a kind of device: `imode.cpu` unless one is given.

    >>> imode.get_device_module("cpu").__name__
    'imode.cpu'
    """
    if isinstance(device, imode.device):
        kind = device.type
    elif isinstance(device, str):
        kind = imode.device(device).type
    elif device is None:
        kind = "cpu"
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    module = getattr(imode, kind, None)
    if module is None:
        raise RuntimeError(
            f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'."
        )
    return module


# ---- switches -----------------------------------------------------------------------------------


def init_num_threads():
    """Do nothing: the pool of threads is made when it is first used."""


def set_anomaly_enabled(enabled, check_nan=True):
    """Turn anomaly mode on or off; `autograd.set_detect_anomaly` is a block, too."""
    _switch(enabled, check_nan)


def set_default_tensor_type(t, /):
    """Make the dtype of `t`, a type or its name, the default one. Deprecated.

    Raises TypeError where that is none of floating point numbers, or of a device that is not there.
    """
    warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
    )
    if isinstance(t, str):
        library, _, rest = t.partition(".")
        if rest.startswith("cuda."):
            raise TypeError(f"type {t} not available. Tensors live on the CPU here.")
        module = imode if library in ("torch", "imode") else importlib.import_module(library)
        t = getattr(module, rest)
    dtype = getattr(t, "dtype", None)
    if dtype is None:
        raise TypeError(
            "invalid type object: only floating-point types are supported as the default type"
        )
    imode.set_default_dtype(dtype)
