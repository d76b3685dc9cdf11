"""Switches of the whole process by PyTorch's names. Operators give the same result on each run and
compute float32 in full precision whatever these say."""

import os

from imode._core.user_frames import warn

_state = {
    "deterministic": False,
    "warn_only": False,
    "precision": "highest",
    "interop": None,
    "warn_always": False,
}


def _flag(function, argument, value):
    if not isinstance(value, bool):
        raise TypeError(f"{function}(): argument {argument} must be bool, not "
                        f"{type(value).__name__}")  # fmt: skip


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Keep the wish for operators that give the same result on each run, which all do.

    Raises TypeError where an argument is not a bool.

    >>> imode.use_deterministic_algorithms(True)
    >>> imode.are_deterministic_algorithms_enabled()
    True
    >>> imode.use_deterministic_algorithms(False)
    """
    _flag("_set_deterministic_algorithms", "'mode' (position 1)", mode)
    _flag("_set_deterministic_algorithms", "'warn_only'", warn_only)
    _state.update(deterministic=mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled():
    """Return what `use_deterministic_algorithms` was told: False at first."""
    return _state["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    """Return the `warn_only` that `use_deterministic_algorithms` was told: False at first."""
    return _state["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    """Set the same by one word or number: "default" (0), "warn" (1), "error" (2).

    Raises TypeError or RuntimeError for others.

    >>> imode.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    words = ("default", "warn", "error")
    if isinstance(debug_mode, str):
        if debug_mode not in words:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = words.index(debug_mode)
    if not 0 <= debug_mode <= 2:
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode():
    """Return 0, 1 or 2: see `set_deterministic_debug_mode`."""
    if not _state["deterministic"]:
        return 0
    return 1 if _state["warn_only"] else 2


def set_float32_matmul_precision(precision):
    """Keep "highest", "high" or "medium": products of float32 are computed in float32 in any case.

    Another word warns and changes nothing. Raises RuntimeError for what is not a str.

    >>> imode.set_float32_matmul_precision("high")
    >>> imode.get_float32_matmul_precision()
    'high'
    >>> imode.set_float32_matmul_precision("highest")
    """
    if not isinstance(precision, str):
        raise RuntimeError(
            f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}"
        )
    if precision not in ("highest", "high", "medium"):
        warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
        )
        return
    _state["precision"] = precision


def get_float32_matmul_precision():
    """Return what `set_float32_matmul_precision` was told: "highest" at first."""
    return _state["precision"]


def set_num_interop_threads(number):
    """Keep a number of threads for operators side by side: here they run one after the other.

    It can be set once. Raises RuntimeError then, and unless it is a positive integer.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise RuntimeError(
            f"set_num_interop_threads expects an int, but got {type(number).__name__}"
        )
    if number <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _state["interop"] is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    _state["interop"] = number


def get_num_interop_threads():
    """Return what `set_num_interop_threads` was told: at first the number of cores.

    >>> imode.get_num_interop_threads() >= 1
    True
    """
    return _state["interop"] or os.cpu_count() or 1


def set_flush_denormal(mode):
    """Return whether the floats near zero (denormals) are treated as `mode` says.

    They are kept here: False can be had, True cannot. Raises RuntimeError unless it is a bool.

    >>> imode.set_flush_denormal(True)
    False
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return not mode


def set_warn_always(b):
    """Keep whether warnings that come once should come each time: Python's filters decide here.

    Raises RuntimeError unless it is a bool.

    >>> imode.set_warn_always(False)
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _state["warn_always"] = b


def is_warn_always_enabled():
    """Return what `set_warn_always` was told: False at first."""
    return _state["warn_always"]
