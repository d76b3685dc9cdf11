"""The handle that registering a hook gives back; hooks and what is written to files."""

import warnings

from imode.autograd.handles import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(hook):
    """Mark a hook on a tensor as one that copies and files can do without; returns it.

    >>> import copy, imode
    >>> x = imode.ones(2, requires_grad=True)
    >>> handle = x.register_hook(imode.utils.hooks.unserializable_hook(lambda grad: None))
    >>> y = copy.copy(x)  # does not warn
    """
    hook.__torch_unserializable__ = True
    return hook


def warn_if_has_hooks(tensor):
    """Warn of each hook on a tensor: a copy or a file of the tensor does not have it."""
    for hook in list((tensor._backward_hooks or {}).values()):
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @imode.utils.hooks.unserializable_hook to "
                "suppress this warning",
                stacklevel=4,
            )
