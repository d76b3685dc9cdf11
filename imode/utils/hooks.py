"""The handle that registering a hook returns, and hooks that need not be saved to files."""

from imode._tensor.copying import warn_if_has_hooks
from imode.autograd.handles import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(hook):
    """Mark a hook on a tensor so that copying or saving the tensor does not warn; returns it.

    >>> import copy, imode
    >>> x = imode.ones(2, requires_grad=True)
    >>> handle = x.register_hook(imode.utils.hooks.unserializable_hook(lambda grad: None))
    >>> y = copy.copy(x)  # does not warn
    """
    hook.__torch_unserializable__ = True
    return hook
