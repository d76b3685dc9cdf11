"""Modules without starting values."""

import inspect

from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls, *args, **kwargs):
    """Make a module whose parameters and buffers are uninitialised: none are drawn.

    The class takes `device=`, as those of `nn` do; the module is made on meta and then moved.
    Raises RuntimeError for another class.

    >>> imode.nn.utils.skip_init(imode.nn.Linear, 2, 3).weight.shape
    imode.Size([3, 2])
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)
