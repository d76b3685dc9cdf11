"""Norms of weights by hooks before `forward`, as scripts before `parametrizations` have them."""

from imode._core.user_frames import warn
from imode.nn.parameter import Parameter

from ._pre_hooks import drop_pre_hook, pre_hooks
from .parametrizations import norms, with_norms

__all__ = ["remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook that computes a weight from its norms and directions."""

    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        """The weight, of the module's two parameters."""
        g, v = (getattr(module, f"{self.name}_{part}") for part in "gv")
        return with_norms(v, g, self.dim)

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def found(module, kind, name):
    """(key, hook) of the hook of a kind for a tensor's name, or None."""
    for key, hook in pre_hooks(module).items():
        if isinstance(hook, kind) and hook.name == name:
            return key, hook
    return None


def weight_norm(module, name="weight", dim=0):
    """Replace a weight by its norms and its direction, `name_g` and `name_v`; returns the module.

    It is computed before each call. Prefer `parametrizations.weight_norm`. Raises RuntimeError
    where that has been done.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     layer = imode.nn.utils.weight_norm(imode.nn.Linear(2, 2))
    >>> list(layer.state_dict())
    ['bias', 'weight_g', 'weight_v']
    """
    warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    if found(module, WeightNorm, name):
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    delattr(module, name)
    module.register_parameter(f"{name}_g", Parameter(norms(weight.detach(), hook.dim)))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    hook(module, None)
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module, name="weight"):
    """Make the weight a parameter again; returns the module.

    Raises ValueError where it was not replaced.

    >>> utils, layer = imode.nn.utils, imode.nn.Linear(2, 2)
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     layer = utils.remove_weight_norm(utils.weight_norm(layer))
    >>> list(layer.state_dict())
    ['bias', 'weight']
    """
    known = found(module, WeightNorm, name)
    if known is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    key, hook = known
    weight = hook.compute_weight(module)
    for gone in (name, f"{name}_g", f"{name}_v"):
        delattr(module, gone)
    setattr(module, name, Parameter(weight.detach()))
    drop_pre_hook(module, key)
    return module
