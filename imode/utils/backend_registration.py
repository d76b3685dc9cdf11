"""The name of the device that PrivateUse1 is, by PyTorch's function."""

from imode._core import device as devices
from imode._core.internals import install
from imode._core.tensor import Tensor
from imode.backends.backend import Backend

__all__ = ["generate_methods_for_privateuse1_backend", "rename_privateuse1_backend"]

_FIRST = "privateuseone"
_name = _FIRST


class _Host(Backend):
    """A device whose elements lie in NumPy's memory; its kernels are those of libraries."""

    def from_numpy(self, array):
        return array.copy()

    def to_numpy(self, elements):
        return elements


def rename_privateuse1_backend(backend_name):
    """Give the device of the key PrivateUse1 a name, once: `imode.device(backend_name)`.

    Tensors can be made there, copied there and back, and viewed. What computes there are the
    kernels that are registered for PrivateUse1 (`imode.library`); for an operator without one
    NotImplementedError is raised. `imode.backends` has devices with kernels, and several of them.
    Raises RuntimeError if it has another name already, or for a name that is a device's.

    >>> imode.utils.rename_privateuse1_backend("docs_npu")
    >>> imode.zeros(2, device="docs_npu").device
    device(type='docs_npu', index=0)
    """
    global _name
    if _name == backend_name:
        return
    if _name != _FIRST:
        raise RuntimeError(
            "torch.register_privateuse1_backend() has already been set! Current backend: "
            f"{_name}\nimode.backends makes further devices."
        )
    _Host(backend_name, fallback=False)
    devices.remove_device(_FIRST)
    _name = backend_name


def generate_methods_for_privateuse1_backend(
    for_tensor=True,
    for_module=True,
    for_packed_sequence=True,
    for_storage=False,
    unsupported_dtype=None,
):
    """Add `Tensor.is_<name>`, `Tensor.<name>()` and `Module.<name>()`, by PrivateUse1's name.

    The other arguments are PyTorch's and have no effect. Raises RuntimeError if Tensor or Module
    has such an attribute already.
    """
    from imode.nn import Module

    def convert(self, *args, **kwargs):
        """Move to the device of the method's name."""
        return self.to(_name, *args, **kwargs)

    for wanted, cls in ((for_tensor, Tensor), (for_module, Module)):
        if wanted and hasattr(cls, _name):
            raise RuntimeError(
                f"Can not automatically generate {_name}() method for {cls.__name__}: it has one."
            )
    if for_tensor:
        install(f"is_{_name}", property(lambda self: self.device.type == _name))
        install(_name, convert)
    if for_module:
        setattr(Module, _name, lambda self: self.to(_name))
