"""`autocast` and the switches behind it, which belong to the thread."""

import functools
import threading

import imode
from imode._core.user_frames import warn
from imode.errors import names_of as _names_of

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_IN_BFLOAT16 = ("cpu", "hpu", "maia", "privateuseone")  # the dtype where none is given
_DEVICES = (*_IN_BFLOAT16, "cuda", "xpu", "mps", "mtia", "ipu", "xla")


class _State(threading.local):
    """What is on in a thread, for each kind of device."""

    def __init__(self):
        self.enabled = {}
        self.dtypes = {
            kind: imode.bfloat16 if kind in (*_IN_BFLOAT16, "xla") else imode.float16
            for kind in _DEVICES
        }
        self.cache = True
        self.nesting = 0
        self.mode = None  # the function mode that casts, while it is entered


_state = _State()


def is_autocast_available(device_type):
    """Whether there is an autocast for a kind of device. RuntimeError for what is no such kind.

    >>> imode.amp.is_autocast_available("cpu")
    True
    """
    return imode.device(device_type).type in _DEVICES


def is_autocast_enabled(device_type=None):
    """Whether this thread is in a block of `autocast` for the device; by default, for CUDA's.

    >>> with imode.autocast("cpu"):
    ...     imode.is_autocast_enabled("cpu")
    True
    """
    kind = device_type or "cuda"
    if not is_autocast_available(kind):
        raise RuntimeError(
            "unknown device type for autocast in get_autocast_dispatch_key_from_device_type"
        )
    return _state.enabled.get(kind, False)


def get_autocast_dtype(device_type):
    """Return the dtype of products under autocast: bfloat16 on the CPU.

    >>> imode.get_autocast_dtype("cpu")
    imode.bfloat16
    """
    if not is_autocast_available(device_type):
        raise RuntimeError("unsupported scalarType")
    return _state.dtypes[device_type]


def set_autocast_enabled(device_type, enabled):
    """Turn autocast on or off for this thread, without a block. TypeError unless it is a bool."""
    if not isinstance(enabled, bool):
        raise TypeError(
            "set_autocast_enabled(): argument 'enabled' (position 2) must be bool, not "
            f"{type(enabled).__name__}"
        )
    is_autocast_enabled(device_type)
    _state.enabled[device_type] = enabled
    if device_type == "cpu" and enabled and _state.mode is None:
        from imode.amp.policy import Policy

        _state.mode = Policy(_state)
        _state.mode.__enter__()
    elif device_type == "cpu" and not enabled and _state.mode and not _state.nesting:
        mode, _state.mode = _state.mode, None
        mode.__exit__(None, None, None)


def set_autocast_dtype(device_type, dtype):
    """Set the dtype of products under autocast, for this thread. TypeError unless it is a dtype."""
    if not isinstance(dtype, imode.dtype):
        raise TypeError(
            "set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not "
            f"{type(dtype).__name__}"
        )
    get_autocast_dtype(device_type)
    _state.dtypes[device_type] = dtype


def is_autocast_cache_enabled():
    """Return what `set_autocast_cache_enabled` was told: True at first."""
    return _state.cache


def set_autocast_cache_enabled(enabled):
    """Keep a bool: each use of a weight casts it anew here."""
    _state.cache = bool(enabled)


def clear_autocast_cache():
    """Do nothing: nothing that was cast is kept."""


def _check_type(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


class autocast:
    """A block, or a function, in which products are computed in `dtype` (by default bfloat16).

    Layers that multiply matrices, convolve or attend take and give that dtype; losses, transforms
    and decompositions float32; `cat` and `stack` the widest that they get. float64 stays. Only
    device_type="cpu" does so: for "cuda" it warns and does nothing. The block belongs to its
    thread. Raises ValueError or RuntimeError where `device_type` is no kind of device.

    >>> x = imode.ones(2, 2)
    >>> with imode.autocast("cpu"):
    ...     (x @ x).dtype
    imode.bfloat16
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        _check_type(device_type)
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        self.device = device_type
        self._cache_enabled = (
            is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )
        if enabled and device_type == "cuda":
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
            enabled = False
        elif enabled and self.fast_dtype not in (imode.bfloat16, imode.float16):
            name = device_type.upper()
            warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of imode.bfloat16, imode.float16 currently.",
            )
            enabled = False
        self._enabled = enabled
        self._before = []

    def __enter__(self):
        kind = self.device
        outermost = _state.mode is None  # the block that enters the function mode leaves it
        before = is_autocast_enabled(kind), get_autocast_dtype(kind), _state.cache, outermost
        self._before.append(before)
        set_autocast_enabled(kind, bool(self._enabled))
        set_autocast_dtype(kind, self.fast_dtype)
        _state.nesting += 1
        _state.cache = self._cache_enabled
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        enabled, dtype, _state.cache, outermost = self._before.pop()
        _state.nesting -= 1
        set_autocast_dtype(self.device, dtype)
        _state.enabled[self.device] = enabled
        if outermost and _state.mode is not None:
            mode, _state.mode = _state.mode, None
            mode.__exit__(None, None, None)
        return False

    def __call__(self, func):
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you "
                "mean to use autocast as a context manager?"
            )

        @functools.wraps(func)
        def decorated(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return decorated


def _cast(value, kind, dtype):
    """A value, or a container of values, with its tensors of floats in a dtype."""
    from imode.amp.policy import eligible

    if eligible(value, kind):
        return value.to(dtype)
    if isinstance(value, dict):
        return {key: _cast(item, kind, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, kind, dtype) for item in value)
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """A decorator for the `forward` of an `autograd.Function`: with `cast_inputs`, its tensors of
    floats get that dtype in blocks of autocast, and it runs without."""
    _check_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx, *args, **kwargs):
        on = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if cast_inputs is None or not on:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            args = _cast(args, device_type, cast_inputs)
            return fwd(ctx, *args, **_cast(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd=None, *, device_type):
    """A decorator for the `backward`: it runs with autocast as `forward` did."""
    _check_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx, *args, **kwargs):
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return decorated


__getattr__ = _names_of(__name__)
