"""Programs as data, which are not here: what packages name without using it.

A module is computed as it is written; nothing is traced, so there is no graph to read or change.
`wrap` changes nothing, `symbolic_trace` and `GraphModule` raise when they are called.
"""

from imode.errors import names_of as _names_of
from imode.nn import Module as _Module

__all__ = ["GraphModule", "symbolic_trace", "wrap"]


def _refuse(name):
    raise NotImplementedError(
        f"imode.fx.{name}: imode does not trace programs, so a module has no graph. Call the "
        "module itself, or use PyTorch for what rewrites graphs"
    )


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


def symbolic_trace(root, concrete_args=None):
    """Raise NotImplementedError: nothing is traced.

    >>> imode.fx.symbolic_trace(imode.nn.ReLU())
    Traceback (most recent call last):
    NotImplementedError: imode.fx.symbolic_trace: imode does not trace programs, so a module ...
    """
    _refuse("symbolic_trace")


class GraphModule(_Module):
    """The class of traced modules, for `isinstance` and to derive from: there are none.

    Making one raises NotImplementedError.

    >>> isinstance(imode.nn.ReLU(), imode.fx.GraphModule)
    False
    """

    def __init__(self, root, graph, class_name="GraphModule"):
        _refuse("GraphModule")


__getattr__ = _names_of(__name__)
