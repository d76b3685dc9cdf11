"""`Tensor.normal()`: an inference tensor made normal, without a copy where that is safe.

# Note [Why normal() is sound]
Two invariants make inference mode safe: an inference tensor shares no memory with a tensor that is
saved for backward, and its values do not change outside of the mode. Turning a tensor object normal
in place keeps both, if no *other* tensor, array or buffer looks at the memory: then there is no
inference tensor left that shares it, so none can see a write or make one unseen.

That is so exactly when the tensor's ndarray owns its memory and the tensor alone knows the ndarray.
Whatever else looks at the memory holds the ndarray, itself, as the base of its own array, or by way
of the Lent that is the base of all that was handed out (see lending.pyx):

- other tensors: views, `detach()`, `.data`, storages, what `set_` and `.data =` made share it;
- arrays: what `numpy()` gave, and arrays over that; those that the tensor was made from own the
  memory, so that its own array does not;
- buffers: memoryviews, and DLPack's capsules and consumers, until they are released.

What is gone has no way back to the memory; a weak reference to the ndarray would be one, and counts
as knowing it. A header from the free lists carries nothing over: it gets there without
references, weak references or base, and a recycled block has one array. While the GIL is held
nothing of this can change between the look and the turn. Where something else does know the
ndarray, or the ndarray does not own its memory, it is copied: too much counts, never too little.

What is left to the caller: an address, as `data_ptr()` and `__array_interface__` give it, keeps
nothing alive and is not seen; and a write that another thread began in inference mode, and is in
the middle of without the GIL, ends uncounted after the tensor has become normal. Two threads that
share a tensor which one of them writes need an order between them anyway.
"""

from imode._core.allocator cimport fields
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD
from imode._core.tensor cimport Tensor, is_inference, owns_memory

from imode.guards import normal_mode


def normal(Tensor self not None):
    """Return the values as a normal tensor, in any mode: the tensor itself where that is safe.

    An inference tensor whose memory nothing else looks at becomes normal itself, without a copy.
    One with views, or with an array or buffer over its memory, is cloned and stays as it is. A
    normal tensor is returned unchanged. `requires_grad` is kept.

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
        self.keys |= BIT_AD | BIT_AUTOGRAD
        self.guard_id = self.maker = 0
        return self
    with normal_mode():
        copy = self.clone()
    return copy.requires_grad_() if self.leaf_requires_grad else copy
