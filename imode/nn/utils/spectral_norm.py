"""Weights of largest singular value 1, by hooks: before `parametrizations`."""

from imode import no_grad, ops
from imode.nn import functional as F
from imode.nn.parameter import Parameter

from ._pre_hooks import drop_pre_hook
from .parametrizations import as_matrix, check_iterations, slices_dim
from .weight_norm import found

__all__ = ["remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook that divides a weight by its largest singular value."""

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        check_iterations(n_power_iterations)
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    def compute_weight(self, module, do_power_iteration):
        """The weight; with `do_power_iteration`, after steps that improve the module's vectors."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(ops.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(ops.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # the next call writes to them
        return weight / ops.dot(u, ops.mv(matrix, v))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))

    def note_version(self, module, state_dict, prefix, local_metadata):
        """A hook of state_dict: the version that PyTorch looks for."""
        local_metadata.setdefault("spectral_norm", {})[f"{self.name}.version"] = self._version


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a weight by its largest singular value before each call; returns the module.

    The weight is kept as `name_orig`, the vectors of the power method as `name_u` and `name_v`.
    Prefer `parametrizations.spectral_norm`. Raises RuntimeError where that has been done.

    >>> list(imode.nn.utils.spectral_norm(imode.nn.Linear(2, 2)).state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if found(module, SpectralNorm, name):
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, slices_dim(module, dim), eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    with no_grad():
        sizes = as_matrix(weight, hook.dim).shape
        vectors = [F.normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in sizes]
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    for part, vector in zip("uv", vectors, strict=True):
        module.register_buffer(f"{name}_{part}", vector)
    module.register_forward_pre_hook(hook)
    module.register_state_dict_post_hook(hook.note_version)
    return module


def remove_spectral_norm(module, name="weight"):
    """Make the weight a parameter again, divided; returns the module.

    Raises ValueError where it was not replaced.

    >>> utils = imode.nn.utils
    >>> layer = utils.remove_spectral_norm(utils.spectral_norm(imode.nn.Linear(2, 2)))
    >>> list(dict(layer.named_parameters()))
    ['bias', 'weight']
    """
    known = found(module, SpectralNorm, name)
    if known is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    key, hook = known
    with no_grad():
        weight = hook.compute_weight(module, False)
    for gone in (name, f"{name}_u", f"{name}_v", f"{name}_orig"):
        delattr(module, gone)
    module.register_parameter(name, Parameter(weight.detach()))
    drop_pre_hook(module, key)
    table = module._hooks.state_post
    for key, (other,) in list(table.items()):
        if getattr(other, "__self__", None) is hook:
            del table[key]
    return module
