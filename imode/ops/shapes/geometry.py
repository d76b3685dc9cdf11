"""What a tensor says of itself, as operators: its sizes, its strides, its only element.

PyTorch's names of these are of programs in which sizes are unknown; here all are known.
"""

from imode import errors
from imode.ops.schema import composite


@composite("_local_scalar_dense(Tensor self) -> Scalar", variants="")
def _local_scalar_dense(self):
    """Return the first element as a number; `tensor.item()` for a tensor that has but one."""
    if not self.numel():
        raise RuntimeError("_local_scalar_dense: Empty tensor not supported")
    return self.flatten()[0].item()


@composite("sym_size.int(Tensor self, int dim) -> int", variants="")
def _size(self, dim):
    """Return the length of dimension `dim`; without it, of all.

    >>> imode.ops.sym_size(imode.ones(2, 3), 1)
    3
    """
    return self.size(_of_dimensions(self, dim))


@composite("sym_size(Tensor self) -> any", variants="")
def _sizes(self):
    """Return the lengths of all dimensions."""
    return list(self.size())


@composite("sym_stride.int(Tensor self, int dim) -> int", variants="")
def _stride(self, dim):
    """Return the stride of dimension `dim`; without it, of all.

    >>> imode.ops.sym_stride(imode.ones(2, 3), 0)
    3
    """
    return self.stride(_of_dimensions(self, dim))


def _of_dimensions(self, dim):
    if self.dim() == 0:
        raise errors.shapes.no_dimensions(dim)
    return dim


@composite("sym_stride(Tensor self) -> any", variants="")
def _strides(self):
    """Return the strides of all dimensions."""
    return list(self.stride())


@composite("sym_numel(Tensor self) -> int", variants="")
def _numel(self):
    """Return the number of elements.

    >>> imode.ops.sym_numel(imode.ones(2, 3))
    6
    """
    return self.numel()


@composite("sym_storage_offset(Tensor self) -> int", variants="")
def _storage_offset(self):
    """Return how many elements of its memory lie before its first.

    >>> imode.ops.sym_storage_offset(imode.ones(3)[1:])
    1
    """
    return self.storage_offset()


@composite("sym_is_contiguous(Tensor self, any memory_format=None) -> bool", variants="")
def _is_contiguous(self, memory_format):
    """Return whether the elements lie in rows, or in the order `memory_format`.

    >>> imode.ops.sym_is_contiguous(imode.ones(2, 3).t())
    False
    """
    if memory_format is None:
        return self.is_contiguous()
    return self.is_contiguous(memory_format=memory_format)
