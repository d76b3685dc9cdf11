"""DataParallel, for scripts that use it; they run on the only device."""

from .module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Calls `module`, as PyTorch's DataParallel does without further devices.

    Its state dict has the prefix `module.`. `device_ids`, `output_device` and `dim` have no effect.

    >>> net = imode.nn.DataParallel(imode.nn.Linear(2, 3))
    >>> net(imode.ones(4, 2)).shape
    imode.Size([4, 3])
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = []

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)
