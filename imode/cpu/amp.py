"""Mixed precision by its older names, which leave out the device: see `imode.amp`."""

import functools as _functools

from imode import amp as _amp
from imode.errors import names_of as _names_of

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

custom_fwd = _functools.partial(_amp.custom_fwd, device_type="cpu")
custom_bwd = _functools.partial(_amp.custom_bwd, device_type="cpu")


class autocast(_amp.autocast):
    """`imode.autocast("cpu")`."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(_amp.GradScaler):
    """`imode.amp.GradScaler("cpu")`."""

    def __init__(self, *args, **kwargs):
        super().__init__("cpu", *args, **kwargs)


__getattr__ = _names_of(__name__)
