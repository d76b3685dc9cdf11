"""Programs as data, which are not here: the decorator that scripts leave in their modules is."""

from imode.errors import names_of as _names_of

__all__ = ["wrap"]


def wrap(fn_or_name):
    """Return the function, or its name. Raises RuntimeError for what is neither.

    >>> imode.fx.wrap("len")
    'len'
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    return fn_or_name


__getattr__ = _names_of(__name__)
