"""TorchScript's decorators: functions and modules are returned as they are and run as Python."""

from imode._core.user_frames import warn
from imode.errors import names_of as _names_of

__all__ = [
    *("annotate", "export", "freeze", "ignore", "interface", "is_scripting"),
    *("is_tracing", "load", "optimize_for_inference", "save", "script", "script_if_tracing"),
    *("script_method", "trace", "trace_module", "unused"),
]


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """Return the function, class or module.

    >>> imode.jit.script(abs) is abs
    True
    """
    return obj


def trace(func=None, example_inputs=None, *args, **options):
    """Return the function or module: it is not called."""
    return func


def trace_module(mod, inputs, *args, **options):
    """Return the module: it is not called."""
    return mod


def script_if_tracing(fn):
    """Return the function."""
    return fn


def script_method(fn):
    """Return the method."""
    return fn


def export(fn):
    """Return the method."""
    return fn


def unused(fn):
    """Return the function."""
    return fn


def _overload(func):
    """Return the function: in Python, the last of a name is what is called."""
    return func


def _overload_method(func):
    """Return the method."""
    return func


def interface(obj):
    """Return the class."""
    return obj


def ignore(drop=False, **kwargs):
    """Return the function, or a decorator that does.

    Raises RuntimeError for what is neither a function nor a bool.
    """
    if callable(drop):
        return drop
    if not isinstance(drop, bool):
        raise RuntimeError(
            f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}"
        )
    if drop:
        warn(
            "ignore(True) has been deprecated. TorchScript will now drop the function call on "
            "compilation. Use torch.jit.unused now. {}",
            FutureWarning,
        )
    return lambda fn: fn


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """Return the module."""
    return mod


def optimize_for_inference(mod, other_methods=None):
    """Return the module."""
    return mod


def annotate(the_type, the_value):
    """Return the value.

    >>> imode.jit.annotate(int, 3)
    3
    """
    return the_value


def is_scripting():
    """False.

    >>> imode.jit.is_scripting()
    False
    """
    return False


def is_tracing():
    """False."""
    return False


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """Raise RuntimeError: TorchScript's files hold programs, which are not run here."""
    raise RuntimeError(
        f"imode.jit.load: {f!r} would hold a program in TorchScript, which imode does not run.\n"
        "Save the weights in PyTorch with torch.save(model.state_dict(), path), and load them with "
        "model.load_state_dict(imode.load(path))"
    )


def save(m, f, _extra_files=None):
    """Raise RuntimeError: there is no TorchScript to write."""
    raise RuntimeError(
        "imode.jit.save: imode writes no TorchScript.\n"
        "Save the weights with imode.save(model.state_dict(), path)"
    )


__getattr__ = _names_of(__name__)
