"""Operators from outside under autocast: their arguments are cast, and autocast is off inside."""

from imode import Tensor, amp
from imode.amp.policy import eligible


def device_under_autocast(dtypes):
    """Return the first kind of device among those registered for which autocast is on, or None."""
    return next((kind for kind in dtypes if amp.autocast_mode.is_autocast_enabled(kind)), None)


def call_cast(op, kind, dtype, args, kwargs):
    """Call an operator with the floats of a kind of device cast, and without autocast there."""

    def cast(value):
        if isinstance(value, Tensor):
            return value.to(dtype) if eligible(value, kind) else value
        if isinstance(value, (list, tuple)):
            return type(value)(map(cast, value))
        if isinstance(value, dict):
            return {cast(key): cast(item) for key, item in value.items()}
        return value

    with amp.autocast_mode.autocast(kind, enabled=False):
        return op(*cast(args), **cast(kwargs))
