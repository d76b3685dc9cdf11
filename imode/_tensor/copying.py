"""Copies and pickles of tensors, in which views still share their storage."""

import copy
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from imode._core.internals import array_of, is_parameter, make_parameter, wrap_array
from imode._core.lending import Borrowed, source_of
from imode._core.sparse import is_sparse, parts, sparse_tensor
from imode._core.storage import offset_in, root_of
from imode._core.tensor import Tensor
from imode._core.user_frames import warn

_lent = ContextVar("lent", default=False)


@contextmanager
def lent():
    """In this block tensors are unpickled over the memory that the pickle's buffers lend them."""
    before = _lent.set(True)
    try:
        yield
    finally:
        _lent.reset(before)


def rebuild_tensor(array, requires_grad=False, parameter=False, layout=None):
    """Make a leaf tensor on `array`, or on the part of it that `layout` describes.

    layout: (dtype, shape, strides and offset in bytes) within `array`, which is then the storage
    that several tensors share.
    """
    if layout is not None:
        dtype, shape, strides, offset = layout
        flat = array.ravel(order="K").view(np.uint8)
        # An empty tensor may begin beyond the end.
        array = np.ndarray(shape, dtype, flat, min(offset, flat.nbytes), strides)
    if not array.flags.writeable and not _lent.get():
        array = array.copy()
    tensor = wrap_array(array, "deepcopy or load")
    tensor.set_(tensor)  # counts as a write, as PyTorch's setting of the storage does
    if parameter:
        return make_parameter(tensor, requires_grad)
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def unpickle_tensor(array, *rest):
    """`rebuild_tensor` of an array from a pickle; of a copy, if something else shares its memory.

    (Protocol 5 can pass an array's memory without a copy.)
    """
    source = source_of(array)
    elsewhere = source is not array and isinstance(source, np.ndarray) and not _lent.get()
    return rebuild_tensor(array.copy() if elsewhere else array, *rest)


def _elsewhere(tensor):
    """The arguments of `rebuild_elsewhere`; each tensor is copied alone, views too."""
    source = tensor.dtype if tensor.is_meta else tensor.detach().cpu()
    geometry = tuple(tensor.shape), tensor.stride()
    return source, *geometry, tensor.device, tensor.requires_grad, is_parameter(tensor)


def rebuild_elsewhere(source, shape, stride, device, requires_grad, parameter):
    """Make a leaf tensor on a device other than the CPU: from a tensor there, or from a dtype."""
    from imode import ops  # which declares operators

    if isinstance(source, Tensor):
        tensor = source.to(device)
    else:
        tensor = ops.empty_strided(shape, stride, dtype=source, device=device)
    if parameter:
        return make_parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def rebuild_sparse(indices, values, shape, coalesced, requires_grad=False, parameter=False):
    """Make a sparse leaf tensor of arrays; raises RuntimeError where they do not fit."""
    from imode.kernels.sparse.coordinates import checked

    tensor = sparse_tensor(*checked(indices.copy(), values, shape, coalesced))
    if parameter:
        return make_parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def _sparse_arguments(tensor):
    """The arguments of `rebuild_sparse`."""
    found = parts(tensor)
    made = found.indices.copy(), found.values.copy(), tuple(tensor.shape), found.coalesced
    return *made, tensor.requires_grad, is_parameter(tensor)


def attributes_of(tensor):
    """Return what users have set on a tensor: a new dict. What makes it lazy is no such thing."""
    own = vars(tensor)
    return {name: own[name] for name in own if name not in ("_lazy", "materialize")}


def copy_tensor(tensor):
    """Return the result of `copy.copy`: a leaf of the same kind over the same memory."""
    copied = tensor.data
    if is_parameter(tensor):
        copied = make_parameter(copied, tensor.requires_grad)
    else:
        warn_if_has_hooks(tensor)
        if not copied.is_inference() and not is_sparse(copied):
            copied.set_(copied)  # as in `rebuild_tensor`
        copied.requires_grad = tensor.requires_grad
    if vars(tensor):
        vars(copied).update(attributes_of(tensor))
    return copied


def _storage(array):
    """Return (the array that owns `array`'s memory, flat; its layout there) or (array, None)."""
    root = root_of(array)
    dense = root.flags.c_contiguous or root.flags.f_contiguous
    owned = root.base is None or type(root.base) in (Borrowed, memoryview)  # of a mapped file
    # A copy of an empty array would lose its strides.
    if (root is array and array.size) or not (dense and owned):
        return array, None
    return root, (array.dtype, array.shape, array.strides, offset_in(root, array))


def reduce_tensor(tensor):
    """Return the result of `Tensor.__reduce_ex__`; views of one storage will still share it.

    Pickle preserves the identity of objects, so it suffices that each view names the root array.
    """
    if not is_parameter(tensor):
        warn_if_has_hooks(tensor)
    made = _rebuilding(tensor)
    state = attributes_of(tensor)
    return (*made, state) if state else made


def _rebuilding(tensor):
    """The function that makes a tensor without attributes again, and its arguments."""
    if is_sparse(tensor):
        return rebuild_sparse, _sparse_arguments(tensor)
    if not tensor.is_cpu:
        return rebuild_elsewhere, _elsewhere(tensor)
    array, layout = _storage(array_of(tensor))
    return unpickle_tensor, (array, tensor.requires_grad, is_parameter(tensor), layout)


def deepcopy_tensor(tensor, memo):
    """Return `copy.deepcopy(tensor, memo)`, for leaves; tensors of one storage still share one."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  Copy its .detach() instead, or its .clone() to keep the "
            "graph."
        )
    if id(tensor) in memo:
        return memo[id(tensor)]
    parameter = is_parameter(tensor)
    if is_sparse(tensor):
        copied = rebuild_sparse(*_sparse_arguments(tensor))
    elif not tensor.is_cpu:
        copied = rebuild_elsewhere(*_elsewhere(tensor))
    elif parameter:  # a parameter's copy owns its storage and starts without a gradient
        from imode.ops.indexing.inplace_first import copied as copied_array

        copied = make_parameter(wrap_array(copied_array(array_of(tensor))), tensor.requires_grad)
    else:
        array, layout = _storage(array_of(tensor))
        copied = rebuild_tensor(copy.deepcopy(array, memo), tensor.requires_grad, False, layout)
    memo[id(tensor)] = copied
    if not parameter and tensor.grad is not None:
        copied.grad = copy.deepcopy(tensor.grad, memo)
    if not parameter and vars(tensor):
        vars(copied).update(copy.deepcopy(attributes_of(tensor), memo))
    return copied


def warn_if_has_hooks(tensor):
    """Warn of each hook on a tensor: copies and files of the tensor do not include it."""
    for hook in list((tensor._backward_hooks or {}).values()):
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @imode.utils.hooks.unserializable_hook to "
                "suppress this warning",
            )
