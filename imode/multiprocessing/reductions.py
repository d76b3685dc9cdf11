"""How tensors and storages are sent to other processes: their memory is shared, not copied.

What is sent is first moved to shared memory, with all tensors over it. The message holds its file
descriptor and where in it the tensor lies. In one process all tensors over one shared memory share
one storage, however often it was sent. The sender must live until the receiver has the message.
"""

import os
from multiprocessing import (
    reduction,
    resource_sharer,  # noqa: F401  (imported here, lest a thread does so while another one forks)
)
from multiprocessing.reduction import ForkingPickler
from weakref import WeakValueDictionary

from imode import normal_mode, ops, uint8
from imode._core.dtype import as_numpy
from imode._core.internals import array_of, is_parameter, make_parameter
from imode._core.shared import SharedMemory, share, tensor_on
from imode._core.storage import UntypedStorage, offset_in, root_of
from imode._core.tensor import Tensor
from imode._tensor import copying

_known = WeakValueDictionary()  # (inode, device) of the file behind it -> SharedMemory


def _identity(fd):
    status = os.fstat(fd)
    return status.st_ino, status.st_dev


def reduce_memory(memory):
    """Return how to send a SharedMemory: its descriptor is duplicated for the receiver."""
    _known.setdefault(_identity(memory.fd), memory)  # it may come back
    return rebuild_memory, (reduction.DupFd(memory.fd), memory.nbytes)


def rebuild_memory(descriptor, nbytes):
    """Return the SharedMemory of a descriptor: the one that there is, or a new one."""
    fd = descriptor.detach()
    key = _identity(fd)
    memory = _known.get(key)
    if memory is not None:
        os.close(fd)
        return memory
    memory = _known[key] = SharedMemory(nbytes, fd)
    return memory


def reduce_tensor(tensor):
    """Return how to send a tensor. RuntimeError for one with a history of operators."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries.  Send its detach() if only the data "
            "are meant."
        )
    copying.warn_if_has_hooks(tensor)
    if tensor.is_sparse:
        coalesced = tensor.is_coalesced()
        parts = tensor._indices(), tensor._values()
        return rebuild_sparse, (*parts, tuple(tensor.shape), coalesced, tensor.requires_grad)
    if not tensor.is_cpu or not root_of(array_of(tensor)).size:
        return copying.reduce_tensor(tensor)
    memory, array = share(tensor), array_of(tensor)
    layout = tensor.dtype, array.shape, array.strides, offset_in(root_of(array), array)
    return rebuild_tensor, (memory, layout, tensor.requires_grad, is_parameter(tensor))


def rebuild_tensor(memory, layout, requires_grad, parameter):
    """Make a leaf tensor over a part of shared memory: dtype, shape, strides, offset in bytes."""
    dtype, *place = layout
    if parameter:
        with normal_mode():
            return make_parameter(_on(memory, dtype, *place), requires_grad)
    tensor = _on(memory, dtype, *place)
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def _on(memory, dtype, *place):
    tensor = tensor_on(memory, as_numpy(dtype), *place)
    if not tensor.is_inference():
        tensor.set_(tensor)  # counts as a write, as PyTorch's setting of the storage does
    return tensor


def rebuild_sparse(indices, values, shape, coalesced, requires_grad):
    """Make a sparse leaf tensor of its parts, which are in shared memory."""
    made = ops.sparse_coo_tensor(indices, values, shape, is_coalesced=coalesced or None)
    return made.requires_grad_(requires_grad)


def reduce_storage(storage):
    """Return how to send an UntypedStorage."""
    if storage.device.type != "cpu":
        kind = storage.device.type
        raise RuntimeError(f"Cannot pickle {kind} storage; try pickling a {kind} tensor instead")
    return rebuild_storage, (storage.elements(uint8),)


def rebuild_storage(tensor):
    """Make the storage of a tensor over all of its bytes."""
    return UntypedStorage(tensor)


def init_reductions():
    """Have processes send tensors and storages so, through any of Python's queues and pipes."""
    ForkingPickler.register(SharedMemory, reduce_memory)
    ForkingPickler.register(Tensor, reduce_tensor)
    ForkingPickler.register(UntypedStorage, reduce_storage)


init_reductions()
