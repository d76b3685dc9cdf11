"""`Tensor.normal()`: an inference tensor becomes normal, without a copy if that is safe.

# Note [Why normal() is sound]
Two invariants make inference mode safe: an inference tensor shares no memory with a tensor that is
saved for backward, and its values do not change outside of the mode. Turning a tensor object into a
normal one preserves both if no *other* tensor, array or buffer uses its memory: then there is no
inference tensor left that shares it and could see a write, or make a write that is not counted.

This holds exactly if the tensor's ndarray owns its memory and only the tensor refers to the
ndarray. Everything else that uses the memory refers to the ndarray: directly, as the base of its
own array, or through the Lent that is the base of all arrays handed out (see lending.pyx):

- other tensors: views, `detach()`, `.data`, storages, tensors that `set_` or `.data =` made share
  it;
- arrays: those from `numpy()`, and arrays over them. (An array from which the tensor was created
  owns the memory itself, so the tensor's array does not.)
- buffers: memoryviews, and DLPack's capsules and consumers, until they are released.

A dead object cannot reach the memory, except through a weak reference to the ndarray, which
therefore counts as a reference. A header from the free lists brings no sharing: it has no
references, weak references or base when it gets there, and a recycled block has only one array.
While the GIL is held nothing of this can change between the check and the change. If something
else does refer to the ndarray, or the ndarray does not own its memory, the tensor is copied: there
may be a copy too many, never one too few.

Two things are left to the caller. An address, from `data_ptr()` or `__array_interface__`, keeps
nothing alive and is not noticed. And a write that another thread began in inference mode, and is
still doing without the GIL, is not counted when it ends after the tensor has become normal; but
threads that share a tensor to which one of them writes must synchronise anyway.
"""

from imode._core.allocator cimport fields
from imode._core.keyset cimport BIT_AD
from imode._core.tensor cimport Tensor, is_inference, owns_memory, set_leaf

from imode.guards import normal_mode


def normal(Tensor self not None):
    """Return the values as a normal tensor, in any mode; the tensor itself if that is safe.

    An inference tensor whose memory nothing else uses becomes normal itself, without a copy. If it
    has views, or an array or buffer uses its memory, it is cloned and does not change. A normal
    tensor is returned unchanged. `requires_grad` is kept.

    >>> import imode
    >>> with imode.inference_mode():
    ...     x = imode.ones(2) * 3
    >>> y = x.normal()
    >>> y is x, y.is_inference(), y._version
    (True, False, 0)
    """
    if not is_inference(self):
        return self
    if owns_memory(self) and fields(self.array).weakreflist == NULL:
        self.keys |= BIT_AD
        set_leaf(self, self.leaf_requires_grad)
        self.guard_id = self.maker = 0
        return self
    with normal_mode():
        copy = self.clone()
    return copy.requires_grad_() if self.leaf_requires_grad else copy
