"""Mixed precision: blocks in which products are computed in bfloat16 or float16, losses that are
scaled."""

from imode.amp import autocast_mode, grad_scaler
from imode.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from imode.amp.grad_scaler import GradScaler
from imode.errors import names_of as _names_of

__all__ = [
    "GradScaler",
    "autocast",
    "autocast_mode",
    "custom_bwd",
    "custom_fwd",
    "grad_scaler",
    "is_autocast_available",
]

__getattr__ = _names_of(__name__)
