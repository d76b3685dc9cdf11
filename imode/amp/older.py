"""The switches of autocast by their older names, one for each kind of device."""

from imode._core.user_frames import warn
from imode.amp import autocast_mode

_KINDS = {"cpu": "cpu", "gpu": "cuda", "ipu": "ipu", "xla": "xla"}
_state = autocast_mode._state


def autocast_increment_nesting():
    """Count a block of autocast that is entered; returns how many are."""
    _state.nesting += 1
    return _state.nesting


def autocast_decrement_nesting():
    """Count a block of autocast that is left; returns how many there still are."""
    _state.nesting -= 1
    return _state.nesting


def _older(name, now, kind):
    arguments = [name.rpartition("_")[2]] if name.startswith("set_") else []
    called = f"torch.{now.__name__}({', '.join([repr(kind), *arguments])})"
    text = f"torch.{name}({', '.join(arguments)}) is deprecated. Please use {called} instead."

    def function(*given):
        warn(text, DeprecationWarning)
        return now(kind, *given)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As `{now.__name__}`, for one kind of device. Deprecated."
    return function


for _short, _kind in _KINDS.items():
    for _what in ("enabled", "dtype"):
        for _verb in ("set", "is" if _what == "enabled" else "get"):
            _name = f"{_verb}_autocast_{_short}_{_what}"
            _now = getattr(autocast_mode, f"{_verb}_autocast_{_what}")
            if _name not in ("is_autocast_gpu_enabled", "set_autocast_gpu_enabled"):  # are nowhere
                globals()[_name] = _older(_name, _now, _kind)
