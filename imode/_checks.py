"""`imode._assert` and `imode._check`: conditions that packages check by PyTorch's private names."""

from imode._core.tensor import Tensor


def _assert(condition, message):
    """Raise AssertionError with the message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def _check_with(error_type, cond, message=None):
    """Raise an error of the class unless `cond` is True; `message` is called for the text."""
    if not isinstance(cond, bool):
        found = f"{type(cond)}"
        if isinstance(cond, Tensor):
            found = "a Tensor. For tensor conditions, use torch._check_tensor_all() to assert that "
            found += "all elements are true."
        raise TypeError(f"cond must be a bool, but got {found}")
    if cond:
        return
    if message is None:
        raise error_type("Expected cond to be True, but got False.")
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(str(message()))


def _named(name, error_type):
    def function(cond, message=None):
        _check_with(error_type, cond, message)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raise {error_type.__name__} unless `cond` is True."
    return function


_check = _named("_check", RuntimeError)
_check_index = _named("_check_index", IndexError)
_check_value = _named("_check_value", ValueError)
_check_type = _named("_check_type", TypeError)
_check_not_implemented = _named("_check_not_implemented", NotImplementedError)


def _check_is_size(i, message=None, *, max=None):
    """Raise RuntimeError for a negative number, and for one beyond `max`."""
    _check(i >= 0 and (max is None or i <= max), message)


def _check_tensor_all(cond, message=None):
    """Raise RuntimeError unless all elements of a tensor are True."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    _check(bool(cond.all()), message)
