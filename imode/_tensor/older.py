"""Methods that older scripts have: Python functions of each element, shapes by another name.

Also those that PyTorch has removed, which say what has come in their place.
"""

from imode import ops
from imode._core.broadcast import broadcast_shape
from imode._core.type_names import class_name


def _check(name, *tensors):
    if any(tensor.requires_grad for tensor in tensors):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )


def _number(value):
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"must be real number, not {class_name(value)}")
    return value


def _filled(self, name, callable, *others):
    """Write a Python function of the elements of some tensors into the first."""
    _check(name, self, *others)
    for other, argument in zip(others, ("other",) if len(others) == 1 else ("x", "y")):
        if other.dtype != self.dtype:
            raise TypeError(f"{name}: expected {self.type()} for '{argument}' (got {other.type()})")
    shape = broadcast_shape(self.shape, *[other.shape for other in others])
    if tuple(shape) != tuple(self.shape):
        raise RuntimeError(
            f"{name}: the shape {tuple(shape)} of all operands is not that of the tensor, "
            f"{tuple(self.shape)}"
        )
    columns = [tensor.expand(self.shape).reshape(-1).tolist() for tensor in (self, *others)]
    values = [_number(callable(*row)) for row in zip(*columns, strict=True)]
    return self.copy_(ops.tensor(values, dtype=self.dtype).view(self.shape))


def apply_(self, callable):
    """Replace each element by what a Python function of it gives; returns the tensor.

    Slow: for a few elements. Raises RuntimeError for a tensor that requires grad.

    >>> imode.tensor([1.0, 2.0]).apply_(lambda v: v + 1)
    tensor([2., 3.])
    """
    return _filled(self, "apply_", callable)


def map_(self, tensor, callable):
    """Replace each element by what a Python function of it and another tensor's gives.

    The other has the dtype, and broadcasts to the shape. Raises as `apply_`.

    >>> imode.tensor([1.0, 2.0]).map_(imode.tensor([3.0]), lambda a, b: a * b)
    tensor([3., 6.])
    """
    return _filled(self, "map_", callable, tensor)


def map2_(self, x, y, callable):
    """As `map_`, with two more tensors."""
    for name, value, position in (("x", x, 1), ("y", y, 2)):
        if not isinstance(value, type(self)):
            raise TypeError(
                f"map2_(): argument '{name}' (position {position}) must be Tensor, not "
                f"{class_name(value)}"
            )
    return _filled(self, "map2_", callable, x, y)


def dim_order(self, *, ambiguity_check=False):
    """The dimensions from the outermost in memory to the innermost.

    ambiguity_check: raise RuntimeError where strides leave the order open.

    >>> imode.ones(2, 3).t().dim_order()
    (1, 0)
    """
    strides = self.stride()
    order = sorted(range(self.ndim), key=lambda dim: -strides[dim])
    open_order = self.ndim > 1 and (len(set(strides)) < self.ndim or 1 in self.shape)
    if ambiguity_check and open_order:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given "
            "memory formats."
        )
    return tuple(order)


# ---- other names for shapes, and for what is there -----------------------------------------------


def _resized(self, shape):
    count = 1
    for n in shape:
        count *= n
    if count != self.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, shape))} ({count} elements in total), but the "
            f"given tensor has a size of {'x'.join(map(str, self.shape))} ({self.numel()} "
            "elements). autograd's resize can only change the shape of a given tensor, while "
            "preserving the number of elements."
        )
    return self.contiguous().view(shape)


def resize(self, *sizes):
    """A tensor of another shape with the same elements: an older `reshape`.

    >>> imode.arange(4).resize(2, 2).shape
    imode.Size([2, 2])
    """
    shape = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    return _resized(self, tuple(shape))


def resize_as(self, tensor):
    """A tensor of the shape of another one with the same elements."""
    return _resized(self, tuple(tensor.shape))


def module_load(self, other, assign=False):
    """This tensor, detached, with the values of `other`; with `assign`, the other one detached."""
    return other.detach() if assign else self.copy_(other).detach()


# ---- removed -------------------------------------------------------------------------------------


def _removed(name, instead):
    def method(self, *args, **kwargs):
        raise RuntimeError(
            "This function was deprecated since version 1.9 and is now removed. "
            f"Instead of Tensor.{name}, call {instead}."
        )

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Removed: RuntimeError. Call `{instead}`."
    return method


def reinforce(self, reward):
    """Removed: RuntimeError."""
    raise RuntimeError("reinforce() was removed.\nMultiply the loss by the reward instead.")


METHODS = {
    "apply_": apply_,
    "map_": map_,
    "map2_": map2_,
    "dim_order": dim_order,
    "resize": resize,
    "resize_as": resize_as,
    "module_load": module_load,
    "reinforce": reinforce,
    "eig": _removed("eig", "imode.linalg.eig"),
    "lstsq": _removed("lstsq", "imode.linalg.lstsq"),
    "solve": _removed("solve", "imode.linalg.solve"),
    "symeig": _removed("symeig", "imode.linalg.eigh"),
    "name": None,
    "volatile": False,
    "is_ipu": False,
    "is_mps": False,
    "is_mtia": False,
    "is_xpu": False,
}
